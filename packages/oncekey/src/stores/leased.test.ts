/** The lease bracket where the contract cannot reach: its own transaction, shutdown, and claims that nobody waits for. */
import { describe, expect, test } from 'vitest'
import { sleep } from '../core/clock.ts'
import type { AfterFailure } from '../core/policy.ts'
import { databaseOnly, downstreamDoesNot, fillPolicy } from '../core/policy.ts'
import type { Held, Kept, LeasedInDatabase, Store, Verdict } from '../core/store.ts'
import { faulty } from '../testing/faulty.ts'
import { InDoubt } from './database/database.ts'
import { leased } from './leased.ts'
import { memoryDriver } from './memory/driver.ts'

type Commit = (mine: Held, kept: Kept) => ReturnType<ReturnType<typeof memoryDriver>['complete']>
interface Tx {
  write(row: string): void
}

/** Rows in memory that commit with the receipt: a transaction small enough to fail wherever a test wants it to. */
function withRows(after: AfterFailure, options: { commit?: (really: Commit) => Commit; claimMs?: number } = {}) {
  const { driver, faults } = faulty(memoryDriver())
  const rows: string[] = []
  const gone = new AbortController()
  const complete = options.commit?.(driver.complete) ?? driver.complete
  const beginning = {
    ...driver,
    name: driver.name,
    admin: driver.admin,
    [Symbol.asyncDispose]: () => driver[Symbol.asyncDispose](),
    async begin(mine: Held) {
      let written: string[] = []
      return {
        tx: { write: (row: string) => void written.push(row) } satisfies Tx,
        gone: gone.signal,
        async complete(kept: Kept) {
          const answer = await complete(mine, kept)
          if (answer === 'done') rows.push(...written)
          return answer
        },
        async rollback() {
          written = []
        },
      }
    },
  }
  const store = leased<Tx>(beginning, { ...after, claimMs: options.claimMs ?? 500, drain: 100 })
  return { store, rows, faults, gone }
}

let keys = 0
const operation = () => ({ scope: 'acct_1', key: `k-${++keys}`, fingerprints: ['body'] as const })
const keep: Verdict = { kind: 'keep', receipt: Uint8Array.of(1), writes: 'commit' }

function attempt<G extends LeasedInDatabase<Tx>>(
  store: Store<G>,
  charge: ReturnType<typeof operation>,
  work: (grant: G) => Promise<Verdict>,
  policy = {},
) {
  return store.attempt(charge, { policy: fillPolicy(policy, store.defaults), repeatable: true }, work)
}
const writing = (verdict: Verdict) => async (grant: LeasedInDatabase<Tx>) => {
  const tx = await grant.begin()
  tx.write('charge')
  return verdict
}

describe('what follows a failure', () => {
  test('has to be said, also by those who have no types', () => {
    expect(() => leased(memoryDriver(), {} as AfterFailure)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION' }),
    )
  })
  test('a store without transactions grants none', async () => {
    await using store = leased(memoryDriver(), databaseOnly)
    const how = { policy: fillPolicy({}, store.defaults), repeatable: true }
    await store.attempt(operation(), how, async (grant) => {
      expect('begin' in grant).toBe(false)
      return keep
    })
  })
})

describe('begin()', () => {
  test('gives one transaction, and its writes commit with the answer', async () => {
    const { store, rows } = withRows(databaseOnly)
    const won = await attempt(store, operation(), async (grant) => {
      expect(await grant.begin()).toBe(await grant.begin())
      return writing(keep)(grant)
    })
    expect(won).toEqual({ kind: 'won', fate: 'kept' })
    expect(rows).toEqual(['charge'])
  })
  test('is undone where the answer is kept without its writes', async () => {
    const { store, rows } = withRows(databaseOnly)
    const charge = operation()
    expect(await attempt(store, charge, writing({ ...keep, writes: 'undo' } as Verdict))).toMatchObject({
      fate: 'kept',
    })
    expect(rows).toEqual([])
    expect(await attempt(store, charge, writing(keep))).toMatchObject({ kind: 'finished' })
  })
  test('after the work has ended is refused', async () => {
    const { store } = withRows(databaseOnly)
    let late: Promise<unknown> | undefined
    await attempt(store, operation(), async (grant) => {
      late = sleep(20).then(() => grant.begin())
      return keep
    })
    await expect(late).rejects.toMatchObject({ code: 'TX_CLOSED' })
  })
  test('is refused past the lease', async () => {
    const { store, faults } = withRows(databaseOnly)
    faults.befall('renew', 'refuse', 1_000)
    const error = await attempt(
      store,
      operation(),
      async (grant) => {
        await sleep(60)
        return grant.begin().then(
          () => keep,
          (code) => ({ kind: 'spend', why: code.code }) as never,
        )
      },
      { lease: 40 },
    )
    expect(error).toEqual({ kind: 'won', fate: 'spent' })
  })
  test('aborts the signal when its connection dies', async () => {
    const { store, gone } = withRows(databaseOnly)
    await attempt(store, operation(), async (grant) => {
      await grant.begin()
      gone.abort(new Error('terminated'))
      expect(grant.signal.aborted).toBe(true)
      return { kind: 'free' }
    })
  })
})

