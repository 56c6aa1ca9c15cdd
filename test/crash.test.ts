import { newKey } from 'oncekey/client'
import { describe, expect, it, vi } from 'vitest'
import { chargeServer, type Ground, post, postgresGround, sqliteGround } from './support/charge-servers.ts'
import { describePostgres } from './support/postgres.ts'

// Each test starts servers of its own, from source.
vi.setConfig({ testTimeout: 120_000 })

/** Where the process dies, and whether the charge is there then; `sent` is too late to say. */
const POINTS = [
  { point: 'after the claim', CRASH_AT: 'oncekey:claimed', left: [0] },
  { point: 'after the write', CRASH_AT: 'write', left: [0] },
  { point: 'before the receipt is sent', CRASH_AT: 'oncekey:keeping', left: [0] },
  { point: 'once the receipt and COMMIT are sent', CRASH_AT: 'sent', left: [0, 1] },
  { point: 'after COMMIT, before the answer', CRASH_AT: 'oncekey:kept', left: [1] },
]

describe('a process killed with SIGKILL', () => {
  // SQLite writes receipt and COMMIT in one turn of the loop: there is no moment between them to be killed in from within.
  describe.each(POINTS.filter(({ CRASH_AT }) => CRASH_AT !== 'sent'))('$point', ({ CRASH_AT, left }) => {
    it('SQLite, transaction mode: the retry is answered at once', async () => {
      await atOnce(await sqliteGround(), { CRASH_AT, left })
    })
    it('SQLite, lease mode: the retry is answered after the lease', async () => {
      await afterTheLease(await sqliteGround(), { CRASH_AT, left })
    })
  })
})

describePostgres('a process killed with SIGKILL', () => {
  describe.each(POINTS)('$point', ({ CRASH_AT, left }) => {
    it('Postgres, transaction mode: the retry is answered at once', async () => {
      await atOnce(await postgresGround('transaction'), { CRASH_AT, left })
    })
    it('Postgres, lease mode: the retry is answered after the lease', async () => {
      await afterTheLease(await postgresGround('lease'), { CRASH_AT, left })
    })
  })
})

interface Crash {
  readonly CRASH_AT: string
  readonly left: readonly number[]
}

async function atOnce(ground: Ground, { CRASH_AT, left }: Crash): Promise<void> {
  const { key, survivor } = await killed(ground, { CRASH_AT, left, MODE: 'transaction' })
  // The dead process's connection may take a moment to be noticed; never a lease.
  let retry = await post(survivor.url, key)
  for (let tries = 0; retry.status === 409 && tries < 20; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    retry = await post(survivor.url, key)
  }
  expect(retry.status).toBe(201)
  expect(await ground.charges()).toBe(1)
}

async function afterTheLease(ground: Ground, { CRASH_AT, left }: Crash): Promise<void> {
  const { key, survivor, before } = await killed(ground, { CRASH_AT, left, MODE: 'lease', LEASE: '1s' })
  const early = await post(survivor.url, key)
  if (before === 1) expect(early).toMatchObject({ status: 201, replayed: true })
  else expect(early).toMatchObject({ status: 409, code: 'in-progress' })
  await new Promise((resolve) => setTimeout(resolve, 1_100))
  expect((await post(survivor.url, key)).status).toBe(201)
  expect((await post(survivor.url, key)).replayed).toBe(true)
  expect(await ground.charges()).toBe(1)
}

async function killed(
  ground: Ground,
  { CRASH_AT, left, ...settings }: Crash & { readonly MODE: string; readonly LEASE?: string },
) {
  const [victim, survivor] = await Promise.all([
    chargeServer({ ...ground.env, ...settings, CRASH_AT, WORK_MS: '0' }),
    chargeServer({ ...ground.env, ...settings, WORK_MS: '0' }),
  ])
  const key = newKey()
  expect((await post(victim.url, key)).status).toBe(0)
  await victim.ended
  const before = await ground.charges()
  expect(left).toContain(before)
  return { key, survivor, before }
}
