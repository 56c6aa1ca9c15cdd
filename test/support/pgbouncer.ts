// PgBouncer in transaction mode, in front of the same PostgreSQL: the databases of `freshDatabase` are reached through it too.
import { describeWith, serviceUrl } from './service.ts'

export const describePgbouncer = describeWith('ONCEKEY_TEST_PGBOUNCER')

/** The pooler's address for a database that is known by its direct URL. */
export function throughPgbouncer(direct: string): string {
  const url = new URL(serviceUrl('ONCEKEY_TEST_PGBOUNCER'))
  url.pathname = new URL(direct).pathname
  return url.href
}
