/** What HTTP callers get once an answer is over, erased, sealed, redacted, or was lost with a restore. */
import { randomBytes } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { databaseOnly } from '../core/policy.ts'
import { memory } from '../stores/memory.ts'
import { idempotent } from './fetch.ts'

const by = { who: 'operator', why: 'asked to' }
let passed = 0
const started = Date.now()
const opened: ReturnType<typeof memory>[] = []
afterEach(async () => {
  passed = 0
  for (const store of opened.splice(0)) await store[Symbol.asyncDispose]()
})

function store() {
  const made = memory(databaseOnly, { retain: '1h', clock: () => started + passed })
  opened.push(made)
  return made
}
function charge(key = 'k1', body = '{"amount":1}'): Request {
  const headers = { 'content-type': 'application/json', 'idempotency-key': key }
  return new Request('http://api.example/charges', { method: 'POST', body, headers })
}
function charging() {
  const answer = { runs: 0 }
  return Object.assign(answer, {
    work: () => {
      answer.runs++
      return Response.json({ iban: 'DE89 3704' }, { status: 201, headers: { location: '/charges/ch_1' } })
    },
  })
}
const codeOf = async (answer: Response) => ((await answer.json()) as { code: string }).code

describe('an answer past its retention', () => {
  it('whose tombstone stands is `replay-unavailable`, with its Location, and is not run again', async () => {
    const charged = charging()
    const handler = idempotent({ store: store(), scope: () => 'alice', policy: { tombstone: '1h' } }, charged.work)
    await handler(charge())
    passed = 3_600_000
    const repeat = await handler(charge())
    expect(repeat.status).toBe(409)
    expect(repeat.headers.get('location')).toBe('/charges/ch_1')
    expect(await codeOf(repeat)).toBe('replay-unavailable')
    const other = await handler(charge('k1', '{"amount":2}'))
    expect([other.status, await codeOf(other)]).toEqual([422, 'key-reused'])
    expect(charged.runs).toBe(1)
  })
  it('whose key says its time is `key-too-old` where the route refuses such keys', async () => {
    const charged = charging()
    const handler = idempotent({ store: store(), scope: () => 'alice', policy: { oldKeys: 'refuse' } }, charged.work)
    const answer = await handler(charge('01890a5d-ac96-774b-bcce-b302099a8057'))
    expect([answer.status, await codeOf(answer)]).toEqual([422, 'key-too-old'])
    expect(charged.runs).toBe(0)
  })
})

it('an erased answer is `replay-unavailable`, and is not run again', async () => {
  const charged = charging()
  const on = store()
  const handler = idempotent({ store: on, scope: () => 'alice' }, charged.work)
  await handler(charge())
  for await (const record of on.admin.list()) expect(await on.admin.erase(record, by)).toBe('done')
  const repeat = await handler(charge())
  expect([repeat.status, await codeOf(repeat)]).toEqual([409, 'replay-unavailable'])
  expect(charged.runs).toBe(1)
})

it('a key that a restore may have lost is `outcome-unknown`, and is not run', async () => {
  const charged = charging()
  const on = store()
  const handler = idempotent({ store: on, scope: () => 'alice' }, charged.work)
  await on.admin.restored({ ...by, onEpochChange: 'refuse' })
  const answer = await handler(charge())
  expect([answer.status, await codeOf(answer)]).toEqual([409, 'outcome-unknown'])
  expect(charged.runs).toBe(0)
})

describe('what is kept', () => {
  it('is sealed where the route has a keyring, and replayed the same', async () => {
    const keyring = { current: 'a', keys: { a: new Uint8Array(randomBytes(32)) } }
    const on = store()
    const charged = charging()
    const handler = idempotent({ store: on, scope: () => 'alice', sealed: keyring }, charged.work)
    const first = await handler(charge())
    const repeat = await handler(charge())
    expect(repeat.headers.get('idempotent-replayed')).toBe('true')
    expect([repeat.status, await repeat.text()]).toEqual([first.status, await first.text()])
    for await (const record of on.admin.list()) {
      expect('receipt' in record && Buffer.from(record.receipt as Uint8Array).includes('DE89')).toBe(false)
      expect('receipt' in record && (record.receipt as Uint8Array)[0]).toBe(3)
    }
    const lost = { current: 'b', keys: { b: new Uint8Array(randomBytes(32)) } }
    const without = idempotent({ store: on, scope: () => 'alice', sealed: lost }, charged.work)
    expect(await codeOf(await without(charge()))).toBe('replay-unavailable')
    expect(charged.runs).toBe(1)
  })
  it('is what the redaction lets out; the caller of the first request gets it all', async () => {
    const charged = charging()
    const policy = {
      redact: ({ status, headers }: { status: number; headers: readonly (readonly [string, string])[] }) => ({
        status,
        headers,
        body: new TextEncoder().encode('{}'),
      }),
    }
    const handler = idempotent({ store: store(), scope: () => 'alice', policy }, charged.work)
    expect(await (await handler(charge())).text()).toContain('DE89')
    expect(await (await handler(charge())).text()).toBe('{}')
  })
  it('is nothing at all where the redaction fails: the operation stays spent', async () => {
    const charged = charging()
    const policy = {
      redact: () => {
        throw new Error('no template for this answer')
      },
    }
    const handler = idempotent({ store: store(), scope: () => 'alice', policy }, charged.work)
    expect((await handler(charge())).status).toBe(201)
    const repeat = await handler(charge())
    expect([repeat.status, await codeOf(repeat)]).toEqual([409, 'replay-unavailable'])
    expect(charged.runs).toBe(1)
  })
})
