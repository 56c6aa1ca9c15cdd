/** The user's handle on a transaction of postgres.js: its `TransactionSql`, which dies with the work (T7). */
import { readFileSync } from 'node:fs'
import { type Guarded, txClosed } from '../guard.ts'
import { refuseControl } from '../transaction-control.ts'
import { isQuery, type Query, type Sql, type UnsafeOptions } from './driver.ts'
import type { Held } from './hold.ts'

export interface Lent<Tx> extends Guarded<Tx> {
  /** A statement of the work has failed. */
  readonly failed: boolean
}

export function lend<Tx>(sql: Sql, held: Held): Lent<Tx> {
  let closed = false
  let failed = false
  let savepoints = 0
  const own = { unsafe, file, notify, savepoint, prepare }
  const tx = new Proxy(sql, {
    apply: (_, __, args) => caught(sql(...args)) as object,
    get(_, name) {
      if (typeof name === 'symbol' || name === 'then') return Reflect.get(sql, name)
      if (closed) throw txClosed()
      if (name in own) return own[name as keyof typeof own]
      // These make values and send nothing. All else belongs to the pool and not to a transaction.
      return ['json', 'array', 'types', 'typed', 'options', 'parameters'].includes(name)
        ? Reflect.get(sql, name)
        : undefined
    },
  })
  return {
    tx: tx as Tx,
    get failed() {
      return failed
    },
    close() {
      closed = true
    },
  }

  /** A query is judged when it is about to be sent: the connection may be another request's by then. */
  function caught(made: unknown): unknown {
    if (closed) throw txClosed()
    if (isQuery(made)) made.handler = run
    return made
  }

  function run(query: Query): void {
    try {
      if (closed) throw txClosed()
      refuseControl(query.strings.join(' '))
    } catch (refusal) {
      query.reject(refusal)
      return
    }
    query.catch(() => {
      failed = true
    })
    held.run(query)
  }

  function unsafe(text: string, params: unknown[] = [], options: UnsafeOptions = {}): unknown {
    return caught(sql.unsafe(text, params, options))
  }
  function file(path: string, params: unknown[] = [], options: UnsafeOptions = {}): unknown {
    return unsafe(readFileSync(path, 'utf8'), params, options)
  }
  function notify(channel: string, payload: unknown): unknown {
    return unsafe('select pg_notify($1, $2)', [channel, String(payload)])
  }
  function prepare(): void {
    refuseControl('prepare transaction')
  }

  async function savepoint(...args: [unknown, unknown?]): Promise<unknown> {
    const [name, body] = (typeof args[0] === 'function' ? ['', args[0]] : args) as [string, (tx: unknown) => unknown]
    const label = `"s${savepoints++}_${name.replaceAll('"', '""')}"`
    await unsafe(`savepoint ${label}`)
    try {
      const result = await body(tx)
      return Array.isArray(result) ? await Promise.all(result) : result
    } catch (error) {
      await unsafe(`rollback to savepoint ${label}`)
      throw error
    }
  }
}
