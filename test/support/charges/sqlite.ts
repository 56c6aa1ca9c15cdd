import Database from 'libsql'
import { databaseOnly } from 'oncekey'
import { sqlite } from 'oncekey/sqlite'
import type { Env, Serve } from './charging.ts'

export async function open(serve: Serve, { STORE = '', MODE, LEASE = '30s' }: Env): Promise<void> {
  const path = STORE.replace('sqlite:', '')
  // A file of its own: the writer of the charges holds the lock of theirs.
  const apart = new Database(`${path}-starts`, { timeout: 5_000 })
  apart.exec('create table if not exists start (id integer primary key)')
  const began = () => apart.exec('insert into start default values')
  const charged = (tx: Database.Database, amount: number) => () =>
    tx.prepare('insert into charge (amount) values (?)').run(amount)
  if (MODE === 'transaction')
    return serve(sqlite(path, { driver: Database }), async (grant, amount) => {
      began()
      return charged(grant.tx, amount)
    })
  const lease = { mode: 'lease', retain: '1h', lease: LEASE as '30s', ...databaseOnly } as const
  return serve(sqlite(path, { driver: Database, ...lease }), async (grant, amount) => {
    began()
    return async () => charged(await grant.begin(), amount)()
  })
}
