/** T13: winners leave connections over, and duplicates are answered on those, on a real PostgreSQL. */
import { expect, it } from 'vitest'
import { describePostgres } from '../../../../../test/support/postgres.ts'
import { chargesAt, never, operation, type Work } from '../../../../../test/support/postgres-charges.ts'
import { transactionPlace } from '../../../../../test/support/postgres-transactions.ts'
import { once } from '../../core/once.ts'
import { fromPg } from '../database/pg.ts'
import { postgres } from './index.ts'

describePostgres('T13: more operations than connections', () => {
  const place = transactionPlace()
  const { run } = chargesAt(place)

  /** Work that waits until `end` is called, on a pool of two: one wins, one is left over. */
  function held(options: { readonly maxQueue?: number } = {}) {
    const store = postgres(fromPg(place.open(undefined, { max: 2 })), {
      schema: place.schema,
      claimMs: '10s',
      ...options,
    })
    let end = () => {}
    const ending = new Promise<void>((resolve) => {
      end = resolve
    })
    let begin = () => {}
    const begun = new Promise<void>((resolve) => {
      begin = resolve
    })
    const work: Work = async ({ tx }) => {
      begin()
      await place.write(tx, 'held')
      await ending
    }
    const first = operation()
    return { store, first, ran: run(first, work, {}, store), begun, end }
  }

  it('a second winner waits for its turn, and duplicates never queue', async () => {
    const { store, first, ran, begun, end } = held()
    await begun
    const second = operation()
    const waiting = run(second, undefined, {}, store)
    expect((await run(first, never, {}, store)).kind).toBe('busy')
    expect(await Promise.race([waiting, run(first, never, {}, store)])).toMatchObject({ kind: 'busy' })
    end()
    expect((await ran).kind).toBe('ran')
    expect((await waiting).kind).toBe('ran')
    expect(await place.count(second.key)).toBe(1)
  })

  it('all of many more run once each', async () => {
    const store = postgres(fromPg(place.open(undefined, { max: 4 })), { schema: place.schema, claimMs: '10s' })
    const charges = Array.from({ length: 60 }, () => operation())
    const outcomes = await Promise.all(charges.map((charge) => run(charge, undefined, {}, store)))
    expect(outcomes.every(({ kind }) => kind === 'ran')).toBe(true)
  })

  it('past maxQueue the store is unavailable, and the work does not run', async () => {
    const { store, ran, begun, end } = held({ maxQueue: 0 })
    await begun
    await expect(run(operation(), never, {}, store)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    end()
    await ran
  })

  it("a caller's own signal ends its wait for a turn, with busy", async () => {
    const { store, ran, begun, end } = held()
    await begun
    const signal = AbortSignal.timeout(50)
    expect((await once(store, operation(), never, { signal })).kind).toBe('busy')
    end()
    await ran
  })
})
