import { createPool, type PoolConnection } from 'mysql2/promise'
import { databaseOnly } from 'oncekey'
import { fromMysql2, mysql } from 'oncekey/mysql'
import type { Env, Serve } from './charging.ts'

export async function open(serve: Serve, { STORE = '', MODE, LEASE = '30s' }: Env): Promise<void> {
  const pool = createPool({ uri: STORE, connectionLimit: 10 })
  const apart = createPool({ uri: STORE, connectionLimit: 1 })
  const charged = (tx: PoolConnection, amount: number) => () =>
    tx.query('insert into charge (amount) values (?)', [amount])
  const began = () => apart.query('insert into start () values ()')
  const database = fromMysql2(pool)
  if (MODE === 'transaction')
    return serve(mysql(database), async (grant, amount) => {
      await began()
      return charged(grant.tx, amount)
    })
  const lease = { mode: 'lease', retain: '1h', lease: LEASE as '30s', ...databaseOnly } as const
  return serve(mysql(database, lease), async (grant, amount) => {
    await began()
    return async () => charged(await grant.begin(), amount)()
  })
}
