/** I4: a store that was told that its records were restored guesses nothing about what was at work. */
import assert from 'node:assert/strict'
import { once } from '../../core/once.ts'
import type { Store } from '../../core/store.ts'
import { keep, neverRuns } from './kit.ts'
import type { Rule } from './rule.ts'

const by = { who: 'contract', why: 'the backup of last night' } as const

export const restoreRules: readonly Rule[] = [
  {
    rule: 'I4',
    title: 'after a restore running and open records are unknown, and kept answers answer',
    mode: 'lease',
    needs: ['audited changes'],
    async run({ operation, attempt, own, store }) {
      const [finished, open, running] = [operation(), operation(), operation()]
      await attempt(finished)
      await attempt(open, () => ({ kind: 'retry', why: 'a timeout' }))
      const owner = await own(running)
      await during(store, 'run', async ({ unknown }) => {
        assert.equal(unknown, 2)
        assert.equal((await attempt(finished, neverRuns)).kind, 'finished')
        for (const charge of [open, running]) {
          const repeat = await attempt(charge, neverRuns)
          assert.ok(repeat.kind === 'unknown')
          assert.equal(repeat.record.why, 'the store was restored')
        }
      })
      // Its owner, should it live, may still say what happened.
      assert.deepEqual(await owner.end(keep()), { kind: 'won', fate: 'kept' })
      assert.equal((await attempt(running, neverRuns)).kind, 'finished')
    },
  },
  {
    rule: 'I4',
    title: 'a restore is told to whoever opens the store, until it is reconciled',
    needs: ['audited changes', 'several'],
    async run({ another, store }) {
      const before = Date.now() - 600_000
      await during(store, 'refuse', async () => {
        const restored = await (await another()).restored?.()
        assert.equal(restored?.onEpochChange, 'refuse')
        assert.ok(restored.at.getTime() > before, 'its time is not the time of the restore')
      })
      assert.equal(await (await another()).restored?.(), undefined)
      assert.equal(await store.restored?.(), undefined)
    },
  },
  {
    rule: 'I4',
    title: 'after a restore an operation that is not there is run or refused, as the operator said',
    needs: ['audited changes', 'several'],
    async run({ operation, another, store }) {
      for (const onEpochChange of ['run', 'refuse'] as const) {
        await during(store, onEpochChange, async () => {
          const opened = await another()
          const outcome = await once(opened, operation(), async () => 'ran', { policy: { retain: '24h' } })
          assert.equal(outcome.kind, onEpochChange === 'run' ? 'ran' : 'unknown')
          // A key with a time in it, older than the restore: it may have been among what was lost.
          const older = operation({ key: timeOrdered(Date.now() - 86_400_000) })
          const lost = await once(opened, older, async () => 'ran', { policy: { retain: '24h' } })
          assert.equal(lost.kind, 'unknown')
        })
      }
    },
  },
]

/** Ended in any case: the records are shared with the rules that follow. */
async function during(
  { admin }: Store,
  onEpochChange: 'run' | 'refuse',
  body: (done: { readonly unknown: number }) => Promise<void>,
): Promise<void> {
  const done = await admin.restored({ ...by, onEpochChange })
  try {
    await body(done)
  } finally {
    await admin.reconciled(by)
  }
}

/** A UUIDv7 of that time. */
function timeOrdered(at: number): string {
  const time = at.toString(16).padStart(12, '0')
  const tail = Math.floor(Math.random() * 2 ** 48)
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${tail.toString(16).padStart(12, '0')}`
}
