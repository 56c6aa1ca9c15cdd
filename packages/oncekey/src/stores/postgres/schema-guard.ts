/** Keeps a store from running on another schema than the one it started on (I4). */
import { OncekeyError } from '../../core/errors.ts'
import type { Database } from '../database/database.ts'
import { checkSchema } from './check-schema.ts'
import { namesIn } from './names.ts'

export interface SchemaGuard {
  /** Once for the store's life; a check that failed is made again by the next caller. */
  start(): Promise<void>
  /** Now. */
  again(): Promise<void>
}

export function schemaGuard<Tx>(database: Database<Tx>, schema: string): SchemaGuard {
  const names = namesIn(schema)
  let started: Promise<void> | undefined
  let known: string | undefined

  async function again(): Promise<void> {
    const { epoch } = await checkSchema(database, names)
    known ??= epoch
    if (epoch !== known) throw otherEpoch(schema)
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
