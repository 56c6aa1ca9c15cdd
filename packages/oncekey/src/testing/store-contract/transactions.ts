/** T9, T10, L1 and O-53: one fate for the user's writes and the record, wherever the grant has a transaction. */
import assert from 'node:assert/strict'
import { once } from '../../core/once.ts'
import { type Kit, keep, neverRuns, text } from './kit.ts'
import type { Rule } from './rule.ts'

let marks = 0
const mark = () => `mark-${++marks}-${Math.random().toString(36).slice(2)}`

export const transactionRules: readonly Rule[] = [
  {
    rule: 'L1',
    title: 'the answer and the writes of the work are there together',
    needs: ['effects'],
    async run({ operation, attempt, effects }) {
      const charge = operation()
      const row = mark()
      const first = await attempt(charge, async (grant) => {
        await effects.write(grant, row)
        return keep(text('ch_1'))
      })
      assert.deepEqual(first, { kind: 'won', fate: 'kept' })
      assert.equal(await effects.count(row), 1)
      assert.equal((await attempt(charge, neverRuns)).kind, 'finished')
      assert.equal(await effects.count(row), 1)
    },
  },
  {
    rule: 'L1',
    title: 'writes are not to be seen before the answer is kept',
    needs: ['effects'],
    async run({ operation, own, effects }) {
      const row = mark()
      const owner = await own(operation())
      const ended = owner.end(async (grant) => {
        await effects.write(grant, row)
        assert.equal(await effects.count(row), 0)
        return keep()
      })
      assert.deepEqual(await ended, { kind: 'won', fate: 'kept' })
      assert.equal(await effects.count(row), 1)
    },
  },
  ...(['free', 'retry', 'hold', 'undo'] as const).map(
    (how): Rule => ({
      rule: how === 'undo' ? 'T9' : 'T10',
      title: `work that ends in ${how === 'undo' ? 'keep without its writes' : how} leaves no writes`,
      report: 'mhayk/Overpass#16',
      needs: ['effects'],
      async run({ operation, attempt, effects }) {
        const charge = operation()
        const row = mark()
        const policy = { discardable: true }
        const write = async (grant: Parameters<Kit['effects']['write']>[0]) => {
          await effects.write(grant, row)
          if (how === 'undo') return { kind: 'keep', receipt: text('402'), writes: 'undo' } as const
          return how === 'free' ? ({ kind: 'free' } as const) : ({ kind: how, why: 'planted' } as const)
        }
        assert.equal((await attempt(charge, write, { policy })).kind, 'won')
        assert.equal(await effects.count(row), 0)
        const expected = { free: 'won', retry: 'won', hold: 'unknown', undo: 'finished' }[how]
        assert.equal((await attempt(charge, expected === 'won' ? () => keep() : neverRuns)).kind, expected)
      },
    }),
  ),
  {
    rule: 'T10',
    title: 'work that throws in a transaction leaves neither writes nor record, and its error reaches the caller',
    mode: 'transaction',
    needs: ['effects'],
    async run({ operation, store, effects }) {
      const charge = operation()
      const row = mark()
      let runs = 0
      const work = async (grant: Parameters<typeof effects.write>[0]) => {
        await effects.write(grant, row)
        if (++runs === 1) throw new Error('after the write')
        return runs
      }
      await assert.rejects(once(store, charge, work), { message: 'after the write' })
      assert.equal(await effects.count(row), 0)
      assert.equal((await once(store, charge, work)).kind, 'ran')
      assert.equal(await effects.count(row), 1)
    },
  },
  {
    rule: 'L1',
    title: 'fifty parallel callers write once',
    needs: ['effects'],
    async run({ operation, attempt, effects }) {
      const charge = operation()
      const row = mark()
      const answers = await Promise.all(
        Array.from({ length: 50 }, () =>
          attempt(charge, async (grant) => {
            await effects.write(grant, row)
            return keep()
          }),
        ),
      )
      assert.equal(answers.filter(({ kind }) => kind === 'won').length, 1)
      assert.equal(await effects.count(row), 1)
    },
  },
  {
    rule: 'L1',
    title: 'an owner that was taken over loses its writes with its claim',
    report: 'KanishJebaMathewM/Truxify#5912',
    mode: 'lease',
    needs: ['effects', 'vanishing owners'],
    async run({ operation, attempt, ownSilently, pass, leaseMs, effects }) {
      const charge = operation()
      const row = mark()
      const old = await ownSilently(charge, { policy: { lease: leaseMs } })
      const writes = async (grant: Parameters<typeof effects.write>[0]) => {
        await effects.write(grant, row)
        await pass(leaseMs + 1)
        assert.equal((await attempt(charge, () => keep(text('new')))).kind, 'won')
        return keep(text('old'))
      }
      const late = await old.end(writes)
      assert.ok(late.kind === 'finished' && late.afterWork, late.kind)
      assert.equal(await effects.count(row), 0)
    },
  },
]
