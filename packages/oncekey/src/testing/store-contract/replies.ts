/** §5 and L4: what a store does when the request or the reply of one of its steps is lost. */
import assert from 'node:assert/strict'
import { isOncekeyError } from '../../core/errors.ts'
import type { Attempted, Verdict } from '../../core/store.ts'
import { keep, neverRuns } from './kit.ts'
import type { Rule } from './rule.ts'
import type { Step } from './subject.ts'

const endings: readonly (readonly [Step, Verdict, Attempted, string])[] = [
  ['complete', keep(), { kind: 'won', fate: 'kept' }, 'finished'],
  ['complete', { kind: 'spend', why: 'stream' }, { kind: 'won', fate: 'spent' }, 'finished'],
  ['release', { kind: 'free' }, { kind: 'won', fate: 'freed' }, 'won'],
  ['release', { kind: 'retry', why: 'a timeout' }, { kind: 'won', fate: 'reopened' }, 'won'],
  ['hold', { kind: 'hold', why: 'nobody knows' }, { kind: 'won', fate: 'held' }, 'unknown'],
]

export const replyRules: readonly Rule[] = [
  ...(['lose', 'refuse'] as const).map(
    (fault): Rule => ({
      rule: '§5',
      title: `${fault === 'lose' ? 'an ending whose reply is lost is read back' : 'an ending that never arrived is sent again'}, and is no failure`,
      mode: 'lease',
      needs: ['faults'],
      async run({ operation, attempt, faults }) {
        for (const [step, verdict, ended, repeat] of endings) {
          const charge = operation()
          faults.befall(step, fault)
          assert.deepEqual(await attempt(charge, () => verdict), ended)
          assert.equal((await attempt(charge, repeat === 'won' ? () => keep() : neverRuns)).kind, repeat)
        }
      },
    }),
  ),
  {
    rule: '§5',
    title: 'a beat whose reply is lost is no lost claim',
    mode: 'lease',
    needs: ['faults'],
    async run({ operation, own, faults, pass, capabilities }) {
      faults.befall('renew', 'lose', 2)
      const owner = await own(operation(), { policy: { lease: 300 } })
      if (capabilities.clock === 'real') await pass(250)
      assert.equal(owner.grant.signal.aborted, false)
      assert.deepEqual(await owner.end(keep()), { kind: 'won', fate: 'kept' })
    },
  },
  {
    rule: 'L4',
    title: 'an answer that cannot be saved is an unknown outcome, and its key is never freed',
    report: 'pathosDev/actor-ts#984',
    mode: 'lease',
    needs: ['faults'],
    async run(kit) {
      await kit.fresh({ claimMs: 250 })
      const { operation, attempt, faults } = kit
      const charge = operation()
      const policy = { work: 400 }
      faults.befall('complete', 'refuse', 10_000)
      await assert.rejects(
        attempt(charge, () => keep(), { policy }),
        (error) => isOncekeyError(error, 'OUTCOME_UNKNOWN'),
      )
      faults.mend()
      assert.equal((await attempt(charge, neverRuns)).kind, 'unknown')
    },
  },
  {
    rule: 'L4',
    title: 'where the store takes neither answer nor hold, the record goes by its own rule at the end of its lease',
    mode: 'lease',
    needs: ['faults'],
    async run(kit) {
      await kit.fresh({ claimMs: 250 })
      const { operation, attempt, faults, pass, leaseMs } = kit
      const charge = operation()
      const policy = { work: 200, after: { onFailure: 'hold', onAbandoned: 'hold' } } as const
      faults.befall('complete', 'refuse', 10_000)
      faults.befall('hold', 'refuse', 10_000)
      await assert.rejects(
        attempt(charge, () => keep(), { policy }),
        (error) => isOncekeyError(error, 'OUTCOME_UNKNOWN'),
      )
      faults.mend()
      await pass(leaseMs + 100)
      assert.equal((await attempt(charge, neverRuns)).kind, 'unknown')
    },
  },
]
