/** T13, L1 and T12: many at once through few connections, and connections that die. */
import assert from 'node:assert/strict'
import { sleep } from '../../core/clock.ts'
import { isOncekeyError } from '../../core/errors.ts'
import { type Kit, keep, neverRuns, text } from './kit.ts'
import type { Rule } from './rule.ts'

export const crowdRules: readonly Rule[] = [
  {
    rule: 'T13',
    title: 'many winners at once all end, however few connections there are, and repeats among them are answered',
    report: 'solana-foundation/kora#466',
    async run({ operation, attempt }) {
      const charges = Array.from({ length: 40 }, () => operation())
      const work = async () => {
        await sleep(10)
        return keep()
      }
      const answers = await Promise.all(charges.flatMap((charge) => [attempt(charge, work), attempt(charge, work)]))
      const kinds = answers.map(({ kind }) => kind)
      assert.equal(kinds.filter((kind) => kind === 'won').length, charges.length)
      for (const kind of kinds) assert.ok(['won', 'busy', 'finished'].includes(kind), kind)
    },
  },
  {
    rule: '§5',
    title: 'a store whose connections died answers again, and what was kept is still there',
    needs: ['sever'],
    async run(kit) {
      const { operation, attempt, sever } = kit
      const kept = operation()
      await attempt(kept, () => keep(text('the answer')))
      await sever()
      const repeat = await again(kit, () => attempt(kept, neverRuns))
      assert.deepEqual(repeat.kind === 'finished' && repeat.record.receipt, text('the answer'))
      await sever()
      assert.equal((await again(kit, () => attempt(operation()))).kind, 'won')
    },
  },
  {
    rule: '§5',
    title: 'connections that die under an owner end in one recorded outcome, and never in a second effect',
    needs: ['sever'],
    async run(kit) {
      const { operation, own, attempt, sever, capabilities } = kit
      const charge = operation()
      let runs = 0
      const owner = await own(charge)
      runs++
      await sever()
      const ended = await owner.end(keep(text('the first'))).then(
        (attempted) => attempted,
        (error: unknown) => {
          assert.ok(isOncekeyError(error), String(error))
          assert.ok(
            ['TRY_AGAIN', 'OUTCOME_UNKNOWN', 'COMMIT_UNKNOWN', 'STORE_UNAVAILABLE'].includes(error.code),
            error.code,
          )
          return error
        },
      )
      const repeat = await again(kit, () =>
        attempt(charge, () => {
          runs++
          return keep(text('the second'))
        }),
      )
      // A transaction died with its connection, so that nothing had happened; a lease outlives it.
      if ('kind' in ended) assert.equal(repeat.kind, 'finished')
      else if (capabilities.mode === 'transaction') assert.deepEqual([repeat.kind, runs], ['won', 2])
      else assert.equal(runs, 1)
    },
  },
]

/** As a caller would: the store may be told dead once or twice before its library has another connection. */
async function again<T>({ pass }: Kit, attempt: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await attempt()
    } catch (error) {
      if (tries === 20 || !isOncekeyError(error) || !['STORE_UNAVAILABLE', 'TRY_AGAIN'].includes(error.code))
        throw error
      await sleep(100)
      await pass(0)
    }
  }
}
