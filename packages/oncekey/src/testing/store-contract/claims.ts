/** S2, S3 and §5: one winner, whose claim survives a lost reply; and fences that only ever grow. */
import assert from 'node:assert/strict'
import { monotonic, sleep } from '../../core/clock.ts'
import { isOncekeyError } from '../../core/errors.ts'
import { type Kit, keep, neverRuns } from './kit.ts'
import type { Rule } from './rule.ts'

export const claimRules: readonly Rule[] = [
  {
    rule: 'S2',
    title: 'fifty parallel claims have one winner, and no loser fails, twenty times over',
    report: 'idempot-dev/idempot-js#182',
    async run({ operation, attempt, another, store, capabilities }) {
      const stores = capabilities.several ? [store, await another()] : [store]
      for (let round = 0; round < 20; round++) {
        // A store in memory answers without ever letting timers have their turn.
        await sleep(0)
        const charge = operation()
        let runs = 0
        const work = () => {
          runs++
          return keep()
        }
        const attempts = Array.from({ length: 50 }, (_, at) => {
          const chosen = stores[at % stores.length]
          return attempt(charge, work, chosen ? { store: chosen } : {})
        })
        const answers = (await Promise.all(attempts)).map(({ kind }) => kind)
        assert.equal(runs, 1)
        assert.equal(answers.filter((kind) => kind === 'won').length, 1)
        for (const kind of answers) assert.ok(['won', 'busy', 'finished'].includes(kind), kind)
      }
    },
  },
  {
    rule: 'S2',
    title: 'a claim whose reply is lost is sent again, finds its own token and has won',
    mode: 'lease',
    needs: ['faults'],
    async run({ operation, attempt, faults }) {
      faults.befall('claim', 'lose', 2)
      assert.deepEqual(await attempt(operation()), { kind: 'won', fate: 'kept' })
    },
  },
  {
    rule: 'S2',
    title: 'a claim that never arrived is sent again',
    mode: 'lease',
    needs: ['faults'],
    async run({ operation, attempt, faults }) {
      faults.befall('claim', 'refuse', 2)
      assert.deepEqual(await attempt(operation()), { kind: 'won', fate: 'kept' })
    },
  },
  {
    rule: 'S2',
    title: 'a store that hangs is unavailable within a second or so, and its work does not run later',
    report: 'VilledeMontreal/express-idempotency#33',
    mode: 'lease',
    needs: ['faults'],
    async run(kit) {
      await kit.fresh({ claimMs: 250 })
      const { operation, attempt, faults } = kit
      const charge = operation()
      faults.befall('claim', 'hang')
      const asked = monotonic()
      await assert.rejects(attempt(charge, neverRuns), (error) => isOncekeyError(error, 'STORE_UNAVAILABLE'))
      assert.ok(monotonic() - asked < 5_000)
      // The claim arrives after all, and is given back: the key is nobody's.
      faults.mend()
      await eventually(async () => (await attempt(charge)).kind === 'won')
    },
  },
  {
    rule: 'S2',
    title: 'a store that fails every claim is unavailable, and nothing runs',
    report: 'langfuse/langfuse#15463',
    mode: 'lease',
    needs: ['faults'],
    async run(kit) {
      await kit.fresh({ claimMs: 250 })
      const { operation, attempt, faults } = kit
      faults.befall('claim', 'refuse', 10_000)
      await assert.rejects(attempt(operation(), neverRuns), (error) => isOncekeyError(error, 'STORE_UNAVAILABLE'))
    },
  },
  {
    rule: 'S2',
    title: 'the same execution enters again, in another process, with the same fence',
    report: 'aws-powertools/powertools-lambda-python#8049',
    mode: 'lease',
    needs: ['several'],
    async run({ operation, attempt, own, another }) {
      const step = operation({ execution: 'run-7' })
      const first = await own(step)
      const elsewhere = await another()
      assert.equal((await attempt({ ...step, execution: 'run-8' }, neverRuns, { store: elsewhere })).kind, 'busy')
      const again = await own(step, { store: elsewhere })
      assert.equal(fenceOf(again.grant), fenceOf(first.grant))
      assert.deepEqual(await again.end(keep()), { kind: 'won', fate: 'kept' })
    },
  },
  {
    rule: 'S2',
    title: 'two live callers under one execution are refused in one process',
    mode: 'lease',
    async run({ operation, attempt, own }) {
      const step = operation({ execution: 'run-7' })
      const first = await own(step)
      await assert.rejects(attempt(step, neverRuns), (error) => isOncekeyError(error, 'EXECUTION_LIVE'))
      assert.deepEqual(await first.end({ kind: 'retry', why: 'interrupted' }), { kind: 'won', fate: 'reopened' })
      assert.deepEqual(await attempt(step), { kind: 'won', fate: 'kept' })
    },
  },
  {
    rule: 'S3',
    title: 'every claim of a key has a greater fence than the one before',
    mode: 'lease',
    needs: ['audited changes'],
    async run(kit) {
      const charge = kit.operation()
      const fences: bigint[] = []
      for (const end of ['retry', 'free', 'free', 'retry', 'free'] as const) {
        await kit.attempt(charge, (grant) => {
          fences.push(fenceOf(grant))
          return end === 'free' ? { kind: 'free' } : { kind: 'retry', why: 'again' }
        })
      }
      const vanished = await kit.own(charge)
      fences.push(fenceOf(vanished.grant))
      await forget(kit, charge)
      const last = await kit.own(charge)
      fences.push(fenceOf(last.grant))
      for (const [at, fence] of fences.entries())
        if (at > 0) assert.ok(fence > (fences[at - 1] ?? 0n), `fence ${fence} after ${fences[at - 1]}`)
    },
  },
]

export function fenceOf(grant: object): bigint {
  assert.ok('fence' in grant && typeof grant.fence === 'bigint', 'the grant has no fence')
  return grant.fence
}

async function forget({ store }: Kit, charge: ReturnType<Kit['operation']>): Promise<void> {
  const seen = await store.admin.find(charge)
  assert.ok(seen)
  assert.equal(await store.admin.forget(seen, { who: 'contract', why: 'to see the next fence', force: true }), 'done')
}

/** For what happens behind the caller's back: asked again and again, for two seconds. */
export async function eventually(holds: () => Promise<boolean>): Promise<void> {
  const until = monotonic() + 2_000
  while (!(await holds())) {
    if (monotonic() > until) assert.fail('it did not come true within two seconds')
    await sleep(20)
  }
}
