/** S5 and §1: what stays of an answer once it is over or erased, and sweeps that are bounded, resumed and alone. */
import assert from 'node:assert/strict'
import { sleep } from '../../core/clock.ts'
import type { KeyRecord } from '../../core/record.ts'
import type { Attempted, Swept, Verdict } from '../../core/store.ts'
import { bytes, type Kit, keep, neverRuns, text } from './kit.ts'
import type { Rule } from './rule.ts'

const by = { who: 'contract', why: 'a test' } as const
const HEAD = bytes(2, 1, 0, 3)
const keepWithHead = (): Verdict => ({ kind: 'keep', receipt: text('the answer'), writes: 'commit', head: HEAD })
const another = { fingerprints: ['another body'] } as const

export const retentionRules: readonly Rule[] = [
  {
    rule: 'S5',
    title: 'a tombstone outlives the answer: the key stays bound to its request, and nothing runs again',
    async run({ operation, attempt, pass }) {
      const charge = operation()
      const policy = { retain: 200, tombstone: '1h' } as const
      await attempt(charge, keepWithHead, { policy })
      const first = await attempt(charge, neverRuns)
      assert.ok(first.kind === 'finished')
      assert.deepEqual(first.record.receipt, text('the answer'))
      assert.equal(first.record.head, undefined)
      await pass(400)
      isGone(await attempt(charge, neverRuns), 'expired', HEAD)
      assert.equal((await attempt({ ...charge, ...another }, neverRuns)).kind, 'mismatch')
    },
  },
  {
    rule: 'S5',
    title: 'a tombstone ends: then the key is free for another request',
    async run({ operation, attempt, pass }) {
      const charge = operation()
      await attempt(charge, keepWithHead, { policy: { retain: 50, tombstone: 150 } })
      await pass(400)
      assert.equal((await attempt({ ...charge, ...another })).kind, 'won')
    },
  },
  {
    rule: 'S5',
    title: 'a key whose answer was not kept is bound for as long as one whose answer leaves a tombstone',
    async run({ operation, attempt, pass }) {
      const charge = operation()
      const policy = { retain: 200, tombstone: '1h' } as const
      await attempt(charge, () => ({ kind: 'spend', why: 'too-large', head: HEAD }), { policy })
      await pass(400)
      isGone(await attempt(charge, neverRuns), 'too-large', HEAD)
      assert.equal((await attempt({ ...charge, ...another }, neverRuns)).kind, 'mismatch')
    },
  },
  {
    rule: 'S5',
    title: 'answer and tombstone end at their instants, and not before',
    needs: ['moved clock'],
    async run({ operation, attempt, pass, retainMs }) {
      const charge = operation()
      await attempt(charge, keepWithHead, { policy: { tombstone: 5_000 } })
      await pass(retainMs - 1)
      const last = await attempt(charge, neverRuns)
      assert.ok(last.kind === 'finished' && last.record.receipt !== undefined)
      await pass(1)
      isGone(await attempt(charge, neverRuns), 'expired', HEAD)
      await pass(4_999)
      isGone(await attempt(charge, neverRuns), 'expired', HEAD)
      await pass(1)
      assert.deepEqual(await attempt(charge), { kind: 'won', fate: 'kept' })
    },
  },
  {
    rule: 'S5',
    title: 'a sweep takes the answer and leaves the tombstone, whether a body is large, empty or none of ours',
    async run({ operation, attempt, pass, store }) {
      await sweepAll(store)
      const receipts = [text('short'), bytes(), bytes(0, 0, 1), new Uint8Array(100_000).fill(7)]
      const charges = receipts.map(() => operation())
      for (const [at, receipt] of receipts.entries()) {
        const work = (): Verdict => ({ kind: 'keep', receipt, writes: 'commit', head: HEAD })
        await attempt(charges[at] ?? operation(), work, { policy: { retain: 100, tombstone: '1h' } })
      }
      await pass(300)
      const swept = await sweepAll(store)
      assert.deepEqual([swept.expired, swept.removed], [receipts.length, 0])
      for (const charge of charges) {
        isGone(await attempt(charge, neverRuns), 'expired', HEAD)
        assert.equal((await attempt({ ...charge, ...another }, neverRuns)).kind, 'mismatch')
      }
      assert.equal((await sweepAll(store)).expired, 0)
    },
  },
  {
    rule: 'S5',
    title: 'what a sweep left of an answer is removed when its tombstone ends',
    needs: ['moved clock'],
    async run({ operation, attempt, pass, retainMs, store }) {
      const charge = operation()
      await attempt(charge, keepWithHead, { policy: { tombstone: 5_000 } })
      await pass(retainMs)
      assert.equal((await sweepAll(store)).expired, 1)
      await pass(4_999)
      isGone(await attempt(charge, neverRuns), 'expired', HEAD)
      await pass(1)
      assert.equal(await store.admin.find(charge), undefined)
      assert.equal((await sweepAll(store)).removed, 1)
    },
  },
  {
    rule: '§1',
    title: 'an erased answer is gone, its key stays bound, and nothing runs again',
    needs: ['audited changes'],
    async run({ operation, attempt, store }) {
      for (const policy of [{}, { tombstone: '1h' }] as const) {
        const charge = operation()
        await attempt(charge, keepWithHead, { policy })
        const seen = await found(store, charge)
        assert.equal(await store.admin.erase(seen, by), 'done')
        isGone(await attempt(charge, neverRuns), 'erased')
        assert.equal((await attempt({ ...charge, ...another }, neverRuns)).kind, 'mismatch')
        assert.notEqual(await store.admin.erase(seen, by), 'done')
        isGone(await attempt(charge, neverRuns), 'erased')
      }
    },
  },
  {
    rule: '§1',
    title: 'an erased answer keeps its key bound until its last end, and no longer',
    needs: ['audited changes', 'moved clock'],
    async run({ operation, attempt, pass, retainMs, store }) {
      const charge = operation()
      await attempt(charge, keepWithHead, { policy: { tombstone: 5_000 } })
      assert.equal(await store.admin.erase(await found(store, charge), by), 'done')
      await pass(retainMs + 4_999)
      isGone(await attempt(charge, neverRuns), 'erased')
      await pass(1)
      assert.equal((await attempt(charge)).kind, 'won')
    },
  },
  {
    rule: '§1',
    title: 'only an answer can be erased: what is not finished, or not there, is told and left alone',
    async run({ operation, attempt, store }) {
      const charge = operation()
      await attempt(charge, () => ({ kind: 'hold', why: 'a timeout' }))
      const seen = await found(store, charge)
      const told = await store.admin.erase(seen, by)
      assert.ok(told !== 'done' && told?.state === 'unknown')
      assert.equal((await attempt(charge, neverRuns)).kind, 'unknown')
      assert.equal(await store.admin.erase({ ...seen, id: '0'.repeat(32), state: 'finished' }, by), undefined)
    },
  },
  {
    rule: '§1',
    title: 'a bounded sweep stops early, and the next one goes on from there',
    async run({ operation, attempt, pass, store }) {
      await sweepAll(store)
      for (let n = 0; n < 12; n++) await attempt(operation(), () => keep(), { policy: { retain: 50 } })
      await pass(200)
      let removed = 0
      let calls = 0
      for (let complete = false; !complete; calls++) {
        assert.ok(calls < 50, 'the sweep does not come to an end')
        const swept = await store.admin.sweep({ batch: 2, pauseMs: 0, limit: 4 })
        removed += swept.removed
        complete = swept.complete
      }
      assert.equal(removed, 12)
      assert.ok(calls > 1, 'one call did it all')
    },
  },
  {
    rule: '§1',
    title: 'one sweep runs at a time, and whoever comes second is told so',
    needs: ['several'],
    async run({ operation, attempt, another, pass, store }) {
      await sweepAll(store)
      for (let n = 0; n < 8; n++) await attempt(operation(), () => keep(), { policy: { retain: 20 } })
      await pass(100)
      const second = await another()
      const first = store.admin.sweep({ batch: 1, pauseMs: 150 })
      let told: Pick<Swept, 'elsewhere'> = {}
      // The first one may not have begun when the second is through with its part: that one comes again.
      for (let tries = 0; tries < 5 && !told.elsewhere; tries++) {
        if (tries > 0) await sleep(30)
        told = await second.admin.sweep({ batch: 1, pauseMs: 0, limit: 1 })
      }
      // Or it begins in the midst of that part, and comes second itself.
      if (!told.elsewhere) told = await first
      assert.equal(told.elsewhere, true)
      await first
      assert.equal((await sweepAll(second)).elsewhere, undefined)
    },
  },
]

function isGone(repeat: Attempted, why: string, head?: Uint8Array): void {
  assert.ok(repeat.kind === 'finished', repeat.kind)
  const { record } = repeat
  assert.deepEqual([record.receipt, record.why], [undefined, why])
  assert.deepEqual(record.head && [...record.head], head && [...head])
}

async function found({ admin }: Kit['store'], what: Parameters<typeof admin.find>[0]): Promise<KeyRecord> {
  const record = await admin.find(what)
  assert.ok(record)
  return record
}

/** A whole sweep, in case an earlier rule left one half-way. */
async function sweepAll({ admin }: Kit['store']): Promise<Omit<Swept, 'complete'>> {
  const total = { removed: 0, expired: 0, abandoned: 0 }
  for (let calls = 0; calls < 100; calls++) {
    const swept = await admin.sweep({ pauseMs: 0 })
    if (swept.elsewhere) return { ...total, elsewhere: swept.elsewhere }
    total.removed += swept.removed
    total.expired += swept.expired
    total.abandoned += swept.abandoned
    if (swept.complete) return total
  }
  return assert.fail('the sweep does not come to an end')
}
