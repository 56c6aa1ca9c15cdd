// An Express application with one protected route, on a real socket, and a client for it.

import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import express5, { type Express, type RequestHandler } from 'express'
import { sendOnce, type WireAnswer } from '../../packages/oncekey/src/testing/adapter-contract/wire.ts'
import { listening } from './adapters/listening.ts'

export const EXPRESS = {
  'Express 5': express5,
  'Express 4': createRequire(import.meta.url)('express4') as typeof express5,
} as const

export interface TestApp extends AsyncDisposable {
  readonly port: number
  post(
    path: string,
    what?: { readonly key?: string; readonly body?: string; readonly headers?: [string, string][] },
  ): Promise<WireAnswer>
}

export async function startApp(build: (app: Express) => void, express = express5): Promise<TestApp> {
  const app = express()
  // Without it Express prints what its default error page tells, too.
  app.set('env', 'test')
  build(app)
  const server = await listening(createServer(app as unknown as RequestHandler as never))
  return {
    port: server.port,
    post: (path, { key = 'k1', body = '{}', headers = [] } = {}) =>
      sendOnce(server.port, {
        path,
        body,
        headers: [
          ...(headers.some(([name]) => name === 'content-type') ? [] : [['content-type', 'application/json'] as const]),
          ['idempotency-key', key],
          ...headers,
        ],
      }),
    [Symbol.asyncDispose]: () => server.close(),
  }
}
