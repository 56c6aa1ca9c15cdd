/** A transaction handle that dies with its work: a query that nobody awaited cannot reach the next request's transaction (T7). */
import { OncekeyError } from '../../core/errors.ts'
import { refuseControl } from './transaction-control.ts'

export interface Guarded<Tx> {
  readonly tx: Tx
  /** From now on every use throws `TX_CLOSED`. */
  close(): void
}

/** `forbidden`: methods that would take the connection away from under the operation. */
export function guard<Tx extends object>(target: Tx, forbidden: readonly string[] = []): Guarded<Tx> {
  let closed = false
  const methods = new Map<PropertyKey, (...args: unknown[]) => unknown>()

  function wrapped(name: PropertyKey, method: (...args: unknown[]) => unknown): (...args: unknown[]) => unknown {
    const known = methods.get(name)
    if (known) return known
    const made = function guarded(...args: unknown[]): unknown {
      if (closed) throw txClosed()
      if (forbidden.includes(String(name))) throw txTaken(String(name))
      const sql = sqlOf(args[0])
      if (sql !== undefined) refuseControl(sql)
      const result = Reflect.apply(method, target, args)
      return result === target ? tx : result
    }
    methods.set(name, made)
    return made
  }

  const tx: Tx = new Proxy(target, {
    get(_, name) {
      // `await tx` and inspection look for these; neither is a use.
      if (typeof name === 'symbol' || name === 'then') return Reflect.get(target, name, target)
      if (closed) throw txClosed()
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? wrapped(name, value as never) : value
    },
    set(_, name, value) {
      if (closed) throw txClosed()
      return Reflect.set(target, name, value, target)
    },
  })
  return {
    tx,
    close() {
      closed = true
    },
  }
}

/** Texts, templates, and the objects in which drivers take them: `{ text }`, `{ sql }`, a cursor with a `text` of its own. */
function sqlOf(argument: unknown): string | undefined {
  if (typeof argument === 'string') return argument
  if (Array.isArray(argument))
    return argument.every((part) => typeof part === 'string') ? argument.join(' ') : undefined
  if (typeof argument !== 'object' || argument === null) return undefined
  const { text, sql, cursor } = argument as { text?: unknown; sql?: unknown; cursor?: { text?: unknown } }
  return [text, sql, cursor?.text].find((part) => typeof part === 'string')
}

export function txClosed(): OncekeyError {
  return new OncekeyError('TX_CLOSED', {
    what: 'A transaction was used after the work that it belongs to had ended.',
    where: 'tx',
    why: 'Its connection may serve another request by now, and this statement would become part of that.',
    fix: 'Await every statement before the work returns.',
  })
}

function txTaken(method: string): OncekeyError {
  return new OncekeyError('TX_CONTROL', {
    what: `The work called ${method}() on the connection that belongs to its operation.`,
    where: 'tx',
    why: 'The connection carries the transaction in which the answer is kept.',
    fix: 'Leave the connection alone; it goes back to its pool when the operation has ended.',
  })
}
