/** The rows settle, forget, expire, sweep and abandon of the protocol's table, and what people see of records. */
import assert from 'node:assert/strict'
import type { KeyRecord } from '../../core/record.ts'
import { keep, neverRuns, text } from './kit.ts'
import type { Rule } from './rule.ts'

const by = { who: 'contract', why: 'a test' } as const
const hold = { kind: 'hold', why: 'the provider did not answer' } as const
const retry = { kind: 'retry', why: 'a timeout' } as const

export const adminRules: readonly Rule[] = [
  {
    rule: '§1',
    title: 'a record is found by its name and by its id',
    async run({ operation, attempt, store }) {
      const charge = operation({ name: 'POST /charges' })
      assert.equal(await store.admin.find(charge), undefined)
      await attempt(charge, () => hold)
      const seen = await store.admin.find(charge)
      assert.ok(seen)
      assert.equal(seen.state, 'unknown')
      assert.deepEqual(seen.scope, charge.scope)
      assert.deepEqual([seen.key, seen.name, seen.why], [charge.key, 'POST /charges', hold.why])
      assert.deepEqual(await store.admin.find({ id: seen.id }), seen)
    },
  },
  {
    rule: '§1',
    title: 'records are listed by state, in pages, and counted',
    report: 'LanternOps/breeze#4095',
    async run({ operation, attempt, store, capabilities }) {
      const before = await store.admin.stats()
      for (let n = 0; n < 3; n++) await attempt(operation())
      for (let n = 0; n < 5; n++) await attempt(operation(), () => hold)
      const open = capabilities.mode === 'lease' ? 2 : 0
      for (let n = 0; n < open; n++) await attempt(operation(), () => retry)
      const after = await store.admin.stats()
      assert.equal(after.finished - before.finished, 3)
      assert.equal(after.unknown - before.unknown, 5)
      assert.equal(after.open - before.open, open)

      const pages: KeyRecord[] = []
      for (let last: KeyRecord | undefined; ; ) {
        const page = await all(store.admin.list({ state: 'unknown', limit: 2, ...(last ? { after: last.id } : {}) }))
        assert.ok(page.length <= 2)
        last = page.at(-1)
        if (!last) break
        pages.push(...page)
      }
      assert.equal(pages.length, after.unknown)
      assert.equal(new Set(pages.map(({ id }) => id)).size, pages.length)
      assert.deepEqual(
        pages.map(({ id }) => id),
        pages.map(({ id }) => id).sort(),
      )
      assert.ok(pages.every(({ state, key }) => state === 'unknown' && key !== undefined))
    },
  },
  {
    rule: '§1',
    title: 'an unknown outcome that is settled as finished is replayed',
    report: 'KeeperHub/keeperhub#2373',
    needs: ['audited changes'],
    async run({ operation, attempt, store }) {
      const charge = operation()
      await attempt(charge, () => hold)
      const seen = await store.admin.find(charge)
      assert.ok(seen)
      assert.equal(await store.admin.settle(seen, { kind: 'finished', receipt: text('it did happen') }, by), 'done')
      const repeat = await attempt(charge, neverRuns)
      assert.deepEqual(repeat.kind === 'finished' && repeat.record.receipt, text('it did happen'))
      assert.equal((await attempt({ ...charge, fingerprints: ['another body'] }, neverRuns)).kind, 'mismatch')
    },
  },
  {
    rule: '§1',
    title: 'an unknown outcome that is settled as free or retry runs again, once',
    needs: ['audited changes'],
    async run({ operation, attempt, store }) {
      for (const kind of ['free', 'retry'] as const) {
        const charge = operation()
        await attempt(charge, () => hold)
        const seen = await store.admin.find(charge)
        assert.ok(seen)
        assert.equal(await store.admin.settle(seen, { kind }, by), 'done')
        if (kind === 'retry')
          assert.equal((await attempt({ ...charge, fingerprints: ['another body'] }, neverRuns)).kind, 'mismatch')
        assert.deepEqual(await attempt(charge), { kind: 'won', fate: 'kept' })
        assert.equal((await attempt(charge, neverRuns)).kind, 'finished')
      }
    },
  },
  {
    rule: '§1',
    title: 'settling compares first: what has changed since it was seen stays as it is',
    report: 'brandur/sorg#268',
    needs: ['audited changes'],
    async run({ operation, attempt, store }) {
      const charge = operation()
      await attempt(charge, () => hold)
      const seen = await store.admin.find(charge)
      assert.ok(seen)
      assert.equal(await store.admin.settle(seen, { kind: 'free' }, by), 'done')
      await attempt(charge, () => keep(text('the answer')))
      for (const as of [{ kind: 'free' }, { kind: 'retry' }, { kind: 'finished', receipt: text('another') }] as const) {
        const now = await store.admin.settle(seen, as, by)
        assert.ok(now !== 'done' && now?.state === 'finished', JSON.stringify(as))
      }
      const finished = await store.admin.find(charge)
      assert.ok(finished)
      assert.notEqual(await store.admin.settle(finished, { kind: 'free' }, by), 'done')
      const repeat = await attempt(charge, neverRuns)
      assert.deepEqual(repeat.kind === 'finished' && repeat.record.receipt, text('the answer'))
    },
  },
  {
    rule: '§1',
    title: 'a running record cannot be settled, and its owner is not disturbed by who tried',
    mode: 'lease',
    async run({ operation, own, store }) {
      const charge = operation()
      const owner = await own(charge)
      const seen = await store.admin.find(charge)
      assert.equal(seen?.state, 'running')
      assert.notEqual(await store.admin.settle(seen, { kind: 'free' }, by), 'done')
      assert.deepEqual(await owner.end(keep()), { kind: 'won', fate: 'kept' })
    },
  },
  {
    rule: '§1',
    title: 'forgetting takes force where something may be going on, and compares first',
    needs: ['audited changes'],
    async run({ operation, attempt, store }) {
      const finished = operation()
      const unknown = operation()
      await attempt(finished)
      await attempt(unknown, () => hold)
      const one = await store.admin.find(finished)
      const two = await store.admin.find(unknown)
      assert.ok(one && two)
      assert.equal(await store.admin.forget(one, by), 'done')
      assert.equal(await store.admin.find(finished), undefined)
      assert.equal((await attempt(finished)).kind, 'won')
      const refused = await store.admin.forget(two, by)
      assert.ok(refused !== 'done' && refused?.state === 'unknown')
      assert.equal(await store.admin.forget(two, { ...by, force: true }), 'done')
      await attempt(unknown)
      assert.notEqual(await store.admin.forget(two, { ...by, force: true }), 'done')
      assert.equal((await attempt(unknown, neverRuns)).kind, 'finished')
    },
  },
  {
    rule: '§1',
    title: 'a sweep removes what is past its end and nothing else, in batches, as often as one likes',
    report: 'Pulsefy/Soter#1137',
    async run({ operation, attempt, own, pass, store }) {
      const kept = operation()
      const unknown = operation()
      const running = operation()
      await attempt(kept)
      await attempt(unknown, () => hold, { policy: { retain: 1 } })
      const owner = await own(running, { policy: { retain: 1, lease: '10m' } })
      for (let n = 0; n < 5; n++) await attempt(operation(), () => keep(), { policy: { retain: 100 } })
      await pass(200)
      const first = await store.admin.sweep({ batch: 2, pauseMs: 0 })
      assert.equal(first.removed, 5)
      assert.equal((await store.admin.sweep()).removed, 0)
      assert.equal((await attempt(kept, neverRuns)).kind, 'finished')
      assert.equal((await attempt(unknown, neverRuns)).kind, 'unknown')
      assert.equal((await attempt(running, neverRuns)).kind, 'busy')
      await owner.end({ kind: 'free' })
    },
  },
  {
    rule: '§1',
    title: 'a sweep abandons running records past their lease, and their owner may still finish',
    mode: 'lease',
    needs: ['vanishing owners'],
    async run({ operation, attempt, ownSilently, pass, leaseMs, store }) {
      const taken = operation()
      const held = operation()
      const owners = [
        await ownSilently(taken),
        await ownSilently(held, { policy: { after: { onFailure: 'hold', onAbandoned: 'hold' } } }),
      ]
      assert.equal((await store.admin.sweep()).abandoned, 0)
      await pass(leaseMs + 1)
      assert.equal((await store.admin.sweep()).abandoned, 2)
      assert.equal((await store.admin.find(taken))?.state, 'open')
      assert.equal((await store.admin.find(held))?.state, 'unknown')
      for (const owner of owners) assert.deepEqual(await owner.end(keep()), { kind: 'won', fate: 'kept' })
      assert.equal((await attempt(held, neverRuns)).kind, 'finished')
    },
  },
]

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}
