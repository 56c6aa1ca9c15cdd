/** Where keys come from: one for each operation, made before the first attempt and never inside a retry loop. */
import { v7 } from 'uuid'
import { hex, lengthPrefixed, sha256 } from '../core/digest.ts'
import { OncekeyError } from '../core/errors.ts'

/**
 * A new key in time order (UUIDv7), 36 characters. Keep it with the operation before the first attempt. Time-ordered
 * keys land at the end of an index: Shopify halved the INSERT time of one busy system with them (Shopify Engineering,
 * "10 Tips for Building Resilient Payment Systems").
 */
export function newKey(): string {
  return v7()
}

/**
 * The key of a business action: the same action on the same things always gets the same key, 32 hex digits, also
 * after the caller lost all its state. `keyFor('charge order', 42)` and `keyFor('charge order', '42')` are one key.
 *
 * Two real operations with the same parts collapse into one: name something unique to each, an order rather than an amount.
 *
 * @throws `INVALID_OPTION` for a part that is missing, blank, or not an id: `undefined` would give every caller one key.
 */
export function keyFor(action: string, ...ids: readonly [Id, ...Id[]]): string {
  if (typeof action !== 'string' || action.trim() === '') refuse('The action', action)
  if (ids.length === 0) refuse('The list of ids', 'empty')
  return hex(sha256(lengthPrefixed('oncekey/key-for/1', [action, ...ids.map(textOf)]))).slice(0, 32)
}
export type Id = string | number | bigint

function textOf(id: unknown): string {
  if (typeof id === 'bigint' || (typeof id === 'number' && Number.isSafeInteger(id))) return String(id)
  if (typeof id === 'string' && id.trim() !== '' && id.isWellFormed()) return id
  return refuse('An id', id)
}

function refuse(what: string, part: unknown): never {
  throw new OncekeyError('INVALID_OPTION', {
    what: `${what} is not usable in a key: ${typeof part === 'string' ? JSON.stringify(part) : String(part)}.`,
    where: 'keyFor',
    why: 'A part that is missing or inexact gives two operations one key, and the second would get the answer of the first.',
    fix: 'Give a name for the action and one id or more: texts that are not blank, safe integers or bigints.',
  })
}
