// Charges on a real MariaDB in transaction mode: fresh operations, their rows, and what others do to those meanwhile.
import { randomUUID } from 'node:crypto'
import type { PoolConnection, RowDataPacket } from 'mysql2/promise'
import { type Outcome, once } from '../../packages/oncekey/src/core/once.ts'
import { identify, type Operation } from '../../packages/oncekey/src/core/operation.ts'
import type { Policy } from '../../packages/oncekey/src/core/policy.ts'
import type { InTransaction, Store } from '../../packages/oncekey/src/core/store.ts'
import { fromMysql2 } from '../../packages/oncekey/src/stores/database/mysql2.ts'
import { mysql } from '../../packages/oncekey/src/stores/mysql/index.ts'
import { NOW } from '../../packages/oncekey/src/stores/mysql/statements/columns.ts'
import type { MysqlPlace } from './mysql-transactions.ts'

export type Grant = InTransaction<PoolConnection>
export type Work = (grant: Grant) => Promise<unknown>
/** Ends for `intrude`. */
export const LIVE = `${NOW} + 3600000000`
export const PAST = `${NOW} - 1000`

export const never: Work = () => Promise.reject(new Error('the work ran, and must not have'))

export function operation(over: Partial<Operation> = {}): Operation {
  return { scope: 'tenant', key: randomUUID(), fingerprints: ['body'], ...over }
}

export interface MysqlCharges {
  /** A charge that writes one effect under its key, on a store over the place's own pool. */
  run(charge: Operation, work?: Work, policy?: Policy<unknown>, store?: Store<Grant>): Promise<Outcome<unknown>>
  row(charge: Operation): Promise<RowDataPacket | undefined>
  /** A record as lease mode, or another release, would leave it. */
  intrude(charge: Operation, columns: Readonly<Record<string, string>>): Promise<void>
  /** Kills the connection under the work, and waits until its signal says so. */
  terminate(grant: Grant): Promise<void>
}

export function chargesAt(place: MysqlPlace): MysqlCharges {
  function write(mark: string): Work {
    return async ({ tx }) => {
      await place.write(tx, mark)
      return 'done'
    }
  }
  return {
    run(charge, work = write(charge.key), policy = {}, store = mysql(fromMysql2(place.pool))) {
      return once(store, charge, work, { policy })
    },
    async row(charge) {
      const [rows] = await place.pool.query<RowDataPacket[]>('select * from oncekey_record where k = unhex(?)', [
        identify(charge).id,
      ])
      return rows[0]
    },
    async intrude(charge, columns) {
      const { id, prints } = identify(charge)
      const all = { k: `x'${id}'`, fingerprint: `x'${prints[0]}'`, ...columns }
      await place.pool.query(`replace into oncekey_record (${Object.keys(all)}) values (${Object.values(all)})`)
    },
    async terminate({ tx, signal }) {
      const [rows] = await tx.query<RowDataPacket[]>('select connection_id() as id')
      const died = new Promise((resolve) => signal.addEventListener('abort', resolve))
      await place.pool.query(`kill ${rows[0]?.id}`)
      await died
    },
  }
}
