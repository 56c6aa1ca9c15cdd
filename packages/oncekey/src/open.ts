/** A store by its address, for programs that learn where it is when they start: a CLI, an example, a benchmark, a test. */
import { OncekeyError } from './core/errors.ts'
import type { AfterFailure } from './core/policy.ts'
import type { InTransaction, Leased, Store } from './core/store.ts'
import { openDynamodb } from './open/dynamodb.ts'
import { openMemory } from './open/memory.ts'
import { openMysql } from './open/mysql.ts'
import type { Mode, Opener, OpenOptions } from './open/opener.ts'
import { openPostgres } from './open/postgres.ts'
import { openRedis } from './open/redis.ts'
import { openSqlite } from './open/sqlite.ts'

export type { Mode, OpenOptions } from './open/opener.ts'

/** Lease mode at any address: `begin` is there where the store is a SQL database, `tx` where it collects writes (DynamoDB). */
export interface LeasedAnywhere<Tx> extends Leased {
  begin?(): Promise<Tx>
  readonly tx?: Tx
}

/** Transaction mode. `Tx` is the connection of the library that is used: pg's `PoolClient`, mysql2's `PoolConnection`, libsql's `Database`. */
export function openStore<Tx = unknown>(
  url: string,
  options?: OpenOptions & { readonly mode?: 'transaction' },
): Promise<Store<InTransaction<Tx>>>
/** Lease mode; what follows a failure has to be said: `{ mode: 'lease', ...downstreamDedupes({ for: '24h' }) }`. */
export function openStore<Tx = unknown>(
  url: string,
  options: OpenOptions & AfterFailure & { readonly mode: 'lease' },
): Promise<Store<LeasedAnywhere<Tx>>>
/**
 * Opens the store at `memory:`, `sqlite:payments.db`, `sqlite:///var/lib/payments.db`, `postgres://…`, `mysql://…`, `redis://…` or `dynamodb:table`. Driver
 * and store are imported when they are needed, and no more is closed with the store than was opened for it.
 *
 * @throws `INVALID_OPTION` for an address that no store has, a mode that it does not have, and a driver that is not installed.
 */
export async function openStore<Tx>(
  url: string,
  options: OpenOptions & Partial<AfterFailure> & { readonly mode?: Mode } = {},
): Promise<Store<InTransaction<Tx>> | Store<LeasedAnywhere<Tx>>> {
  const opener = openerOf(url)
  const { mode = 'transaction' } = options
  if (!opener.modes.includes(mode))
    throw new OncekeyError('INVALID_OPTION', {
      what: `A store at ${schemeOf(url)}: has no ${mode} mode.`,
      where: 'openStore',
      why: 'What the work is granted depends on the mode; another one would not be what was asked for.',
      fix: `It has: ${opener.modes.join(', ')}. Lease mode also wants to know what follows a failure.`,
    })
  const { open } = opener
  return (await open(url, { ...options, mode })) as Store<InTransaction<Tx>> | Store<LeasedAnywhere<Tx>>
}

/** The modes that a store at this address has. Throws `INVALID_OPTION` where no store has such an address. */
export function modesOf(url: string): readonly Mode[] {
  return openerOf(url).modes
}

const OPENERS: Readonly<Record<string, Opener>> = {
  memory: openMemory,
  sqlite: openSqlite,
  postgres: openPostgres,
  postgresql: openPostgres,
  mysql: openMysql,
  mariadb: openMysql,
  redis: openRedis,
  rediss: openRedis,
  valkey: openRedis,
  valkeys: openRedis,
  dynamodb: openDynamodb,
}

function openerOf(url: string): Opener {
  const opener = Object.hasOwn(OPENERS, schemeOf(url)) ? OPENERS[schemeOf(url)] : undefined
  if (opener) return opener
  throw new OncekeyError('INVALID_OPTION', {
    // The scheme alone: the rest may carry a password.
    what: `No store has an address that begins with ${JSON.stringify(schemeOf(url))}.`,
    where: 'openStore',
    why: 'Without a store nothing is remembered.',
    fix: 'Give memory:, sqlite:payments.db, postgres://user@host/database, mysql://user@host/database, redis://host, or dynamodb:table.',
  })
}

function schemeOf(url: unknown): string {
  return typeof url === 'string' ? (/^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase() ?? '') : ''
}
