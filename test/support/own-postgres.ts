// A PostgreSQL for one test file alone, for what the whole cluster has a say in.
import { afterAll, beforeAll } from 'vitest'
import { unprivileged } from '../../scripts/services/account.mjs'
import { serverOf } from '../../scripts/services/postgres.mjs'
import { postgresPrograms } from '../../scripts/services/postgres-programs.mjs'
import { openRun, type Run } from '../../scripts/services/run.mjs'
import { freshDatabase } from './postgres.ts'

/**
 * Call it inside `describePostgres`. Dead rows are pruned only where no snapshot may still see them, and a transaction
 * that writes for long, in any database of a server, keeps that horizon where it was: with one such neighbour a
 * completed key took 385 bytes instead of 195. Where only a server by its address is there, it has to do.
 */
export function ownPostgres(): { readonly url: string } {
  const programs = postgresPrograms(unprivileged())
  if (typeof programs === 'string') return freshDatabase()
  let run: Run
  let url = ''
  beforeAll(async () => {
    run = openRun()
    // Whatever is counted here, it is not time, nor what a crash leaves.
    url = (await serverOf(programs, run, unprivileged(), { fsync: 'off' })).url
  })
  afterAll(() => run.stop())
  return {
    get url() {
      return url
    },
  }
}
