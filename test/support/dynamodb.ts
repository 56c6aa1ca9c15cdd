// Servers that speak DynamoDB for test files: dynalite in this process, and DynamoDB Local, which alone has transactions.
import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import dynalite from 'dynalite'
import { afterAll, beforeAll, describe } from 'vitest'
import { LOCAL } from './dynamodb-account.ts'
import { describeWith } from './service.ts'

export interface DynamoServer {
  readonly url: string
  /** A client of it, ended with the file. */
  client(options?: { readonly endpoint?: string; readonly maxAttempts?: number }): DynamoDBClient
  table(): string
}

/** Runs the suite on DynamoDB Local; skipped with a printed reason where there is none, a failure with CI=true. */
export function describeDynamodbLocal(name: string, body: (server: DynamoServer) => void): void {
  describeWith('ONCEKEY_TEST_DYNAMODB')(name, () => {
    const server = serverAt(process.env.ONCEKEY_TEST_DYNAMODB ?? '')
    afterAll(() => server.end())
    body(server)
  })
}

/** Runs the suite on a dynalite in this process. */
export function describeDynalite(name: string, body: (server: DynamoServer) => void): void {
  describe(name, () => {
    const http = dynalite({ createTableMs: 0, deleteTableMs: 0 })
    let server: ReturnType<typeof serverAt>
    beforeAll(async () => {
      await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
      server = serverAt(`http://127.0.0.1:${(http.address() as AddressInfo).port}`)
    })
    afterAll(async () => {
      server.end()
      await new Promise((resolve) => http.close(resolve))
    })
    body({
      get url() {
        return server.url
      },
      client: (options) => server.client(options),
      table,
    })
  })
}

function table(): string {
  return `t_${randomBytes(6).toString('hex')}`
}

function serverAt(url: string) {
  const clients: DynamoDBClient[] = []
  return {
    url,
    table,
    client({ endpoint = url, ...options }: { readonly endpoint?: string; readonly maxAttempts?: number } = {}) {
      const client = new DynamoDBClient({ ...LOCAL, endpoint, ...options })
      clients.push(client)
      return client
    },
    end() {
      for (const client of clients) client.destroy()
    },
  }
}
