/** Keeps a store from running on other records than the ones it started on, and remembers their last restore (I4). */
import { OncekeyError } from '../../core/errors.ts'
import type { Restored } from '../../core/store.ts'
import type { Database } from '../database/database.ts'
import { type Checked, checkSchema } from './check-schema.ts'
import { namesIn } from './names.ts'

export interface SchemaGuard {
  /** Once for the store's life; a check that failed is made again by the next caller. Rejects for good after another epoch was found. */
  start(): Promise<Checked>
  /** Now: by each sweep. */
  again(): Promise<void>
  /** As the last check said, without asking. Throws where that found another epoch. */
  restored(): Restored | undefined
  /** The epoch that this process itself has begun. */
  adopt(begun: Pick<Checked, 'epoch' | 'restored'>): void
}

export function schemaGuard<Tx>(database: Database<Tx>, schema: string): SchemaGuard {
  const names = namesIn(schema)
  let started: Promise<Checked> | undefined
  let known: Checked | undefined
  let replaced = false

  async function check(): Promise<Checked> {
    const found = await checkSchema(database, names)
    replaced = known !== undefined && found.epoch !== known.epoch
    if (replaced) throw otherEpoch(schema)
    known = found
    return found
  }

  return {
    async again() {
      await check()
    },
    async start() {
      if (replaced) throw otherEpoch(schema)
      started ??= check().catch((error: unknown) => {
        started = undefined
        throw error
      })
      return started
    },
    restored() {
      if (replaced) throw otherEpoch(schema)
      return known?.restored
    },
    adopt(begun) {
      replaced = false
      if (known) known = { ...known, ...begun }
    },
  }
}

function otherEpoch(schema: string): OncekeyError {
  return new OncekeyError('SCHEMA_MISMATCH', {
    what: `The tables in the schema ${schema} are not the ones that this process started on.`,
    where: 'postgres',
    why: 'Records were restored or replaced under it; what it knows of them may never have happened there.',
    fix: 'Reconcile what was lost, then start the processes again.',
    details: { schema },
  })
}
