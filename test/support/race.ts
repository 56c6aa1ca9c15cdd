// The race: identical requests from many callers at two server processes on one store, and what must be true of every round.
import { newKey } from 'oncekey/client'
import { expect } from 'vitest'
import { chargeServer, post } from './charge-servers.ts'
import type { Ground } from './charges/charging.ts'
import { countOf } from './whole.ts'

const AT_ONCE = 100
const ROUNDS = countOf({ whole: 20, usual: 2 })

export async function race(ground: Ground, settings: Readonly<Record<string, string>>): Promise<void> {
  const servers = await Promise.all([1, 2].map(() => chargeServer({ ...ground.env, ...settings, WORK_MS: '50' })))
  for (let round = 1; round <= ROUNDS; round++) {
    const key = newKey()
    const seen = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, at) => post((servers[at % 2] as { url: string }).url, key)),
    )
    expect(await ground.charges()).toBe(round)
    expect(await ground.starts()).toBe(round)
    expect(seen.filter(({ status, replayed }) => status === 201 && !replayed)).toHaveLength(1)
    for (const loser of seen.filter(({ status, replayed }) => status !== 201 || replayed)) {
      if (loser.status === 201) continue
      expect(loser).toMatchObject({ status: 409, code: 'in-progress', retryAfter: expect.stringMatching(/^[1-9]\d*$/) })
    }
  }
}

/** Fifty changed bodies against a first that runs. In SQLite's transaction mode another process can only ask once the first has ended. */
export async function changedBodies(ground: Ground, settings: Readonly<Record<string, string>>): Promise<void> {
  const servers = await Promise.all([1, 2].map(() => chargeServer({ ...ground.env, ...settings, WORK_MS: '500' })))
  const [first, second] = servers.map(({ url }) => url) as [string, string]
  const key = newKey()
  const running = post(first, key)
  while ((await ground.starts().catch(() => 0)) === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  const seen = await Promise.all(Array.from({ length: 50 }, (_, at) => post(at % 2 ? first : second, key, 1 + at)))
  expect(seen.map(({ status, code }) => `${status} ${code}`)).toEqual(Array(50).fill('422 key-reused'))
  expect((await running).status).toBe(201)
  expect(await ground.charges()).toBe(1)
  expect(await ground.starts()).toBe(1)
}
