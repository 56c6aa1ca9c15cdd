// `npm start`: the payments API on the store, in the mode and on the framework that flags and environment ask for.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { isOncekeyError } from 'oncekey'
import { expressApi } from './api/express.ts'
import { honoApi } from './api/hono.ts'
import { close, startBank } from './bank/bank.ts'
import { type Config, readConfig, Unmeetable } from './config.ts'
import { crashAt } from './crash.ts'
import { withShop } from './shop.ts'

try {
  await serve(readConfig(process.argv.slice(2), process.env))
} catch (error) {
  if (!(error instanceof Unmeetable) && !isOncekeyError(error)) throw error
  console.error(error.message)
  process.exitCode = 2
}

async function serve(config: Config): Promise<void> {
  const bank = config.bankUrl === undefined ? await startBank() : undefined
  const bankUrl = config.bankUrl ?? (bank?.url as string)
  crashAt(process.env.CRASH_AT)
  await withShop(config, async (shop) => {
    const server =
      config.framework === 'express'
        ? createServer(expressApi(shop, bankUrl))
        : (createAdaptorServer({ fetch: honoApi(shop, bankUrl).fetch }) as Server)
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(config.port, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const where = config.store.replace(/\/\/[^@/]*@/, '//')
    console.log(
      `payments on http://127.0.0.1:${port} (${where}, ${config.mode} mode, ${config.framework}, bank ${bankUrl})`,
    )
    await stopAsked()
    await close(server)
    await shop[Symbol.asyncDispose]()
  })
  await bank?.[Symbol.asyncDispose]()
}

function stopAsked(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
}
