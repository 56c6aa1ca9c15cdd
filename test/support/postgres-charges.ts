// Charges on a real PostgreSQL in transaction mode: fresh operations, their rows, and what others do to those meanwhile.
import { randomUUID } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type pg from 'pg'
import { EVENTS } from '../../packages/oncekey/src/core/events.ts'
import { type Outcome, once } from '../../packages/oncekey/src/core/once.ts'
import { identify, type Operation } from '../../packages/oncekey/src/core/operation.ts'
import type { Policy } from '../../packages/oncekey/src/core/policy.ts'
import type { InTransaction, Store } from '../../packages/oncekey/src/core/store.ts'
import { fromPg } from '../../packages/oncekey/src/stores/database/pg.ts'
import { postgres } from '../../packages/oncekey/src/stores/postgres/index.ts'
import type { Place } from './postgres-transactions.ts'

export type Grant = InTransaction<pg.PoolClient>
export type Work = (grant: Grant) => Promise<unknown>
/** Ends for `intrude`. */
export const LIVE = "clock_timestamp() + interval '1 hour'"
export const PAST = "clock_timestamp() - interval '1 ms'"

export const never: Work = () => Promise.reject(new Error('the work ran, and must not have'))

export function operation(over: Partial<Operation> = {}): Operation {
  return { scope: 'tenant', key: randomUUID(), fingerprints: ['body'], ...over }
}

export interface Charges {
  /** A charge that writes one effect under its key, on a store over the place's own pool. */
  run(charge: Operation, work?: Work, policy?: Policy<unknown>, store?: Store<Grant>): Promise<Outcome<unknown>>
  write(mark: string, answer?: unknown): Work
  row(charge: Operation): Promise<Record<string, unknown>>
  /** A record as another release, or lease mode, would leave it: without any lock. */
  intrude(charge: Operation, columns: Readonly<Record<string, string>>): Promise<void>
  remove(charge: Operation): Promise<void>
  /** What was told of this charge meanwhile. */
  eventsOf(charge: Operation, during: () => Promise<unknown>): Promise<string[]>
  /** Kills the connection under the work, and waits until its signal says so. */
  terminate(grant: Grant): Promise<void>
}

export function chargesAt(place: Place): Charges {
  const record = `${place.schema}.record`

  function write(mark: string, answer: unknown = 'done'): Work {
    return async ({ tx }) => {
      await place.write(tx, mark)
      return answer
    }
  }

  return {
    write,
    run(charge, work = write(charge.key), policy = {}, store = postgres(fromPg(place.pool), { schema: place.schema })) {
      return once(store, charge, work, { policy })
    },
    async row(charge) {
      const { rows } = await place.pool.query(`select * from ${record} where k = $1`, [identify(charge).id])
      return rows[0]
    },
    async intrude(charge, columns) {
      const { id, prints } = identify(charge)
      const all: Record<string, string> = { k: `'${id}'`, fingerprint: `'${prints[0]}'`, ...columns }
      const names = Object.keys(all)
      await place.pool.query(
        `insert into ${record} (${names}) values (${Object.values(all)})
         on conflict (k) do update set (${names}) = row (${names.map((name) => `excluded.${name}`)})`,
      )
    },
    async remove(charge) {
      await place.pool.query(`delete from ${record} where k = $1`, [identify(charge).id])
    },
    async eventsOf(charge, during) {
      const { id } = identify(charge)
      const heard: string[] = []
      const listen = (message: unknown): void => {
        const { event, id: of } = message as { event: string; id?: string }
        if (of === id) heard.push(event)
      }
      for (const name of EVENTS) subscribe(`oncekey:${name}`, listen)
      try {
        await during()
      } finally {
        for (const name of EVENTS) unsubscribe(`oncekey:${name}`, listen)
      }
      return heard
    },
    async terminate({ tx, signal }) {
      const { rows } = await tx.query('select pg_backend_pid() as pid')
      const died = new Promise((resolve) => signal.addEventListener('abort', resolve))
      await place.pool.query('select pg_terminate_backend($1)', [rows[0].pid])
      await died
    },
  }
}
