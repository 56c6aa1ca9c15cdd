/** S4, S5, S6 and S8: ends stand in the record, are judged by the store's clock, and depend on no sweep and no reader. */
import assert from 'node:assert/strict'
import { keep, neverRuns, text } from './kit.ts'
import type { Rule } from './rule.ts'

const hold = { onFailure: 'hold', onAbandoned: 'hold' } as const
const takeover = { onFailure: 'retry', onAbandoned: 'takeover' } as const

export const endRules: readonly Rule[] = [
  {
    rule: 'S5',
    title: 'an answer is kept until its retention is over, and at that instant it is not there',
    report: 'Pulsefy/Soter#944',
    needs: ['moved clock'],
    async run({ operation, attempt, pass, retainMs }) {
      const charge = operation()
      await attempt(charge)
      await pass(retainMs - 1)
      assert.equal((await attempt(charge, neverRuns)).kind, 'finished')
      await pass(1)
      assert.deepEqual(await attempt(charge, () => keep(text('second'))), { kind: 'won', fate: 'kept' })
    },
  },
  {
    rule: 'S5',
    title: 'past its retention a key is free for another request',
    async run({ operation, attempt, pass }) {
      const charge = operation()
      await attempt(charge, () => keep(), { policy: { retain: 200 } })
      await pass(400)
      assert.equal((await attempt({ ...charge, fingerprints: ['another body'] })).kind, 'won')
    },
  },
  {
    rule: 'S5',
    title: 'retention counts from the finish, not from the claim',
    async run({ operation, attempt, own, pass }) {
      const charge = operation()
      const policy = { retain: 900 }
      const slow = await own(charge, { policy })
      await pass(600)
      await slow.end(keep())
      await pass(500)
      assert.equal((await attempt(charge, neverRuns, { policy })).kind, 'finished')
    },
  },
  {
    rule: 'S5',
    title: 'a reader with a shorter retention still gets the answer',
    async run({ operation, attempt, pass }) {
      const charge = operation()
      await attempt(charge)
      await pass(300)
      assert.equal((await attempt(charge, neverRuns, { policy: { retain: 100 } })).kind, 'finished')
    },
  },
  {
    rule: 'S5',
    title: 'a lease is honoured until its end, and at that instant it may be taken',
    report: 'aws-powertools/powertools-lambda-python#1387',
    mode: 'lease',
    needs: ['moved clock'],
    async run({ operation, attempt, own, pass, leaseMs }) {
      for (const [passed, told] of [
        [leaseMs - 1, 'busy'],
        [leaseMs, 'won'],
        [leaseMs + 1, 'won'],
      ] as const) {
        const charge = operation()
        await own(charge)
        await pass(passed)
        const repeat = await attempt(charge)
        assert.equal(repeat.kind, told, `${passed} ms after the claim`)
        if (repeat.kind === 'busy') assert.ok(repeat.retryAfterMs <= 1)
      }
    },
  },
  {
    rule: 'S4',
    title: 'a caller whose clock runs ahead takes nothing over',
    mode: 'lease',
    needs: ['clock of its own'],
    async run({ operation, attempt, own, leaseMs }) {
      const charge = operation()
      await own(charge)
      const { now } = Date
      Date.now = () => now() + 10 * leaseMs
      try {
        assert.equal((await attempt(charge, neverRuns)).kind, 'busy')
      } finally {
        Date.now = now
      }
    },
  },
  {
    rule: 'S5',
    title: "a taker with a shorter lease waits for the record's own",
    report: 'aws-powertools/powertools-lambda-python#1038',
    mode: 'lease',
    needs: ['vanishing owners'],
    async run({ operation, attempt, ownSilently, pass, leaseMs }) {
      const charge = operation()
      await ownSilently(charge)
      await pass(leaseMs / 2)
      const hasty = { policy: { lease: 20 } }
      assert.equal((await attempt(charge, neverRuns, hasty)).kind, 'busy')
      await pass(leaseMs)
      assert.equal((await attempt(charge, () => keep(), hasty)).kind, 'won')
    },
  },
  {
    rule: 'S5',
    title: 'takeover or hold is what the owner said, not what the taker says',
    report: 'aws-powertools/powertools-lambda-python#738',
    mode: 'lease',
    needs: ['vanishing owners'],
    async run({ operation, attempt, ownSilently, pass, leaseMs }) {
      const held = operation()
      const taken = operation()
      await ownSilently(held, { policy: { after: hold } })
      await ownSilently(taken, { policy: { after: takeover } })
      assert.equal((await attempt(held, neverRuns, { policy: { after: takeover } })).kind, 'busy')
      await pass(leaseMs + 100)
      assert.equal((await attempt(held, neverRuns, { policy: { after: takeover } })).kind, 'unknown')
      assert.equal((await attempt(taken, () => keep(), { policy: { after: hold } })).kind, 'won')
    },
  },
  {
    rule: 'L5',
    title: 'past what the downstream remembers, counted from the first claim, nothing is run again',
    mode: 'lease',
    async run({ operation, attempt, pass }) {
      const charge = operation()
      const policy = { after: { ...takeover, dedupesFor: 1_000 } }
      const fail = () => ({ kind: 'retry', why: 'a timeout' }) as const
      assert.equal((await attempt(charge, fail, { policy })).kind, 'won')
      await pass(400)
      assert.equal((await attempt(charge, fail, { policy })).kind, 'won')
      await pass(700)
      assert.equal((await attempt(charge, neverRuns, { policy })).kind, 'unknown')
    },
  },
  {
    rule: 'L5',
    title: 'a key that may be tried again is remembered for as long as the downstream remembers it',
    mode: 'lease',
    async run({ operation, attempt, pass }) {
      const charge = operation()
      const policy = { retain: 100, after: { ...takeover, dedupesFor: '1h' } } as const
      assert.equal((await attempt(charge, () => ({ kind: 'retry', why: 'a timeout' }), { policy })).kind, 'won')
      await pass(300)
      assert.equal((await attempt({ ...charge, fingerprints: ['another body'] }, neverRuns)).kind, 'mismatch')
    },
  },
  {
    rule: 'L5',
    title: 'an abandoned claim is not taken over past what the downstream remembers',
    mode: 'lease',
    needs: ['vanishing owners'],
    async run({ operation, attempt, ownSilently, pass, leaseMs }) {
      const charge = operation()
      const policy = { after: { ...takeover, dedupesFor: leaseMs } }
      await ownSilently(charge, { policy })
      await pass(leaseMs + 100)
      assert.equal((await attempt(charge, neverRuns, { policy })).kind, 'unknown')
    },
  },
  {
    rule: 'S6',
    title: 'a running record outlives its retention',
    async run({ operation, attempt, own, pass, leaseMs }) {
      const charge = operation()
      const first = await own(charge, { policy: { retain: 1 } })
      await pass(Math.min(200, leaseMs / 2))
      assert.equal((await attempt(charge, neverRuns)).kind, 'busy')
      await first.end(keep())
    },
  },
  {
    rule: 'S8',
    title: 'the age of a claim is told by the clock of the store',
    mode: 'lease',
    needs: ['moved clock'],
    async run({ operation, attempt, own, pass }) {
      const charge = operation()
      await own(charge)
      await pass(7_000)
      const repeat = await attempt(charge, neverRuns)
      assert.ok(repeat.kind === 'busy' && repeat.ageMs >= 6_990 && repeat.ageMs < 9_000, JSON.stringify(repeat))
    },
  },
]
