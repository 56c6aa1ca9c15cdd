/** The engine: one run, one answer, and what is told when the work fails or its answer cannot be kept. */
import { describe, expect, test } from 'vitest'
import { memory } from '../stores/memory.ts'
import { sleep } from './clock.ts'
import { once } from './once.ts'
import { databaseOnly, downstreamDoesNot, type Policy } from './policy.ts'
import { type Codec, pack, valueCodec } from './receipt.ts'
import type { Attempted, Grant, Store } from './store.ts'

let keys = 0
const operation = () => ({ scope: 'acct_1', key: `k-${++keys}`, fingerprints: ['body'] as const })

/** A store in transaction mode that always lets the work run, and shows what it was asked to do. */
function recording(mode: Store['mode'] = 'transaction') {
  const verdicts: unknown[] = []
  const store = {
    name: 'recording',
    mode,
    defaults: {},
    async attempt(operation, _, work): Promise<Attempted> {
      const verdict = await work({ operation, signal: new AbortController().signal, childKey: () => '' })
      verdicts.push(verdict)
      const fates = { keep: 'kept', spend: 'spent', free: 'freed', retry: 'reopened', hold: 'held' } as const
      return { kind: 'won', fate: fates[verdict.kind] }
    },
    admin: {} as Store['admin'],
    async [Symbol.asyncDispose]() {},
  } satisfies Store<Grant>
  return { store, verdicts }
}

describe('a name that is none', () => {
  test('is refused before the store is asked', async () => {
    const { store, verdicts } = recording()
    const nameless = { ...operation(), scope: '' }
    await expect(once(store, nameless, async () => 1)).rejects.toMatchObject({ code: 'INVALID_SCOPE' })
    expect(verdicts).toEqual([])
  })
})

describe('work that throws', () => {
  const fails = async () => {
    throw new Error('declined')
  }
  test('frees the key in transaction mode, and its error reaches the caller', async () => {
    const { store, verdicts } = recording()
    await expect(once(store, operation(), fails)).rejects.toThrow('declined')
    expect(verdicts).toEqual([{ kind: 'free' }])
  })
  test('does in lease mode what the policy says', async () => {
    for (const [after, verdict] of [
      [databaseOnly, { kind: 'free' }],
      [downstreamDoesNot, { kind: 'hold', why: 'the work threw' }],
    ] as const) {
      const { store, verdicts } = recording('lease')
      await expect(once(store, operation(), fails, { policy: { after } })).rejects.toThrow('declined')
      expect(verdicts).toEqual([verdict])
    }
  })
  test('before it has given a promise is work that throws', async () => {
    const { store, verdicts } = recording('lease')
    const throwsAtOnce = () => {
      throw new Error('at once')
    }
    await expect(once(store, operation(), throwsAtOnce, { policy: { after: databaseOnly } })).rejects.toThrow('at once')
    expect(verdicts).toEqual([{ kind: 'free' }])
  })
  test('keeps its answer where the policy makes one of it, and is thrown all the same', async () => {
    await using store = memory(downstreamDoesNot)
    const declined = operation()
    const policy: Policy<string> = {
      judge: () => 'keep',
      fromError: (e) => `${e}`,
    }
    await expect(once<string, Grant>(store, declined, fails, { policy })).rejects.toThrow('declined')
    expect(await once<string, Grant>(store, declined, fails, { policy })).toMatchObject({
      kind: 'replayed',
      value: 'Error: declined',
    })
  })
  test('and is kept without an answer is spent', async () => {
    const { store, verdicts } = recording('lease')
    await expect(once(store, operation(), fails, { policy: { judge: () => 'keep' } })).rejects.toThrow('declined')
    expect(verdicts).toEqual([{ kind: 'spend', why: 'not-kept' }])
  })
})

describe('the judge', () => {
  test.each([
    ['keep', { kind: 'keep', writes: 'commit' }],
    ['keep-undone', { kind: 'keep', writes: 'undo' }],
    ['spend', { kind: 'spend', why: 'not-kept' }],
    ['free', { kind: 'free' }],
    ['retry', { kind: 'retry' }],
    ['hold', { kind: 'hold' }],
  ] as const)('that says %s is obeyed', async (judgement, verdict) => {
    const { store, verdicts } = recording('lease')
    await once(store, operation(), async () => 1, { policy: { judge: () => judgement } })
    expect(verdicts).toMatchObject([verdict])
  })
  test('that throws has not judged: the caller gets its error, never an answer that was undone', async () => {
    const { store, verdicts } = recording()
    const policy = {
      judge: () => {
        throw new Error('a bug in the judge')
      },
    }
    await expect(once(store, operation(), async () => 1, { policy })).rejects.toThrow('a bug in the judge')
    expect(verdicts).toEqual([{ kind: 'free' }])
  })
  test('that holds drops the value: nobody is told an answer that is unknown', async () => {
    await using store = memory(databaseOnly)
    const held = operation()
    const outcome = await once(store, held, async () => 1, { policy: { judge: () => 'hold' } })
    expect(outcome).toMatchObject({ kind: 'unknown', record: { key: held.key, state: 'unknown' } })
  })
})

