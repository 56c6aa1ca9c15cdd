/** What is kept comes back: any bytes, nothing at all, and never a second run because the answer is missing or unreadable. */
import assert from 'node:assert/strict'
import { once } from '../../core/once.ts'
import { pack } from '../../core/receipt.ts'
import type { Receipt } from '../../core/record.ts'
import { bytes, type Kit, keep, neverRuns, text } from './kit.ts'
import type { Rule } from './rule.ts'

const MEBIBYTE = 1_048_576

export const receiptRules: readonly Rule[] = [
  {
    rule: 'S1',
    title: 'a receipt of any bytes, up to 1 MiB, comes back as it was',
    async run({ operation, attempt, store }) {
      const largest = Math.min(store.maxBytes ?? MEBIBYTE, MEBIBYTE)
      const large = Uint8Array.from({ length: largest }, (_, at) => (at * 31 + (at >> 8)) % 256)
      const every = Uint8Array.from({ length: 256 }, (_, at) => at)
      for (const receipt of [bytes(), bytes(0), every, text('ünïcode \u0000 \u{1f4b6}'), large]) {
        const charge = operation()
        assert.deepEqual(await attempt(charge, () => keep(receipt)), { kind: 'won', fate: 'kept' })
        const repeat = await attempt(charge, neverRuns)
        assert.ok(repeat.kind === 'finished' && repeat.record.receipt)
        assert.ok(equal(repeat.record.receipt, receipt), `${receipt.length} bytes came back changed`)
      }
    },
  },
  {
    rule: 'S1',
    title: 'what a caller does to its bytes afterwards changes no record',
    async run({ operation, attempt }) {
      const charge = operation()
      const receipt = text('first')
      await attempt(charge, () => keep(receipt))
      receipt.fill(0)
      for (const _ of [1, 2]) {
        const repeat = await attempt(charge, neverRuns)
        assert.ok(repeat.kind === 'finished')
        assert.deepEqual(repeat.record.receipt, text('first'))
        repeat.record.receipt?.fill(0)
      }
    },
  },
  {
    rule: 'S1',
    title: 'an operation whose answer was not kept stays spent, and says why',
    report: 'aws-powertools/powertools-lambda-typescript#2944',
    async run({ operation, attempt }) {
      const charge = operation()
      const head = bytes(1, 2, 3)
      assert.deepEqual(await attempt(charge, () => ({ kind: 'spend', why: 'too-large', head })), {
        kind: 'won',
        fate: 'spent',
      })
      const repeat = await attempt(charge, neverRuns)
      assert.ok(repeat.kind === 'finished')
      assert.equal(repeat.record.receipt, undefined)
      assert.equal(repeat.record.why, 'too-large')
      assert.deepEqual(repeat.record.head, head)
    },
  },
  {
    rule: 'S1',
    title: 'work that returns nothing runs once, and the repeat is a replay of nothing',
    report: 'aws-powertools/powertools-lambda-typescript#2505',
    async run({ operation, store }) {
      const charge = operation()
      let runs = 0
      const work = async () => {
        runs++
      }
      assert.deepEqual(await once(store, charge, work), { kind: 'ran', value: undefined, fate: 'kept' })
      const repeat = await once(store, charge, work)
      assert.equal(repeat.kind, 'replayed')
      assert.equal(repeat.kind === 'replayed' && repeat.value, undefined)
      assert.equal(runs, 1)
    },
  },
  {
    rule: 'S7',
    title: 'an answer that cannot be read is not kept: never run, never busy',
    report: 'paveg/hono-idempotency#92',
    async run(kit) {
      for (const receipt of [bytes(), bytes(127, 1, 2), pack('value', text('{'))]) await isNotKept(kit, receipt)
    },
  },
  {
    rule: 'S7',
    title: 'a state that this build does not know is not kept: never run, never busy',
    needs: ['damage'],
    async run({ operation, attempt, store, damage }) {
      const charge = operation()
      await attempt(charge)
      const seen = await store.admin.find(charge)
      assert.ok(seen)
      await damage(seen.id)
      const repeat = await attempt(charge, neverRuns)
      assert.equal(repeat.kind, 'finished')
      assert.equal(repeat.kind === 'finished' && repeat.record.receipt, undefined)
    },
  },
  {
    rule: 'S1',
    title: 'records outlive their store',
    needs: ['reopen'],
    async run({ operation, attempt, reopen }) {
      const finished = operation()
      const unknown = operation()
      await attempt(finished, () => keep(text('ch_1')))
      await attempt(unknown, () => ({ kind: 'hold', why: 'nobody knows' }))
      const store = await reopen()
      const repeat = await attempt(finished, neverRuns, { store })
      assert.deepEqual(repeat.kind === 'finished' && repeat.record.receipt, text('ch_1'))
      assert.equal((await attempt(unknown, neverRuns, { store })).kind, 'unknown')
    },
  },
]

async function isNotKept({ operation, attempt, store }: Kit, receipt: Receipt): Promise<void> {
  const charge = operation()
  await attempt(charge, () => keep(receipt))
  let runs = 0
  const repeat = await once(store, charge, async () => ++runs)
  assert.equal(repeat.kind, 'not-kept')
  assert.equal(runs, 0)
}

function equal(one: Uint8Array, two: Uint8Array): boolean {
  return one.length === two.length && one.every((byte, at) => byte === two[at])
}
