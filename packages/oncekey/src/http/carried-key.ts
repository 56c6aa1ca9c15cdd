/** The key, wherever the route has it: in a header, in a member of the body or in a parameter of the query. */
import { MAX_PART_LENGTH } from '../core/operation.ts'
import type { Exchange } from './exchange.ts'
import { type KeyFault, type ReadKey, readKey } from './key-header.ts'
import type { KeyCarrier } from './options.ts'
import type { RequestBody } from './request-fingerprint.ts'

/** A key in the body is the one thing that cannot be judged before the body is read. */
export function isInBody(carrier: KeyCarrier): carrier is { readonly body: string } {
  return 'body' in carrier
}

export function carriedKey<C>(carrier: KeyCarrier, exchange: Exchange<C>, body?: RequestBody): ReadKey {
  if ('body' in carrier) return judgeText(memberOf(body, carrier.body))
  if ('query' in carrier) {
    const given = new URLSearchParams(exchange.target.split('?')[1] ?? '').getAll(carrier.query)
    return given.length > 1 ? invalid('multiple-lines') : judgeText(given[0])
  }
  return readKey(exchange.lines(carrier.header ?? 'Idempotency-Key'), carrier)
}

/** In bodies and queries a key is a text as it is: no quotes, no escapes. */
function judgeText(value: unknown): ReadKey {
  if (value === undefined || value === null) return { kind: 'absent' }
  if (typeof value !== 'string') return invalid('not-a-string')
  if (value === '') return invalid('empty')
  if (value.trim() === '') return invalid('blank')
  if (value.length > MAX_PART_LENGTH) return invalid('too-long')
  return value.isWellFormed() ? { kind: 'key', key: value } : invalid('malformed')
}

function invalid(reason: KeyFault): ReadKey {
  return { kind: 'invalid', reason, maxLength: MAX_PART_LENGTH }
}

function memberOf(body: RequestBody | undefined, pointer: string): unknown {
  let value = parsed(body)
  const names = pointer.replace(/^\//, '').split('/')
  for (const name of names) {
    const member = name.replaceAll('~1', '/').replaceAll('~0', '~')
    value =
      typeof value === 'object' && value !== null && Object.hasOwn(value, member)
        ? Reflect.get(value, member)
        : undefined
  }
  return value
}

function parsed(body: RequestBody | undefined): unknown {
  if (body === undefined || body.kind === 'none') return undefined
  if (body.kind !== 'bytes') return body.value
  try {
    return JSON.parse(new TextDecoder().decode(body.bytes))
  } catch {
    return undefined
  }
}
