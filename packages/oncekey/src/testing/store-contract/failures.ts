/** L5, T9 and O-38: what becomes of a key whose work failed, as its verdict says. */
import assert from 'node:assert/strict'
import { isOncekeyError } from '../../core/errors.ts'
import { once } from '../../core/once.ts'
import { downstreamDoesNot } from '../../core/policy.ts'
import { keep, neverRuns, text } from './kit.ts'
import type { Rule } from './rule.ts'

export const failureRules: readonly Rule[] = [
  {
    rule: 'L5',
    title: 'a key that was freed runs at once, also for another request',
    async run({ operation, attempt }) {
      const charge = operation()
      assert.deepEqual(await attempt(charge, () => ({ kind: 'free' })), { kind: 'won', fate: 'freed' })
      assert.equal((await attempt({ ...charge, fingerprints: ['another body'] })).kind, 'won')
    },
  },
  {
    rule: 'L5',
    title: 'a key that may be tried again runs at once',
    async run({ operation, attempt }) {
      const charge = operation()
      assert.equal((await attempt(charge, () => ({ kind: 'retry', why: 'a timeout' }))).kind, 'won')
      assert.deepEqual(await attempt(charge), { kind: 'won', fate: 'kept' })
    },
  },
  {
    rule: 'L5',
    title: 'work that rejects frees the key in transaction mode, and holds it in lease mode',
    async run({ operation, attempt, capabilities }) {
      const charge = operation()
      const rejects = () => Promise.reject(new Error('planted'))
      const inLease = capabilities.mode === 'lease'
      const first = await attempt(charge, rejects).catch((error: Error) => error)
      if (inLease) assert.deepEqual(first, { kind: 'won', fate: 'held' })
      assert.equal((await attempt(charge, inLease ? neverRuns : () => keep())).kind, inLease ? 'unknown' : 'won')
    },
  },
  {
    rule: 'L5',
    title: 'work that throws after its effect is not run again where the downstream does not deduplicate',
    report: 'pathosDev/actor-ts#984',
    mode: 'lease',
    async run({ operation, store }) {
      const charge = operation()
      const policy = { after: downstreamDoesNot }
      let charges = 0
      const work = async (): Promise<string> => {
        charges++
        throw new Error('after the charge')
      }
      await assert.rejects(once(store, charge, work, { policy }), { message: 'after the charge' })
      assert.equal((await once(store, charge, work, { policy })).kind, 'unknown')
      assert.equal(charges, 1)
    },
  },
  {
    rule: 'T9',
    title: 'an answer may be kept although its writes are not',
    async run({ operation, attempt }) {
      const charge = operation()
      const refusal = { kind: 'keep', receipt: text('402'), writes: 'undo' } as const
      assert.deepEqual(await attempt(charge, () => refusal, { policy: { discardable: true } }), {
        kind: 'won',
        fate: 'kept',
      })
      const repeat = await attempt(charge, neverRuns)
      assert.deepEqual(repeat.kind === 'finished' && repeat.record.receipt, text('402'))
    },
  },
  {
    rule: '§6',
    title: "the caller's own signal does not stop work that has begun",
    report: 'middleapi/orpc#1738',
    async run({ operation, store, attempt }) {
      const charge = operation()
      const hangsUp = new AbortController()
      const ran = await once(
        store,
        charge,
        async ({ signal }) => {
          hangsUp.abort()
          assert.equal(signal.aborted, false)
          return 'charged'
        },
        { signal: hangsUp.signal },
      )
      assert.equal(ran.kind, 'ran')
      assert.equal((await attempt(charge, neverRuns)).kind, 'finished')
    },
  },
  {
    rule: '§6',
    title: 'a store that was closed claims nothing',
    async run({ operation, attempt, store }) {
      await store[Symbol.asyncDispose]()
      await assert.rejects(attempt(operation(), neverRuns), (error) => isOncekeyError(error, 'STORE_CLOSED'))
    },
  },
  {
    rule: '§6',
    title: 'a store that is closed lets work in progress end, and keeps its answer',
    async run({ operation, own, store }) {
      const owner = await own(operation())
      const closed = store[Symbol.asyncDispose]()
      assert.deepEqual(await owner.end(keep()), { kind: 'won', fate: 'kept' })
      await closed
    },
  },
  {
    rule: '§6',
    title: 'past its deadline a closing store aborts what still runs, and frees none of it',
    mode: 'lease',
    needs: ['several'],
    async run({ operation, own, another, attempt }) {
      const charge = operation()
      const leaving = await another({ drain: 50, claimMs: 50 })
      const owner = await own(charge, { store: leaving })
      await leaving[Symbol.asyncDispose]()
      assert.equal(owner.grant.signal.aborted, true)
      assert.equal((await attempt(charge, neverRuns)).kind, 'busy')
    },
  },
]
