import { fromMysql2, mysql } from 'oncekey/mysql'
import { onTestFinished } from 'vitest'
import { type Arena, type Ground, unused } from '../charges/charging.ts'
import { mariadbUrl, onMariadb, poolAt } from '../mariadb.ts'

export const mariadbArenas: readonly Arena[] = (['transaction', 'lease'] as const).map((mode) => ({
  name: 'MariaDB',
  mode,
  effect: 'inside',
  ground: mariadbGround,
}))

export async function mariadbGround(): Promise<Ground> {
  const database = unused()
  await onMariadb(`create database ${database}`)
  onTestFinished(async () => void (await onMariadb(`drop database ${database}`)))
  const url = new URL(mariadbUrl())
  url.pathname = `/${database}`
  await onMariadb('create table charge (id bigint auto_increment primary key, amount integer not null)', url.href)
  await onMariadb('create table start (id bigint auto_increment primary key)', url.href)
  const pool = poolAt(url.href)
  const store = mysql(fromMysql2(pool))
  await store.admin.migrate()
  await store[Symbol.asyncDispose]()
  await pool.end()
  const count = async (table: string) => Number((await onMariadb(`select count(*) as n from ${table}`, url.href))[0]?.n)
  return { env: { STORE: url.href }, charges: () => count('charge'), starts: () => count('start') }
}
