// The smallest library that owns BEGIN and COMMIT and lends its transaction to a callback, as Prisma does, over pg.
import type pg from 'pg'
import { type CallbackLibrary, callbackDatabase } from '../../packages/oncekey/src/stores/database/callback-database.ts'
import type { Database } from '../../packages/oncekey/src/stores/database/database.ts'
import { guard } from '../../packages/oncekey/src/stores/database/guard.ts'

export function callbackOverPg(
  pool: pg.Pool,
  over: Partial<CallbackLibrary<pg.PoolClient>> = {},
): Database<pg.PoolClient> {
  return callbackDatabase<pg.PoolClient>({
    connections: pool.options.max,
    async begin(callback) {
      const client = await pool.connect()
      let broken: Error | undefined
      const breaks = (error: Error): void => {
        broken = error
      }
      client.on('error', breaks)
      try {
        await client.query('begin isolation level read committed read write')
        const value = await callback(client)
        await client.query('commit')
        return value
      } catch (error) {
        await client.query('rollback').catch(breaks)
        throw error
      } finally {
        client.release(broken)
        client.removeListener('error', breaks)
      }
    },
    async execute(tx, { text, params }) {
      return (await (tx ?? pool).query(text, [...params])).rows
    },
    guard: (tx) => guard(tx, ['release']),
    ...over,
  })
}
