// What the work may do with Prisma's transaction, and what it may not (T5, T7, T8, T10, T11).
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { PrismaPg } from '@prisma/adapter-pg'
import { once } from 'oncekey'
import { fromPrisma, postgres } from 'oncekey/postgres'
import { type FaultProxy, faultProxy } from 'oncekey/testing'
import { onPostgres } from '../../../test/support/grounds-apart.ts'
import { type Prisma, PrismaClient } from '../src/generated/client.ts'
import { accounts } from '../src/open-account.ts'

type Granted = { readonly tx: Prisma.TransactionClient }

describe('the work of Prisma', () => {
  const { url, ask } = onPostgres.fresh()
  let proxy: FaultProxy
  let prisma: PrismaClient

  before(async () => {
    proxy = await faultProxy({ to: url, latencyMs: 3 })
    prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: proxy.url, max: 4 }) })
    await accounts(prisma).store.admin.migrate()
  })
  after(async () => {
    await prisma.$disconnect()
    await proxy[Symbol.asyncDispose]()
  })

  const operation = () => ({ scope: 'shop', key: randomUUID(), fingerprints: ['open'] as const })
  const store = () => postgres(fromPrisma(prisma, { connections: 4 }))
  const count = (owner: string) => prisma.account.count({ where: { owner } })

  it('opens an account once', async () => {
    const { openAccount } = accounts(prisma)
    const [charge, owner] = [operation(), randomUUID()]
    const first = await openAccount(charge, owner)
    const again = await openAccount(charge, owner)
    assert.deepEqual([first.kind, again.kind], ['ran', 'replayed'])
    assert.deepEqual(again, { ...again, value: (first as { value: unknown }).value })
    assert.equal(await count(owner), 1)
  })

  it('a new key takes seven flights after the look, since Prisma sends BEGIN in two, and a replay one', async () => {
    const warm = store()
    const work = async ({ tx }: Granted) => void (await tx.$queryRaw`select 1`)
    await once(warm, operation(), work)
    const charge = operation()
    const before = proxy.flights.answered
    await once(warm, charge, work)
    const between = proxy.flights.answered
    await once(warm, charge, work)
    assert.deepEqual([between - before, proxy.flights.answered - between], [8, 1])
  })

  it('a nested transaction is a savepoint', async () => {
    const [kept, undone] = [randomUUID(), randomUUID()]
    await once(store(), operation(), async ({ tx }) => {
      await tx.account.create({ data: { owner: kept } })
      const part = tx.$transaction(async (inner) => {
        await inner.account.create({ data: { owner: undone } })
        throw new Error('of the part')
      })
      await assert.rejects(part, /of the part/)
    })
    assert.deepEqual([await count(kept), await count(undone)], [1, 0])
  })

  it('T8: a unique violation, which Prisma wraps, is the user’s own', async () => {
    const [charge, owner] = [operation(), randomUUID()]
    const twice = async ({ tx }: Granted) => {
      await tx.account.create({ data: { owner } })
      await tx.account.create({ data: { owner } })
    }
    await assert.rejects(once(store(), charge, twice), { name: 'PrismaClientKnownRequestError', code: 'P2002' })
    assert.equal((await once(store(), charge, async () => 'again')).kind, 'ran')
    assert.equal(await count(owner), 0)
  })

  it('T8: a lost race is answered from the record, although Prisma does not tell its schema', async () => {
    const charge = operation()
    const leased = postgres(fromPrisma(prisma, { connections: 4 }), {
      mode: 'lease',
      onFailure: 'hold',
      onAbandoned: 'hold',
    })
    // Inside the work it would be the same operation once more, which is refused.
    const outside = AsyncLocalStorage.snapshot()
    const work = async ({ tx }: Granted) => {
      await tx.account.create({ data: { owner: charge.key } })
      await outside(() => once(leased, charge, async () => 'faster'))
      return 'slower'
    }
    assert.deepEqual(
      await once(store(), charge, work).then(({ kind, ...rest }) => [kind, 'value' in rest && rest.value]),
      ['replayed', 'faster'],
    )
    assert.equal(await count(charge.key), 0)
    await leased[Symbol.asyncDispose]()
  })

  it('T10: work that swallowed a failed statement is told, and nothing is kept', async () => {
    const [charge, owner] = [operation(), randomUUID()]
    const swallows = async ({ tx }: Granted) => {
      await tx.account.create({ data: { owner } })
      await tx.account.create({ data: { owner } }).catch(() => {})
    }
    await assert.rejects(once(store(), charge, swallows), { code: 'TX_ABORTED' })
    assert.equal(await count(owner), 0)
  })

  it('T10: a violation at COMMIT is definite, and the user’s own', async () => {
    await ask('create table later (n int unique deferrable initially deferred)')
    const work = async ({ tx }: Granted) => void (await tx.$executeRaw`insert into later values (1), (1)`)
    await assert.rejects(once(store(), operation(), work), (error: Error & { cause?: { originalCode?: unknown } }) => {
      return error.cause?.originalCode === '23505'
    })
  })

  it('T12: work that overruns is given up, nothing that it wrote is kept, and what it still writes is refused', async () => {
    const hasty = postgres(fromPrisma(prisma, { connections: 4 }), { work: 200 })
    const [owner, late] = [randomUUID(), randomUUID()]
    let end: Promise<unknown> = Promise.resolve()
    const work = async ({ tx }: Granted) => {
      const { account } = tx
      await account.create({ data: { owner } })
      end = tx.$queryRaw`select pg_sleep(0.5)::text`.then(() => account.create({ data: { owner: late } }))
      await end
    }
    await assert.rejects(once(hasty, operation(), work), { code: 'TRY_AGAIN' })
    await assert.rejects(end, { code: 'P2028' })
    assert.deepEqual([await count(owner), await count(late)], [0, 0])
  })

  it('T7: COMMIT by the work, and the transaction after it, are refused', async () => {
    const commits = [({ tx }: Granted) => tx.$executeRawUnsafe('commit'), ({ tx }: Granted) => tx.$executeRaw`rollback`]
    for (const work of commits)
      await assert.rejects(
        once(store(), operation(), async (grant) => work(grant)),
        { code: 'TX_CONTROL' },
      )
    let left: Prisma.TransactionClient | undefined
    let delegate: Prisma.TransactionClient['account'] | undefined
    await once(store(), operation(), async ({ tx }) => {
      left = tx
      delegate = tx.account
    })
    await assert.rejects(async () => left?.account.findMany(), { code: 'TX_CLOSED' })
    await assert.rejects(async () => delegate?.findMany(), { code: 'P2028' })
  })

  for (const at of ['answer', 'request'] as const) {
    it(`T11: COMMIT whose ${at} is lost is answered by the record`, async () => {
      const [charge, owner] = [operation(), randomUUID()]
      const work = async ({ tx }: Granted) => void (await tx.account.create({ data: { owner } }))
      proxy.next(/\bcommit\b/i, { kind: 'cut', at })
      const first = once(store(), charge, work)
      if (at === 'answer') assert.equal((await first).kind, 'replayed')
      else await assert.rejects(first, { code: 'TRY_AGAIN' })
      assert.equal((await once(store(), charge, work)).kind, at === 'answer' ? 'replayed' : 'ran')
      assert.equal(await count(owner), 1)
    })
  }

  it('T15: joins a transaction that Prisma itself has opened', async () => {
    const [charge, owner] = [operation(), randomUUID()]
    const all = store()
    const join = () =>
      prisma.$transaction(
        (tx) =>
          once(all.within(tx), charge, async (grant) => void (await grant.tx.account.create({ data: { owner } }))),
        { isolationLevel: 'ReadCommitted' },
      )
    assert.deepEqual([(await join()).kind, (await join()).kind], ['ran', 'replayed'])
    assert.equal(await count(owner), 1)
  })

  it('lease mode: begin() gives the transaction', async () => {
    const database = fromPrisma(prisma, { connections: 4 })
    const leased = postgres(database, { mode: 'lease', onFailure: 'hold', onAbandoned: 'hold' })
    const owner = randomUUID()
    await once(leased, operation(), async (grant) => {
      await (await grant.begin()).account.create({ data: { owner } })
    })
    assert.equal(await count(owner), 1)
    await leased[Symbol.asyncDispose]()
  })
})
