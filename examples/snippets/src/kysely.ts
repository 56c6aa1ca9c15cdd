// Kysely on Postgres, and on MySQL.
import { type Generated, Kysely, MysqlDialect, PostgresDialect } from 'kysely'
import type { Pool as MysqlPool } from 'mysql2'
import { type Operation, once } from 'oncekey'
import { fromKysely as fromKyselyOnMysql, fromMysql2, mysql } from 'oncekey/mysql'
import { fromKysely, fromPg, postgres } from 'oncekey/postgres'
import type { Pool } from 'pg'

interface Tables {
  account: { id: Generated<number>; owner: string }
}

export function byKysely(pool: Pool) {
  // #region kysely
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  const store = postgres(fromKysely(db, fromPg(pool)))

  function openAccount(operation: Operation, owner: string) {
    return once(store, operation, ({ tx }) =>
      tx.insertInto('account').values({ owner }).returning('id').executeTakeFirstOrThrow(),
    )
  }
  // #endregion
  return { store, openAccount }
}

export function byKyselyOnMysql(pool: MysqlPool) {
  // #region kysely-mysql
  const db = new Kysely<Tables>({ dialect: new MysqlDialect({ pool }) })
  const store = mysql(fromKyselyOnMysql(db, fromMysql2(pool)))
  // #endregion
  return { db, store }
}
