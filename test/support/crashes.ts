// A process killed with SIGKILL at a moment that the library tells of, and what a retry at another process must find.
import { newKey } from 'oncekey/client'
import { expect, it } from 'vitest'
import { chargeServer, post } from './charge-servers.ts'
import type { Arena, Effect, Ground } from './charges/charging.ts'

interface Point {
  readonly point: string
  readonly CRASH_AT: string
  /** Whether the charge may be there then, by where it is made. */
  readonly left: Readonly<Record<Effect, readonly number[]>>
  /** What a retry is told that comes before the lease has ended. */
  readonly kept: 'no' | 'yes' | 'perhaps'
}

const POINTS: readonly Point[] = [
  { point: 'after the claim', CRASH_AT: 'oncekey:claimed', left: { inside: [0], outside: [0] }, kept: 'no' },
  { point: 'after the write', CRASH_AT: 'write', left: { inside: [0], outside: [1] }, kept: 'no' },
  { point: 'before the receipt is sent', CRASH_AT: 'oncekey:keeping', left: { inside: [0], outside: [1] }, kept: 'no' },
  {
    point: 'once the receipt and COMMIT are sent',
    CRASH_AT: 'sent',
    left: { inside: [0, 1], outside: [1] },
    kept: 'perhaps',
  },
  {
    point: 'after COMMIT, before the answer',
    CRASH_AT: 'oncekey:kept',
    left: { inside: [1], outside: [1] },
    kept: 'yes',
  },
]

const LEASE_MS = 1_000

export function crashes(arena: Arena): void {
  // SQLite writes receipt and COMMIT in one turn of the loop: there is no moment between them to be killed in from within.
  const points = POINTS.filter(({ CRASH_AT }) => arena.name !== 'SQLite' || CRASH_AT !== 'sent')
  const title = arena.mode === 'transaction' ? 'the retry is answered at once' : 'the retry is answered after the lease'
  it.each(points)(`$point: ${title}`, async (point) => {
    await (arena.mode === 'transaction' ? atOnce : afterTheLease)(await arena.ground(), point, arena)
  })
}

async function atOnce(ground: Ground, point: Point, { effect }: Arena): Promise<void> {
  const { key, survivor, answered } = await killed(ground, point, effect, { MODE: 'transaction' })
  // The dead process's connection may take a moment to be noticed; never a lease.
  let retry = await post(survivor.url, key)
  for (let tries = 0; retry.status === 409 && tries < 20; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    retry = await post(survivor.url, key)
  }
  expect(retry.status).toBe(201)
  if (answered) expect(retry.replayed).toBe(true)
  expect(await ground.charges()).toBe(1)
}

async function afterTheLease(ground: Ground, point: Point, { effect, slackMs = 0 }: Arena): Promise<void> {
  const { key, survivor, sentAt, answered } = await killed(ground, point, effect, {
    MODE: 'lease',
    LEASE: `${LEASE_MS}ms`,
  })
  const early = await post(survivor.url, key)
  // A crowded machine may take as long as the lease to come this far.
  const inTime = performance.now() - sentAt < LEASE_MS
  const replay = { status: 201, replayed: true }
  const busy = { status: 409, code: 'in-progress' }
  if (answered || point.kept === 'yes' || (point.kept === 'perhaps' && early.status === 201))
    expect(early).toMatchObject(replay)
  else if (inTime) expect(early).toMatchObject(busy)
  else expect([201, 409]).toContain(early.status)
  await new Promise((resolve) => setTimeout(resolve, LEASE_MS + 100 + slackMs))
  expect((await post(survivor.url, key)).status).toBe(201)
  expect((await post(survivor.url, key)).replayed).toBe(true)
  expect(await ground.charges()).toBe(1)
}

async function killed(
  ground: Ground,
  { CRASH_AT, left }: Point,
  effect: Effect,
  settings: Readonly<Record<string, string>>,
) {
  const [victim, survivor] = await Promise.all([
    chargeServer({ ...ground.env, ...settings, CRASH_AT, WORK_MS: '0' }),
    chargeServer({ ...ground.env, ...settings, WORK_MS: '0' }),
  ])
  const key = newKey()
  const sentAt = performance.now()
  const { status } = await post(victim.url, key)
  // A crowded process may read what the store answered before it comes to its own end: that answer has to be durable.
  expect(CRASH_AT === 'sent' ? [0, 201] : [0]).toContain(status)
  await victim.ended
  expect(status === 201 ? [1] : left[effect]).toContain(await ground.charges())
  return { key, survivor, sentAt, answered: status === 201 }
}
