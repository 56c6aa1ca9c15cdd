// What our HTTP adapters do for a request, without HTTP: read the key, take the fingerprint, run once, keep the answer.
import { type Grant, type Outcome, once, type Store } from 'oncekey'
import { type Answer, answerCodec, policies, readKey, requestFingerprint } from 'oncekey/http'

const utf8 = new TextEncoder()
const codec = answerCodec()
export const REQUEST_BODY = JSON.stringify({ amount: 2500, currency: 'usd', card: 'tok_visa' })
const BODY = utf8.encode(REQUEST_BODY)

/** Throws where the outcome is another one than the contender is measured for. */
export async function ours<G extends Grant>(
  store: Store<G>,
  key: string,
  work: (grant: G) => Promise<Answer>,
  expected?: Outcome<Answer>['kind'],
): Promise<Outcome<Answer>['kind']> {
  const read = readKey({ kind: 'lines', lines: [`"${key}"`] })
  if (read.kind !== 'key') throw new TypeError(`${key} is no key`)
  const fingerprints = requestFingerprint({
    method: 'POST',
    target: '/charges',
    contentType: 'application/json',
    body: { kind: 'bytes', bytes: BODY },
  })
  const operation = { scope: 'client', key: read.key, fingerprints, name: 'POST /charges' }
  const { kind } = await once(store, operation, work, { codec, policy: policies.default })
  if (expected !== undefined && kind !== expected) throw new Error(`expected ${expected}, and it was ${kind}`)
  return kind
}

const JSON_ONLY = [['content-type', 'application/json']] as const
const LOCATED = [...JSON_ONLY, ['location', '/charges/ch_12345678']] as const

/** The answer that is kept: 201 and 45 bytes of JSON. */
export function answerOf(id: number | string, location: 'plain' | 'located' = 'plain'): Answer {
  return { status: 201, headers: location === 'located' ? LOCATED : JSON_ONLY, body: utf8.encode(bodyOf(id)) }
}

export function bodyOf(id: number | string): string {
  return JSON.stringify({ id: Number(id), amount: 2500, currency: 'usd' }).padEnd(45)
}

export function expect(actual: string, expected: string): void {
  if (actual !== expected) throw new Error(`expected ${expected}, and it was ${actual}`)
}
