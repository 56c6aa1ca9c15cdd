import { databaseOnly } from 'oncekey'
import { fromPg, postgres } from 'oncekey/postgres'
import pg from 'pg'
import type { Env, Serve } from './charging.ts'

export async function open(serve: Serve, { STORE, SCHEMA = '', MODE, LEASE = '30s' }: Env): Promise<void> {
  const pool = new pg.Pool({ connectionString: STORE, max: 10 })
  const apart = new pg.Pool({ connectionString: STORE, max: 1 })
  for (const one of [pool, apart]) one.on('error', () => {})
  const charged = (tx: pg.PoolClient, amount: number) => () =>
    tx.query(`insert into ${SCHEMA}.charge (amount) values ($1)`, [amount])
  const began = () => apart.query(`insert into ${SCHEMA}.start default values`)
  const database = fromPg(pool)
  if (MODE === 'transaction')
    return serve(postgres(database, { schema: SCHEMA }), async (grant, amount) => {
      await began()
      return charged(grant.tx, amount)
    })
  const lease = { mode: 'lease', retain: '1h', lease: LEASE as '30s', ...databaseOnly } as const
  return serve(postgres(database, { schema: SCHEMA, ...lease }), async (grant, amount) => {
    await began()
    return async () => charged(await grant.begin(), amount)()
  })
}
