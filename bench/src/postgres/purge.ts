// A million expired keys are swept while 8 callers go on: what traffic feels of it, and how fast it goes.
import { randomUUID } from 'node:crypto'
import { ours } from '../ours.ts'
import type { Section } from '../report.ts'
import type { Settings } from '../settings.ts'
import { quantile } from '../spread.ts'
import { inTransaction } from './contenders.ts'
import { type Ground, ground } from './ground.ts'
import { type InPg, storesOn } from './stores.ts'

const CALLERS = 8

interface Round {
  readonly idleP99: number
  readonly sweepingP99: number
  readonly rowsPerSecond: number
}

export async function purge(server: string, { quick, rounds }: Settings): Promise<readonly Section[]> {
  const expired = quick ? 100_000 : 1_000_000
  // The sweep has a connection for itself: what is felt is its work, not its place in the pool.
  await using base = await ground(server, CALLERS + 1)
  await using stores = await storesOn(base, CALLERS + 1)
  const ran: Round[] = []
  await fill(base, expired / 5, '1 day')
  for (let round = 0; round < (quick ? 1 : Math.min(rounds, 5)); round++) {
    await fill(base, expired, '-1 minute')
    // What the fill has left to write is not the sweep's.
    await base.pool.query('vacuum analyze oncekey.record')
    await base.pool.query('checkpoint').catch(() => {})
    ran.push(await sweepOnce(stores.stock, expired, quick ? 1_000 : 5_000))
  }
  const middle = (of: (round: Round) => number) => quantile(ran.map(of), 0.5)
  return [
    {
      title: `PostgreSQL, sweeping ${expired.toLocaleString('en')} expired keys beside ${CALLERS} callers (${(expired / 5).toLocaleString('en')} keys stay), ${ran.length} rounds`,
      rows: ran.map(({ idleP99, sweepingP99, rowsPerSecond }) => ({
        'p99 idle, ms': idleP99.toFixed(1),
        'p99 sweeping, ms': sweepingP99.toFixed(1),
        'rows/s': Math.round(rowsPerSecond),
      })),
      findings: [
        {
          what: 'p99 of traffic, sweeping / idle',
          value: middle((one) => one.sweepingP99 / one.idleP99),
          must: 1.3,
          aim: 1.1,
        },
        { what: 'rows swept per second', value: middle((one) => one.rowsPerSecond), must: 150_000, bound: 'least' },
      ],
    },
  ]
}

async function sweepOnce(store: InPg, expired: number, idleMs: number): Promise<Round> {
  const before = await traffic(store, wait(idleMs))
  const started = performance.now()
  const sweeping = store.admin.sweep()
  const during = await traffic(store, sweeping)
  const { removed } = await sweeping
  const seconds = during.endedAt - started
  const after = await traffic(store, wait(idleMs))
  if (removed < expired) throw new Error(`${removed} of ${expired} expired keys were swept`)
  return {
    idleP99: quantile([...before.times, ...after.times], 0.99),
    sweepingP99: quantile(during.times, 0.99),
    rowsPerSecond: removed / (seconds / 1_000),
  }
}

interface Traffic {
  readonly times: readonly number[]
  readonly endedAt: number
}

/** New keys by all callers until `end`. */
async function traffic(store: InPg, end: Promise<unknown>): Promise<Traffic> {
  const times: number[] = []
  let endedAt: number | undefined
  const ending = end.finally(() => {
    endedAt = performance.now()
  })
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      while (endedAt === undefined) {
        const before = performance.now()
        await ours(store, randomUUID(), inTransaction, 'ran')
        times.push(performance.now() - before)
      }
    }),
  )
  await ending
  return { times, endedAt: endedAt ?? performance.now() }
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Finished records as the store writes them, by hand: a million operations would take longer than all else here. */
async function fill({ pool }: Ground, count: number, end: string): Promise<void> {
  await pool.query(
    `insert into oncekey.record (k, fingerprint, expires_at, state, body)
     select gen_random_uuid(), gen_random_uuid(), now() + $2::interval, 4, decode(repeat('20', 60), 'hex')
       from generate_series(1, $1)`,
    [count, end],
  )
}
