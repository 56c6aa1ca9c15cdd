// Never called: the transaction in the work's hands is TypeORM's own manager, and the type check runs these.
import { once } from 'oncekey'
import { fromTypeorm as onMysql } from 'oncekey/mysql'
import { type Database, fromTypeorm, postgres } from 'oncekey/postgres'
import type { DataSource, EntityManager } from 'typeorm'

export function ofTheSource(dataSource: DataSource) {
  const database: Database<EntityManager> = fromTypeorm(dataSource)
  return once(postgres(database), { scope: 'shop', key: 'k', fingerprints: ['open'] }, async ({ tx }) => {
    // @ts-expect-error there is no such method
    await tx.nothing()
    return tx.queryRunner?.isReleased
  })
}

export function onMariadb(dataSource: DataSource): Database<EntityManager> {
  return onMysql(dataSource)
}
