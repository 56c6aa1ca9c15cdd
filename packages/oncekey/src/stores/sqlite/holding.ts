/** Who asks for the write lock from inside the work that holds it would wait for itself: found out by async context. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { OncekeyError } from '../../core/errors.ts'

interface Place {
  readonly path: string
  readonly outer: Place | undefined
  holding: number
}

const places = new AsyncLocalStorage<Place>()

/** Everything that `run` starts is known to belong to one operation on this file. */
export function placed<R>(path: string, run: () => R): R {
  return places.run({ path, outer: places.getStore(), holding: 0 }, run)
}

/** The operation around us holds the lock of the file from here, until the answer is called. */
export function holds(path: string): () => void {
  const place = around(path)
  if (place === undefined) return () => {}
  place.holding += 1
  let held = true
  return function letGo() {
    if (held) place.holding -= 1
    held = false
  }
}

/** Throws `NESTED_OPERATION` at once, where waiting could only end in a timeout. */
export function refuseInside(path: string): void {
  if (!isHeldAround(path)) return
  throw new OncekeyError('NESTED_OPERATION', {
    what: 'A transaction on this file was asked for inside the work of an operation that holds its write lock.',
    where: 'sqlite',
    why: 'A SQLite file has one writer: the inner transaction would wait for the outer one, which waits for it.',
    fix: 'Use the outer `tx`: `store.within(tx)` runs an operation inside it; else start the inner one after the outer has ended.',
  })
}

function isHeldAround(path: string): boolean {
  for (let place = places.getStore(); place; place = place.outer)
    if (place.path === path && place.holding > 0) return true
  return false
}

function around(path: string): Place | undefined {
  for (let place = places.getStore(); place; place = place.outer) if (place.path === path) return place
  return undefined
}
