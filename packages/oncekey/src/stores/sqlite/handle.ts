/** The `tx` that work gets: the library's own connection, for as long as the transaction is open and not a moment longer (T7). */
import { OncekeyError } from '../../core/errors.ts'
import { controlIn } from './control.ts'
import type { SqliteConnection } from './driver.ts'
import type { Writer } from './file.ts'
import { aborted } from './transaction-faults.ts'

export interface Handle<Tx> {
  readonly tx: Tx
  /** From now on every use throws `TX_CLOSED`, also of statements that were prepared before. */
  close(): void
}

// biome-ignore lint/suspicious/noExplicitAny: a proxy passes on whatever the library takes and gives.
type Method = (...args: any[]) => any

const writers = new WeakMap<object, Writer<unknown>>()

/** The turn that a `tx` belongs to, as long as it is open. */
export function writerOf<Tx>(tx: Tx): Writer<Tx> | undefined {
  return typeof tx === 'object' && tx !== null ? (writers.get(tx) as Writer<Tx> | undefined) : undefined
}

export function handleOn<Tx extends SqliteConnection>(writer: Writer<Tx>): Handle<Tx> {
  const { connection } = writer
  const cursors = new Set<Iterator<unknown>>()
  let open = true

  function alive(): void {
    if (!open) throw closed()
  }
  /** After SQLite has rolled back by itself, every further statement would commit alone. */
  function inside(): void {
    const { inTransaction, isTransaction } = connection as { inTransaction?: boolean; isTransaction?: boolean }
    if ((inTransaction ?? isTransaction) === false) throw aborted('sqlite')
  }
  function checked(sql: unknown): void {
    const control = typeof sql === 'string' ? controlIn(sql) : undefined
    if (control) throw controlled(control)
  }

  /** Calls go to the library's own object, which may have private parts; what it gives back of itself is guarded again. */
  function guarded<T extends object>(target: T, own: Readonly<Record<string | symbol, Method>>): T {
    const proxy: T = new Proxy(target, {
      get(_, name) {
        alive()
        const value: unknown = Reflect.get(target, name, target)
        if (value === connection) return tx
        if (typeof value !== 'function') return value
        return function call(...args: unknown[]): unknown {
          alive()
          inside()
          const method = Object.hasOwn(own, name) ? own[name] : undefined
          const answer: unknown = method ? method(...args) : Reflect.apply(value, target, args)
          return answer === target ? proxy : answer
        }
      },
    })
    return proxy
  }

  function statement(prepared: object): object {
    return guarded(prepared, {
      iterate(...args) {
        const cursor = (prepared as { iterate: Method }).iterate(...args) as IterableIterator<unknown>
        cursors.add(cursor)
        return cursor
      },
    })
  }

  /** better-sqlite3's `transaction`, inside a transaction: a savepoint. libsql's own would send BEGIN. */
  function nested(run: Method): Method {
    const inner: Method = function atSavepoint(this: unknown, ...args) {
      alive()
      connection.exec('savepoint oncekey_nested')
      try {
        const answer: unknown = Reflect.apply(run, this, args)
        connection.exec('release oncekey_nested')
        return answer
      } catch (error) {
        connection.exec('rollback to oncekey_nested; release oncekey_nested')
        throw error
      }
    }
    const ways = { default: inner, deferred: inner, immediate: inner, exclusive: inner }
    return Object.assign(inner, ways)
  }

  const tx: Tx = guarded(connection, {
    exec(sql: string) {
      checked(sql)
      return connection.exec(sql)
    },
    prepare(sql: string, ...rest) {
      checked(sql)
      return statement((connection.prepare as Method)(sql, ...rest) as object)
    },
    transaction: nested,
    close() {
      throw controlled('close()')
    },
  })

  writers.set(tx, writer)
  return {
    tx,
    close() {
      open = false
      writers.delete(tx)
      // An iterator left half-way keeps its statement busy, and a busy connection cannot commit.
      for (const cursor of cursors) cursor.return?.()
    },
  }
}

function closed(): OncekeyError {
  return new OncekeyError('TX_CLOSED', {
    what: 'The transaction was used after its work had ended.',
    where: 'sqlite',
    why: 'The same connection may carry the next operation by now, and this would become part of that one.',
    fix: 'Await everything that uses `tx` before the work returns, and do not keep it.',
  })
}

function controlled(what: string): OncekeyError {
  return new OncekeyError('TX_CONTROL', {
    what: `${what} was called on the transaction of an operation.`,
    where: 'sqlite',
    why: 'The record of the operation commits together with what the work writes, or neither does.',
    fix: 'Return to commit and throw to roll back; SAVEPOINT, ROLLBACK TO and RELEASE are yours.',
  })
}
