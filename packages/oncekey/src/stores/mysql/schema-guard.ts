/** Keeps a store from running on other records than those it started on (I4), and remembers what the last check has found. */
import { OncekeyError } from '../../core/errors.ts'
import type { Restored } from '../../core/store.ts'
import type { Database } from '../database/database.ts'
import { type Checked, checkSchema, type SchemaOptions } from './check-schema.ts'

export interface SchemaGuard {
  /** Once for the store's life; a check that failed is made again by the next caller. */
  start(): Promise<void>
  /** Now. */
  again(): Promise<void>
  /** Without asking. Throws where the records are other ones by now. */
  restored(): Restored | undefined
  /** Also before anybody has asked: then what it is takes the careful form. */
  readonly mariadb: boolean
  /** This process has changed it by itself. */
  learn(changed: Pick<Checked, 'epoch'>): void
}

export function schemaGuard<Tx>(database: Pick<Database<Tx>, 'query'>, options: SchemaOptions): SchemaGuard {
  let started: Promise<void> | undefined
  let known: Checked | undefined
  let replaced = false

  async function again(): Promise<void> {
    const found = await checkSchema(database, options)
    replaced = found.epoch !== (known ?? found).epoch
    if (replaced) throw otherEpoch(options.prefix)
    known = found
  }
  return {
    again,
    start() {
      started ??= again().catch((error: unknown) => {
        started = undefined
        throw error
      })
      return started
    },
    restored() {
      if (replaced) throw otherEpoch(options.prefix)
      return known?.restored
    },
    get mariadb() {
      return known?.mariadb ?? false
    },
    learn(changed) {
      known = { mariadb: false, restored: undefined, ...known, ...changed }
    },
  }
}

function otherEpoch(prefix: string): OncekeyError {
  return new OncekeyError('SCHEMA_MISMATCH', {
    what: `The tables ${prefix}… are not the ones that this process started on.`,
    where: 'mysql',
    why: 'Records were restored or replaced under it; what it knows of them may never have happened there.',
    fix: 'Reconcile what was lost, then start the processes again.',
    details: { prefix },
  })
}