// aws-powertools/powertools-lambda-typescript#2944
describe('an answer that cannot be kept', () => {
  test.each([
    ['unencodable', () => 'a function cannot be kept'],
    ['too-large', 'x'.repeat(300)],
  ] as const)('because it is %s leaves the operation spent: it is never run again', async (why, value) => {
    await using store = memory(databaseOnly)
    const charge = operation()
    let charges = 0
    const work = async (): Promise<unknown> => {
      charges++
      return typeof value === 'string' ? crypto.getRandomValues(new Uint8Array(400)) : value
    }
    const policy = { maxBytes: 100 }
    expect(await once<unknown, Grant>(store, charge, work, { policy })).toMatchObject({ kind: 'ran', fate: 'spent' })
    expect(await once<unknown, Grant>(store, charge, work, { policy })).toMatchObject({
      kind: 'not-kept',
      record: { why },
    })
    expect(charges).toBe(1)
  })
  test('leaves what little its codec gives', async () => {
    const { store, verdicts } = recording()
    const head = Uint8Array.of(7)
    const codec: Codec<string> = { ...valueCodec<string>(), head: () => head }
    await once(store, operation(), async () => 'long enough', { codec, policy: { maxBytes: 3 } })
    expect(verdicts).toEqual([{ kind: 'spend', why: 'too-large', head }])
  })
  // josipmusa/idempotency4j#15: a lost key of the codec is no reason to run again
  test('because its codec fails later is told, and nothing runs', async () => {
    await using store = memory(databaseOnly)
    const charge = operation()
    await once(store, charge, async () => 1)
    const codec: Codec<number> = {
      encode: () => pack('value', new Uint8Array()),
      decode: () => {
        throw new Error('the key is lost')
      },
    }
    const repeat = await once(store, charge, () => expect.fail('it ran'), { codec })
    expect(repeat.kind).toBe('not-kept')
  })
})

describe('a duplicate that waits', () => {
  test('gets the answer of the first as soon as there is one', async () => {
    await using store = memory(databaseOnly)
    const charge = operation()
    const first = once(store, charge, () => sleep(60).then(() => 'ch_1'))
    const second = await once(store, charge, async () => 'ch_2', { policy: { wait: '10s' } })
    expect(second).toMatchObject({ kind: 'replayed', value: 'ch_1' })
    expect(await first).toMatchObject({ kind: 'ran' })
  })
  test('is told busy when its patience ends', async () => {
    await using store = memory(databaseOnly)
    const charge = operation()
    const first = once(store, charge, () => sleep(200))
    expect(await once(store, charge, async () => {}, { policy: { wait: 30 } })).toMatchObject({ kind: 'busy' })
    await first
  })
  test('is told busy when its caller hangs up, and never runs after that', async () => {
    await using store = memory(databaseOnly)
    const charge = operation()
    const hangUp = new AbortController()
    const first = once(store, charge, () => sleep(40), { policy: { judge: () => 'free' } })
    const second = once(store, charge, () => expect.fail('it ran'), {
      policy: { wait: '10s' },
      signal: hangUp.signal,
    })
    await sleep(5)
    // The key is free by the time that the waiter wakes up.
    const settled = first.then(() => hangUp.abort())
    expect(await second.catch(() => 'ran')).not.toBe('ran')
    await settled
  })
})

test('the last word on a replay is the policy’s', async () => {
  await using store = memory(databaseOnly)
  const payment = operation()
  await once(store, payment, async () => 'pending')
  const policy = { replay: (value: string) => `${value}, now settled` }
  expect(await once(store, payment, async () => 'again', { policy })).toMatchObject({ value: 'pending, now settled' })
})

test('an operation inside itself is refused', async () => {
  await using store = memory(databaseOnly)
  const charge = operation()
  const inner = () => once(store, charge, async () => 1)
  await expect(once(store, charge, inner)).rejects.toMatchObject({ code: 'NESTED_OPERATION' })
})

test('child keys carry the namespace, and are the same on the next attempt', async () => {
  await using store = memory(databaseOnly)
  const charge = operation()
  const seen: string[] = []
  const work = async ({ childKey }: Grant) => void seen.push(childKey('capture'))
  const policy: Policy<void> = { judge: () => 'free' }
  await once(store, charge, work, { policy })
  await once(store, charge, work, { policy })
  await once(store, charge, work, { policy, namespace: 'shop' })
  expect(seen[0]).toBe(seen[1])
  expect(seen[2]).not.toBe(seen[0])
})
