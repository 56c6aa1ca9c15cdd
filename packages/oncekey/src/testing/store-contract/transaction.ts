/** T2 to T17: what only transaction mode promises. */
import assert from 'node:assert/strict'
import { sleep } from '../../core/clock.ts'
import { isOncekeyError } from '../../core/errors.ts'
import { once } from '../../core/once.ts'
import type { Grant, Verdict } from '../../core/store.ts'
import { type Kit, keep, neverRuns, text } from './kit.ts'
import type { Rule } from './rule.ts'

let marks = 0
const mark = () => `transaction-${++marks}-${Math.random().toString(36).slice(2)}`
const code = (wanted: string) => (error: unknown) => isOncekeyError(error) && error.code === wanted

/** Work that writes one effect. */
function writing({ effects }: Kit, row: string, then: (grant: Grant) => Promise<unknown> = async () => {}) {
  return async (grant: Grant): Promise<Verdict> => {
    await effects.write(grant, row)
    await then(grant)
    return keep(text('ch_1'))
  }
}

export const transactionModeRules: readonly Rule[] = [
  {
    rule: 'T2',
    title: 'a record that came alive while the work ran is not overwritten, and the work is undone',
    mode: 'transaction',
    needs: ['effects', 'behind', 'intruders'],
    async run(kit) {
      const { operation, attempt, behind, effects } = kit
      const charge = operation()
      const row = mark()
      await attempt(charge, undefined, { policy: { retain: 1 } })
      await sleep(10)
      const lost = await attempt(
        charge,
        writing(kit, row, () => behind.intrude(charge)),
      )
      assert.equal(lost.kind, 'finished')
      assert.equal(await effects.count(row), 0)
    },
  },
  ...(['commit', 'rollback'] as const).map(
    (how): Rule => ({
      rule: 'T3',
      title: `work that ends its own transaction (${how}) is an unknown outcome, and is never run again`,
      mode: 'transaction',
      needs: ['effects', 'behind'],
      async run(kit) {
        const { operation, attempt, behind, effects } = kit
        const charge = operation()
        const row = mark()
        await assert.rejects(
          attempt(
            charge,
            writing(kit, row, (grant) => behind.end(grant, how)),
          ),
          code('OUTCOME_UNKNOWN'),
        )
        assert.equal((await attempt(charge, neverRuns)).kind, 'unknown')
        assert.equal(await effects.count(row), how === 'commit' ? 1 : 0)
      },
    }),
  ),
  {
    rule: 'T5',
    title: 'when the answer leaves, record and writes are there for everybody',
    mode: 'transaction',
    needs: ['effects'],
    async run(kit) {
      const { operation, attempt, effects, store } = kit
      const charge = operation()
      const row = mark()
      await attempt(charge, writing(kit, row))
      assert.equal(await effects.count(row), 1)
      assert.equal((await store.admin.find(charge))?.state, 'finished')
    },
  },
  {
    rule: 'T7',
    title: 'a handle that outlives its work writes nothing',
    mode: 'transaction',
    needs: ['effects'],
    async run(kit) {
      const { operation, attempt, effects } = kit
      const row = mark()
      let left: Grant | undefined
      await attempt(operation(), async (grant) => {
        left = grant
        return keep()
      })
      await assert.rejects(async () => effects.write(left as Grant, row), code('TX_CLOSED'))
      assert.equal(await effects.count(row), 0)
    },
  },
  {
    rule: 'T8',
    title: 'a lost race is answered from the record, and the work is undone',
    mode: 'transaction',
    needs: ['effects', 'behind', 'intruders'],
    async run(kit) {
      const { operation, attempt, behind, effects } = kit
      const charge = operation()
      const row = mark()
      const lost = await attempt(
        charge,
        writing(kit, row, () => behind.intrude(charge)),
      )
      assert.ok(lost.kind === 'finished' && lost.afterWork, lost.kind)
      assert.equal(await effects.count(row), 0)
    },
  },
  {
    rule: 'T11',
    title: 'COMMIT whose answer was lost is answered from the record, and nothing runs again',
    report: 'mhayk/Overpass#16',
    mode: 'transaction',
    needs: ['effects', 'behind'],
    async run(kit) {
      const { operation, attempt, behind, effects } = kit
      const charge = operation()
      const row = mark()
      behind.befallCommit('lose')
      const found = await attempt(charge, writing(kit, row))
      assert.ok(found.kind === 'finished' && found.afterWork, found.kind)
      assert.equal((await attempt(charge, neverRuns)).kind, 'finished')
      assert.equal(await effects.count(row), 1)
    },
  },
  {
    rule: 'T11',
    title: 'COMMIT that never arrived leaves no writes, and the key free',
    mode: 'transaction',
    needs: ['effects', 'behind'],
    async run(kit) {
      const { operation, attempt, behind, effects } = kit
      const charge = operation()
      const row = mark()
      behind.befallCommit('refuse')
      await assert.rejects(attempt(charge, writing(kit, row)), code('TRY_AGAIN'))
      assert.equal(await effects.count(row), 0)
      assert.equal((await attempt(charge, writing(kit, row))).kind, 'won')
      assert.equal(await effects.count(row), 1)
    },
  },
  {
    rule: 'T12',
    title: 'a key for a foreign call is there only where the downstream deduplicates',
    mode: 'transaction',
    async run({ operation, attempt }) {
      const call = (grant: Grant): Verdict => keep(text(grant.childKey('charge')))
      const after = { onFailure: 'retry', onAbandoned: 'takeover', dedupesFor: '24h' } as const
      let refused: unknown
      await attempt(operation(), (grant) => {
        try {
          return call(grant)
        } catch (error) {
          refused = error
          return { kind: 'free' }
        }
      })
      assert.ok(code('CHILD_KEY_UNSAFE')(refused), String(refused))
      assert.equal((await attempt(operation(), call, { policy: { after } })).kind, 'won')
    },
  },
  {
    rule: 'T17',
    title: 'the same operation inside itself is refused, whatever its fingerprint',
    mode: 'transaction',
    async run({ operation, store }) {
      const charge = operation()
      const inner = { ...charge, fingerprints: ['another'] as const }
      let refused: unknown
      await once(store, charge, async () => {
        refused = await once(store, inner, async () => 1).catch((error: unknown) => error)
      })
      assert.ok(code('NESTED_OPERATION')(refused), String(refused))
    },
  },
]