describe('a commit', () => {
  test('in doubt that did happen is success, read from the record', async () => {
    const { store } = withRows(databaseOnly, {
      commit: (really) => async (mine, kept) => {
        await really(mine, kept)
        throw new InDoubt(new Error('socket closed'))
      },
    })
    const charge = operation()
    expect(await attempt(store, charge, writing(keep))).toEqual({ kind: 'won', fate: 'kept' })
    expect(await attempt(store, charge, writing(keep))).toMatchObject({ kind: 'finished' })
  })
  test('in doubt that is seen later is success too', async () => {
    const { store } = withRows(databaseOnly, {
      commit: (really) => async (mine, kept) => {
        setTimeout(() => void really(mine, kept), 150)
        throw new InDoubt(new Error('socket closed'))
      },
    })
    expect(await attempt(store, operation(), writing(keep))).toEqual({ kind: 'won', fate: 'kept' })
  })
  test('in doubt that is never seen is an unknown outcome, and is not sent without its writes', async () => {
    const { store } = withRows(databaseOnly, {
      commit: () => async () => {
        throw new InDoubt(new Error('socket closed'))
      },
    })
    const charge = operation()
    await expect(attempt(store, charge, writing(keep))).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
    expect(await attempt(store, charge, writing(keep))).toMatchObject({ kind: 'unknown' })
  })
  test.each([
    [databaseOnly, 'won'],
    [downstreamDoesNot, 'unknown'],
  ] as const)('that definitely failed is a failure of the work (%j)', async (after, repeat) => {
    let fails = true
    const { store, rows } = withRows(after, {
      commit: (really) => async (mine, kept) => {
        if (fails) throw new Error('23503: deferred constraint')
        return really(mine, kept)
      },
    })
    const charge = operation()
    await expect(attempt(store, charge, writing(keep))).rejects.toThrow('23503')
    expect(rows).toEqual([])
    fails = false
    expect(await attempt(store, charge, writing(keep))).toMatchObject({ kind: repeat })
  })
})

describe('a claim that nobody waits for any more', () => {
  test('and whose reply was lost for good is found, and its key made free', async () => {
    const { store, faults } = withRows(downstreamDoesNot, { claimMs: 100 })
    const charge = operation()
    faults.befall('claim', 'lose')
    faults.befall('claim', 'hang')
    const lease = { lease: 600 }
    await expect(attempt(store, charge, writing(keep), lease)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    faults.mend()
    await expect.poll(async () => (await store.admin.find(charge))?.state ?? 'absent').not.toBe('running')
    expect(await attempt(store, charge, writing(keep), lease)).toEqual({ kind: 'won', fate: 'kept' })
  })
})

describe('a store that is disposed', () => {
  test('frees nothing that may have run, and takes no new claim', async () => {
    const { store } = withRows(databaseOnly)
    const begun = operation()
    let aborted: unknown
    const ended = attempt(store, begun, async ({ signal }) => {
      await sleep(60_000, signal)
      aborted = signal.reason
      return { kind: 'hold', why: 'shutdown' }
    })
    await sleep(10)
    await store[Symbol.asyncDispose]()
    expect(aborted).toMatchObject({ code: 'STORE_CLOSED' })
    expect(await ended).toEqual({ kind: 'won', fate: 'held' })
    await expect(attempt(store, operation(), writing(keep))).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  })
  test('twice is disposed once', async () => {
    const { store } = withRows(databaseOnly)
    await Promise.all([store[Symbol.asyncDispose](), store[Symbol.asyncDispose]()])
  })
})
