/** What opens the stores of one kind of address. */
import type { Duration } from '../core/clock.ts'
import { OncekeyError } from '../core/errors.ts'
import type { AfterFailure } from '../core/policy.ts'
import type { Grant, Store } from '../core/store.ts'

export type Mode = 'transaction' | 'lease'

export interface OpenOptions {
  /** How long an answer is kept, work may take, and (lease mode) a claim is honoured without a beat. */
  readonly retain?: Duration
  readonly work?: Duration
  readonly lease?: Duration
  /** How much longer a tombstone answers that it happened, without the answer. Default: there is none. */
  readonly tombstone?: Duration
  /** The schema of our tables; in SQLite and MySQL, which have none, what stands in front of their names and an underscore; in Redis what stands in front of keys and a colon. Default `oncekey`. */
  readonly schema?: string
  /** Which library is used; by default the first that is installed. */
  readonly driver?:
    | 'pg'
    | 'postgres'
    | 'mysql2'
    | 'libsql'
    | 'better-sqlite3'
    | 'node:sqlite'
    | 'ioredis'
    | 'redis'
    | '@aws-sdk/client-dynamodb'
  /** The size of a pool that is opened for the store. Default 10. */
  readonly connections?: number
}
export type Opening = OpenOptions & Partial<AfterFailure> & { readonly mode: Mode }

export interface Opener {
  readonly modes: readonly Mode[]
  open(url: string, options: Opening): Promise<Store<never> | Store<Grant>>
}

type Durations = Pick<OpenOptions, 'retain' | 'tombstone' | 'work' | 'lease'>

/** Only what was given: an option that is `undefined` is no option. */
export function durationsOf({ retain, tombstone, work, lease }: OpenOptions): Durations {
  return {
    ...(retain === undefined ? {} : { retain }),
    ...(work === undefined ? {} : { work }),
    ...(tombstone === undefined ? {} : { tombstone }),
    ...(lease === undefined ? {} : { lease }),
  }
}

/** Lease mode's required choice. Throws `INVALID_OPTION` where nothing was chosen. */
export function afterOf({ onFailure, onAbandoned, dedupesFor }: Partial<AfterFailure>): AfterFailure {
  if (onFailure !== undefined && onAbandoned !== undefined)
    return { onFailure, onAbandoned, ...(dedupesFor === undefined ? {} : { dedupesFor }) }
  throw new OncekeyError('INVALID_OPTION', {
    what: 'Nothing says what follows a failure.',
    where: 'openStore',
    why: 'In lease mode only the owner of an operation knows if running it again is safe.',
    fix: 'Spread downstreamDedupes({ for }), downstreamDoesNot or databaseOnly into the options.',
  })
}

interface Driver {
  readonly name: NonNullable<OpenOptions['driver']>
  readonly load: () => Promise<unknown>
}

/** The module of the first driver that is installed, or of the one that was asked for. Throws `INVALID_OPTION`. */
export async function loadDriver(
  drivers: readonly Driver[],
  wanted: OpenOptions['driver'],
): Promise<{ readonly name: string; readonly module: unknown }> {
  const causes: unknown[] = []
  for (const { name, load } of drivers) {
    if (wanted !== undefined && wanted !== name) continue
    try {
      return { name, module: await load() }
    } catch (cause) {
      causes.push(cause)
    }
  }
  const names = wanted ?? drivers.map(({ name }) => name).join(' or ')
  throw new OncekeyError('INVALID_OPTION', {
    what: causes.length === 0 ? `${names} is no driver for this address.` : `The driver is not installed: ${names}.`,
    where: 'openStore',
    why: 'oncekey brings no database library of its own.',
    fix: `npm install ${wanted !== undefined && causes.length > 0 ? wanted : drivers[0]?.name}`,
    cause: new AggregateError(causes),
  })
}
