/** S1: which answer a repeat gets: mismatch, then finished, then unknown, then busy, on every path there is. */
import assert from 'node:assert/strict'
import { keep, neverRuns, text } from './kit.ts'
import type { Rule } from './rule.ts'

const hold = { kind: 'hold', why: 'nobody knows' } as const
const other = { fingerprints: ['another body'] } as const

export const stateRules: readonly Rule[] = [
  {
    rule: 'S1',
    title: 'a repeat of what finished gets the same answer, and nothing runs',
    async run({ operation, attempt }) {
      const charge = operation()
      assert.deepEqual(await attempt(charge, () => keep(text('ch_1'))), { kind: 'won', fate: 'kept' })
      const repeat = await attempt(charge, neverRuns)
      assert.equal(repeat.kind, 'finished')
      assert.deepEqual(repeat.kind === 'finished' && repeat.record.receipt, text('ch_1'))
    },
  },
  {
    rule: 'S1',
    title: 'another request under a key that finished is a mismatch',
    async run({ operation, attempt }) {
      const charge = operation()
      await attempt(charge)
      assert.deepEqual(await attempt({ ...charge, ...other }, neverRuns), { kind: 'mismatch' })
    },
  },
  {
    rule: 'S1',
    title: 'another request while the first runs is a mismatch, not busy',
    report: 'idempot-dev/idempot-js#183',
    async run({ operation, attempt, own }) {
      const charge = operation()
      const first = await own(charge)
      assert.deepEqual(await attempt({ ...charge, ...other }, neverRuns), { kind: 'mismatch' })
      await first.end(keep())
      assert.deepEqual(await attempt({ ...charge, ...other }, neverRuns), { kind: 'mismatch' })
    },
  },
  {
    rule: 'S1',
    title: 'another request under a key whose outcome is unknown is a mismatch',
    async run({ operation, attempt }) {
      const charge = operation()
      assert.deepEqual(await attempt(charge, () => hold), { kind: 'won', fate: 'held' })
      assert.deepEqual(await attempt({ ...charge, ...other }, neverRuns), { kind: 'mismatch' })
    },
  },
  {
    rule: 'S1',
    title: 'an unknown outcome is told, and nothing runs',
    async run({ operation, attempt }) {
      const charge = operation()
      await attempt(charge, () => hold)
      for (const _ of [1, 2]) {
        const repeat = await attempt(charge, neverRuns)
        assert.equal(repeat.kind, 'unknown')
        assert.equal(repeat.kind === 'unknown' && repeat.record.state, 'unknown')
      }
    },
  },
  {
    rule: 'S1',
    title: 'a loser is answered at once: busy, with a hint no longer than the lease',
    report: 'VilledeMontreal/express-idempotency#44',
    async run({ operation, attempt, own, leaseMs }) {
      const charge = operation()
      const first = await own(charge)
      const repeat = await attempt(charge, neverRuns)
      assert.equal(repeat.kind, 'busy')
      assert.ok(repeat.kind === 'busy' && repeat.retryAfterMs >= 0 && repeat.retryAfterMs <= leaseMs)
      assert.deepEqual(await first.end(keep()), { kind: 'won', fate: 'kept' })
    },
  },
  {
    rule: 'S1',
    title: 'of two first requests that differ one runs, and the loser of that race is compared too',
    report: 'aws-powertools/powertools-lambda-typescript#2058',
    async run({ operation, attempt }) {
      for (let round = 0; round < 10; round++) {
        const charge = operation()
        let ran: string[] = []
        const bodies = ['one', 'two', 'one', 'two']
        const answers = await Promise.all(
          bodies.map((body) =>
            attempt({ ...charge, fingerprints: [body] }, () => {
              ran = [...ran, body]
              return keep(text(body))
            }),
          ),
        )
        assert.equal(ran.length, 1, `${ran.length} of them ran`)
        for (const [at, body] of bodies.entries())
          if (body !== ran[0])
            assert.equal(answers[at]?.kind, 'mismatch', `the other request was told ${answers[at]?.kind}`)
          else assert.ok(['won', 'busy', 'finished'].includes(answers[at]?.kind ?? ''))
      }
    },
  },
  {
    rule: 'S1',
    title: 'another request never takes over, also past the lease',
    mode: 'lease',
    needs: ['vanishing owners'],
    async run({ operation, attempt, ownSilently, pass, leaseMs }) {
      const charge = operation()
      await ownSilently(charge)
      await pass(leaseMs + 1)
      assert.deepEqual(await attempt({ ...charge, ...other }, neverRuns), { kind: 'mismatch' })
    },
  },
  {
    rule: 'S1',
    title: 'a key that may be tried again stays bound to its request',
    mode: 'lease',
    async run({ operation, attempt }) {
      const charge = operation()
      assert.deepEqual(await attempt(charge, () => ({ kind: 'retry', why: 'a timeout' })), {
        kind: 'won',
        fate: 'reopened',
      })
      assert.deepEqual(await attempt({ ...charge, ...other }, neverRuns), { kind: 'mismatch' })
      assert.deepEqual(await attempt(charge), { kind: 'won', fate: 'kept' })
    },
  },
  {
    rule: 'I3',
    title: 'a record matches any of the fingerprints, and is bound to the first',
    async run({ operation, attempt }) {
      const old = operation({ fingerprints: ['old secret'] })
      await attempt(old)
      const rotated = { ...old, fingerprints: ['new secret', 'old secret'] } as const
      assert.equal((await attempt(rotated, neverRuns)).kind, 'finished')
      const written = { ...operation(), fingerprints: ['new secret', 'old secret'] } as const
      await attempt(written)
      assert.equal((await attempt({ ...written, fingerprints: ['new secret'] }, neverRuns)).kind, 'finished')
      assert.equal((await attempt({ ...written, fingerprints: ['old secret'] }, neverRuns)).kind, 'mismatch')
    },
  },
]
