/** What the store relies on, whichever library the transaction comes from (T5, T7, T10, T11). */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { describePostgres, freshDatabase, onPostgres } from '../../../../../test/support/postgres.ts'
import { adapters, type Opened } from '../../../../../test/support/postgres-adapters.ts'
import { type FaultProxy, faultProxy } from '../../testing/proxy.ts'
import { type Ending, isInDoubt, type Statement } from './database.ts'

const OPENING: readonly Statement[] = [
  { text: 'select $1::int as first_number, pg_backend_pid() as pid', params: [1] },
  { text: 'savepoint of_ours', params: [] },
  {
    text: 'select $1::uuid as id, $2::bytea as body, true as yes, null as nothing, 7::int8::text as big',
    params: ['0'.repeat(32), new Uint8Array([0, 255])],
  },
]
/** Not `read committed`. */
const COMMIT = /\bcommit\b/
const ROLLBACK = { rollback: true, value: 'rolled back' } as const
const insert = (n: number): Statement => ({ text: 'insert into t (n) values ($1)', params: [n] })
const commit = (...statements: Statement[]): Ending<string> => ({ commit: statements, value: 'committed' })

describePostgres.each(adapters)('the transaction of $name', ({ open }) => {
  const fresh = freshDatabase()
  let proxy: FaultProxy
  let opened: Opened

  beforeEach(async () => {
    await onPostgres('drop table if exists t; create table t (n int unique deferrable initially deferred)', fresh.url)
    proxy = await faultProxy({ to: fresh.url, latencyMs: 3 })
    opened = open(proxy.url)
  })
  afterEach(async () => {
    await opened.end().catch(() => {})
    await proxy[Symbol.asyncDispose]()
  })

  const attempt = (ending: Ending<string>, work: (tx: unknown, pid: number) => Promise<unknown> = async () => {}) =>
    opened.database.transaction(OPENING, async (tx, rows) => {
      await work(tx, Number(rows[0]?.[0]?.pid))
      return ending
    })
  const kept = async () => (await onPostgres('select n from t order by n', fresh.url)).rows.map(({ n }) => n)

  it('gives back the rows of each opening statement, as they are', async () => {
    await opened.database.transaction(OPENING, async (_, [first, second, third]) => {
      expect(first?.[0]?.first_number).toBe(1)
      expect(second).toEqual([])
      const row = third?.[0] ?? {}
      expect([row.id, row.yes, row.nothing, row.big]).toEqual(['00000000-0000-0000-0000-000000000000', true, null, '7'])
      expect([...(row.body as Uint8Array)]).toEqual([0, 255])
      return ROLLBACK
    })
  })

  it('answers a statement of its own, outside of any transaction', async () => {
    const [row] = await opened.database.query({ text: 'select $1::int8::text as some_number', params: [7n] })
    expect(row?.some_number).toBe('7')
  })

  it('commits the work together with the last statements', async () => {
    expect(await attempt(commit(insert(2)), (tx) => opened.run(tx, 'insert into t values (1)'))).toBe('committed')
    expect(await kept()).toEqual([1, 2])
  })

  it('keeps nothing after a rollback, and nothing when the work throws', async () => {
    expect(await attempt(ROLLBACK, (tx) => opened.run(tx, 'insert into t values (1)'))).toBe('rolled back')
    const thrown = new Error('of the work')
    await expect(
      attempt(commit(), async (tx) => {
        await opened.run(tx, 'insert into t values (2)')
        throw thrown
      }),
    ).rejects.toBe(thrown)
    expect(await kept()).toEqual([])
  })

  it('runs at READ COMMITTED and READ WRITE, whatever the database prefers', async () => {
    const database = new URL(fresh.url).pathname.slice(1)
    await onPostgres(`alter database ${database} set default_transaction_isolation = 'serializable'`)
    await onPostgres(`alter database ${database} set default_transaction_read_only = on`)
    try {
      await opened.database.transaction(
        [{ text: `select current_setting('transaction_isolation') as level`, params: [] }],
        async (tx, rows) => {
          expect(rows[0]?.[0]?.level).toBe('read committed')
          await opened.run(tx, 'insert into t values (1)')
          return commit()
        },
      )
    } finally {
      await onPostgres(`alter database ${database} reset all`)
    }
    expect(await kept()).toEqual([1])
  })

  it('gives its connection back, whatever the end', async () => {
    for (let n = 0; n < 3; n += 1) {
      for (let each = 0; each < 5; each += 1) await attempt(ROLLBACK)
      await attempt(commit(insert(n)))
      await attempt(ROLLBACK, () => Promise.reject(new Error('thrown'))).catch(() => {})
      await attempt(commit({ text: 'select 1 / 0', params: [] })).catch(() => {})
    }
    expect(await kept()).toEqual([0, 1, 2])
    expect(await openTransactions()).toBe(0)
  })

  it('T7: refuses its handle once the work has ended', async () => {
    let left: unknown
    await attempt(commit(), async (tx) => {
      left = tx
    })
    await expect((async () => opened.run(left, 'insert into t values (1)'))()).rejects.toMatchObject({
      code: 'TX_CLOSED',
    })
    expect(await kept()).toEqual([])
  })

  it.each(['commit', 'rollback', 'end', 'abort', "prepare transaction 'x'", 'select 1; commit'])(
    'T7: refuses %s from the work',
    async (control) => {
      await expect(attempt(commit(), (tx) => opened.run(tx, control))).rejects.toMatchObject({ code: 'TX_CONTROL' })
    },
  )

  it('T12: tells the work when its connection dies, commits nothing, and goes on with another connection', async () => {
    const lost = opened.database.transaction(OPENING, async (tx, rows, gone) => {
      await opened.run(tx, 'insert into t values (1)')
      await onPostgres(`select pg_terminate_backend(${rows[0]?.[0]?.pid})`, fresh.url)
      if (!gone.aborted) await new Promise((resolve) => gone.addEventListener('abort', resolve))
      await expect((async () => opened.run(tx, 'insert into t values (2)'))()).rejects.toThrow()
      return commit(insert(3))
    })
    const error = await lost.catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(Error)
    expect(isInDoubt(error)).toBe(false)
    for (let n = 10; n < 16; n += 1) await attempt(commit(insert(n)))
    expect(await kept()).toEqual([10, 11, 12, 13, 14, 15])
  })

  it('T11: COMMIT that was cut before the server had it is in doubt, and nothing was kept', async () => {
    proxy.next(COMMIT, { kind: 'cut', at: 'request' })
    await expect(attempt(commit(insert(1)))).rejects.toSatisfy(isInDoubt)
    expect(await kept()).toEqual([])
    expect(await attempt(commit(insert(2)))).toBe('committed')
  })

  it.each(['reset', 'end'] as const)(
    'T11: COMMIT whose answer was lost is in doubt, and it was kept (%s)',
    async (by) => {
      proxy.next(COMMIT, { kind: 'cut', at: 'answer', by })
      await expect(attempt(commit(insert(1)))).rejects.toSatisfy(isInDoubt)
      expect(await kept()).toEqual([1])
      expect(await attempt(commit(insert(2)))).toBe('committed')
    },
  )

  it('T11: COMMIT that is not answered in time is in doubt', async () => {
    proxy.next(COMMIT, { kind: 'silence', at: 'answer' })
    await expect(attempt(commit(insert(1)))).rejects.toSatisfy(isInDoubt)
    expect(await kept()).toEqual([1])
    expect(await attempt(commit(insert(2)))).toBe('committed')
  })

  it('T11: COMMIT that the server ended with its session is in doubt, however it says so', async () => {
    await onPostgres(
      `create or replace function leave() returns trigger language plpgsql as
         $$ begin perform pg_terminate_backend(pg_backend_pid()); perform pg_sleep(1); return new; end $$;
       create constraint trigger leaving after insert on t deferrable initially deferred
         for each row when (new.n = 66) execute function leave()`,
      fresh.url,
    )
    await expect(attempt(commit(insert(66)))).rejects.toSatisfy(isInDoubt)
    expect(await kept()).toEqual([])
  })

  it("T10: an ERROR at COMMIT is definite, and it is the user's own", async () => {
    await onPostgres('insert into t values (1)', fresh.url)
    const error = await attempt(commit(insert(1))).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: '23505' })
    expect(await attempt(commit(insert(2)))).toBe('committed')
  })

  it('a last statement that fails keeps everything from being committed, and leaves no transaction behind', async () => {
    const work = (tx: unknown) => opened.run(tx, 'insert into t values (1)')
    await expect(attempt(commit({ text: 'select 1 / 0', params: [] }, insert(2)), work)).rejects.toMatchObject({
      code: '22012',
    })
    expect(await kept()).toEqual([])
    expect(await openTransactions()).toBe(0)
  })

  it('T10: work that caught its own failed statement does not commit', async () => {
    const error = await attempt(commit(insert(1)), async (tx) => {
      await opened.run(tx, 'select 1 / 0').catch(() => {})
    }).catch((reason: unknown) => reason)
    expect(isInDoubt(error)).toBe(false)
    expect(String((error as { code: unknown }).code)).toMatch(/25P02|22012/)
    expect(await kept()).toEqual([])
  })

  it('T9: goes back to the savepoint where the work left the transaction aborted', async () => {
    if (opened.database.flights === 'single') return
    const instead = commit({ text: 'rollback to savepoint of_ours', params: [] }, insert(9))
    const value = await attempt(
      {
        commit: [insert(1)],
        value: 'as wished',
        whenAborted: { commit: (instead as { commit: readonly Statement[] }).commit, value: 'undone' },
      },
      async (tx) => {
        await opened.run(tx, 'insert into t values (5)')
        await opened.run(tx, 'select 1 / 0').catch(() => {})
      },
    )
    expect(value).toBe('undone')
    expect(await kept()).toEqual([9])
  })

  it('T9: commits as wished where the work has put its failed statement right by itself', async () => {
    if (opened.database.flights === 'single') return
    const value = await attempt(
      { commit: [insert(1)], value: 'as wished', whenAborted: { commit: [insert(9)], value: 'undone' } },
      async (tx) => {
        await opened.run(tx, 'savepoint mine')
        await opened.run(tx, 'select 1 / 0').catch(() => {})
        await opened.run(tx, 'rollback to savepoint mine')
      },
    )
    expect(value).toBe('as wished')
    expect(await kept()).toEqual([1])
  })

  it('T12: destroys the connection that work is still running on', async () => {
    let pid = 0
    await attempt({ ...ROLLBACK, destroy: true }, async (tx, own) => {
      pid = own
      void opened.run(tx, 'select pg_sleep(0.2); insert into t values (1)').catch(() => {})
      await sleep(30)
    })
    expect(await attempt(commit(insert(2)))).toBe('committed')
    await expect
      .poll(async () => (await onPostgres(`select 1 from pg_stat_activity where pid = ${pid}`)).rowCount)
      .toBe(0)
    expect(await kept()).toEqual([2])
  })

  it('a query of the work that nobody awaited is part of it or refused, and its failure ends no process', async () => {
    await attempt(commit(insert(1)), async (tx) => {
      void opened.run(tx, 'insert into t values (7)').catch(() => {})
    }).catch(() => {})
    expect(await kept()).toContain(1)
    await attempt(commit(insert(2))).catch(() => {})
    expect(await openTransactions()).toBe(0)
  })

  it('a server that is down fails at once, and a server that is back serves again', async () => {
    await attempt(commit(insert(1)))
    proxy.down()
    await sleep(20)
    const since = performance.now()
    await expect(attempt(commit(insert(2)))).rejects.toThrow()
    expect(performance.now() - since).toBeLessThan(1_000)
    await proxy.up()
    await expect.poll(() => attempt(commit(insert(3))).catch(() => 'not yet')).toBe('committed')
    expect(await kept()).toEqual([1, 3])
  })

  async function openTransactions(): Promise<number | null> {
    await sleep(15)
    const found = await onPostgres(
      `select 1 from pg_stat_activity where datname = '${new URL(fresh.url).pathname.slice(1)}' and state like 'idle in%'`,
      fresh.url,
    )
    return found.rowCount
  }
})
