/** L2, L3 and S2: what an owner may do while its lease lasts, once it ran out, and once somebody else has the key. */
import assert from 'node:assert/strict'
import { sleep } from '../../core/clock.ts'
import { isOncekeyError } from '../../core/errors.ts'
import { eventually } from './claims.ts'
import { keep, neverRuns, text } from './kit.ts'
import type { Rule } from './rule.ts'

export const leaseRules: readonly Rule[] = [
  {
    rule: 'L2',
    title: 'beats keep the claim of work that outlives its lease',
    report: 'taskforcesh/bullmq#439',
    mode: 'lease',
    async run({ operation, attempt, own, pass, capabilities }) {
      const charge = operation()
      const lease = capabilities.clock === 'moved' ? 300 : 1_200
      const slow = await own(charge, { policy: { lease } })
      for (let step = 0; step < 6; step++) {
        // Beats go by the owner's clock and the lease by the store's: both go on here, in step.
        if (capabilities.clock === 'moved') await sleep(lease / 3 + 10)
        await pass(lease / 3 + 10)
        assert.equal((await attempt(charge, neverRuns)).kind, 'busy')
      }
      assert.deepEqual(await slow.end(keep()), { kind: 'won', fate: 'kept' })
    },
  },
  {
    rule: 'L3',
    title: 'of two takers of an abandoned claim one wins',
    report: 'VilledeMontreal/express-idempotency#32',
    mode: 'lease',
    needs: ['vanishing owners'],
    async run({ operation, attempt, ownSilently, pass, leaseMs }) {
      const charge = operation()
      await ownSilently(charge)
      await pass(leaseMs + 1)
      const answers = await Promise.all([attempt(charge), attempt(charge), attempt(charge)])
      assert.equal(answers.filter(({ kind }) => kind === 'won').length, 1)
    },
  },
  {
    rule: 'L3',
    title: "the answer of an owner that was taken over is refused, and it is told the new owner's",
    report: 'KanishJebaMathewM/Truxify#5912',
    mode: 'lease',
    needs: ['vanishing owners'],
    async run({ operation, attempt, ownSilently, pass, leaseMs }) {
      const charge = operation()
      const old = await ownSilently(charge)
      await pass(leaseMs + 1)
      assert.deepEqual(await attempt(charge, () => keep(text('new'))), { kind: 'won', fate: 'kept' })
      const late = await old.end(keep(text('old')))
      assert.ok(late.kind === 'finished' && late.afterWork, late.kind)
      assert.deepEqual(late.record.receipt, text('new'))
      const repeat = await attempt(charge, neverRuns)
      assert.deepEqual(repeat.kind === 'finished' && repeat.record.receipt, text('new'))
    },
  },
  {
    rule: 'L3',
    title: 'the answer of an owner that was taken over is refused while the new owner is at work',
    mode: 'lease',
    needs: ['vanishing owners'],
    async run({ operation, attempt, ownSilently, pass, leaseMs }) {
      const charge = operation()
      const old = await ownSilently(charge)
      await pass(leaseMs + 1)
      const taker = await ownSilently(charge)
      const late = await old.end(keep(text('old')))
      assert.ok(late.kind === 'busy' && late.afterWork, late.kind)
      assert.deepEqual(await taker.end(keep(text('new'))), { kind: 'won', fate: 'kept' })
      const repeat = await attempt(charge, neverRuns)
      assert.deepEqual(repeat.kind === 'finished' && repeat.record.receipt, text('new'))
    },
  },
  {
    rule: 'L3',
    title: 'the release of an owner that was taken over frees nothing',
    report: 'KanishJebaMathewM/Truxify#4623',
    mode: 'lease',
    needs: ['vanishing owners'],
    async run({ operation, attempt, ownSilently, pass, leaseMs }) {
      for (const verdict of [{ kind: 'free' }, { kind: 'retry', why: 'a timeout' }] as const) {
        const charge = operation()
        const old = await ownSilently(charge)
        await pass(leaseMs + 1)
        const taker = await ownSilently(charge)
        const late = await old.end(verdict)
        assert.ok(late.kind === 'busy' && late.afterWork, late.kind)
        assert.equal((await attempt(charge, neverRuns)).kind, 'busy')
        assert.deepEqual(await taker.end(keep()), { kind: 'won', fate: 'kept' })
      }
    },
  },
  {
    rule: 'L3',
    title: 'an owner that was taken over cannot declare the outcome unknown',
    mode: 'lease',
    needs: ['vanishing owners'],
    async run({ operation, attempt, ownSilently, pass, leaseMs }) {
      const charge = operation()
      const old = await ownSilently(charge)
      await pass(leaseMs + 1)
      await attempt(charge)
      const late = await old.end({ kind: 'hold', why: 'nobody knows' })
      assert.ok(late.kind === 'finished' && late.afterWork, late.kind)
    },
  },
  {
    rule: 'L3',
    title: 'a refused beat aborts the signal',
    mode: 'lease',
    needs: ['faults'],
    async run({ operation, own, attempt, pass, faults }) {
      const charge = operation()
      faults.befall('renew', 'refuse', 1_000)
      const old = await own(charge, { policy: { lease: 300 } })
      await pass(301)
      assert.equal((await attempt(charge)).kind, 'won')
      faults.mend()
      await eventually(async () => old.grant.signal.aborted)
      const late = await old.end(keep(text('old')))
      assert.ok(late.kind === 'finished' && late.afterWork, late.kind)
    },
  },
  {
    rule: 'L2',
    title: 'past its own deadline an owner starts no foreign call, until a beat succeeds',
    mode: 'lease',
    needs: ['faults'],
    async run({ operation, own, faults }) {
      faults.befall('renew', 'refuse', 1_000)
      const owner = await own(operation(), { policy: { lease: 600 } })
      const early = owner.grant.childKey('charge')
      await sleep(650)
      assert.throws(
        () => owner.grant.childKey('charge'),
        (error) => isOncekeyError(error, 'LEASE_LAPSED'),
      )
      faults.mend()
      await eventually(async () => childKeyOf(owner.grant) === early)
      assert.equal(owner.grant.signal.aborted, false)
    },
  },
  {
    rule: 'L2',
    title: 'a lease that ran out refuses nothing by itself',
    mode: 'lease',
    needs: ['vanishing owners'],
    async run({ operation, attempt, ownSilently, pass, leaseMs }) {
      const charge = operation()
      const late = await ownSilently(charge)
      await pass(leaseMs + 100)
      assert.deepEqual(await late.end(keep()), { kind: 'won', fate: 'kept' })
      assert.equal((await attempt(charge, neverRuns)).kind, 'finished')
    },
  },
  {
    rule: 'L2',
    title: 'work that overruns is an unknown outcome, and its answer counts when it comes after all',
    mode: 'lease',
    async run({ operation, attempt, own }) {
      const charge = operation()
      const slow = await own(charge, { policy: { work: 150 } })
      await assert.rejects(slow.ended, (error) => isOncekeyError(error, 'OUTCOME_UNKNOWN'))
      assert.equal(slow.grant.signal.aborted, true)
      assert.equal((await attempt(charge, neverRuns)).kind, 'unknown')
      slow.end(keep(text('late'))).catch(() => undefined)
      await eventually(async () => (await attempt(charge, neverRuns)).kind === 'finished')
    },
  },
  {
    rule: '§1',
    title: 'an owner whose record is gone gets an unknown outcome, never its own answer',
    mode: 'lease',
    needs: ['audited changes'],
    async run({ operation, own, store }) {
      const charge = operation()
      const owner = await own(charge)
      const seen = await store.admin.find(charge)
      assert.ok(seen)
      await store.admin.forget(seen, { who: 'contract', why: 'by force', force: true })
      await assert.rejects(owner.end(keep()), (error) => isOncekeyError(error, 'OUTCOME_UNKNOWN'))
    },
  },
]

function childKeyOf(grant: { childKey(step: string): string }): string | undefined {
  try {
    return grant.childKey('charge')
  } catch {
    return undefined
  }
}
