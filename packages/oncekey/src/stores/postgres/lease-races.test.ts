/** Many callers of one key at one time, in one process and in two. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once as event } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { repeat, wanted } from '../../../../../test/support/lease-claims.ts'
import { freshLeasePort } from '../../../../../test/support/lease-port.ts'
import { describePostgres } from '../../../../../test/support/postgres.ts'
import { sleep } from '../../core/clock.ts'

const everything = process.env.ONCEKEY_TEST_ALL === '1'
const KEYS = everything ? 3_000 : 300
const ROUNDS = everything ? 20 : 4
const TAKERS = 50

describePostgres('races for a lease on PostgreSQL', () => {
  const port = freshLeasePort({ connections: 20 })

  it(`${KEYS} keys × 6 callers are ${KEYS} starts`, { timeout: 180_000 }, async () => {
    let starts = 0
    let left = KEYS
    async function callers(): Promise<void> {
      while (left-- > 0) {
        const owned = wanted()
        const told = await Promise.all(
          Array.from({ length: 6 }, async () => {
            await sleep(Math.random() * 3)
            return port.told(repeat(owned))
          }),
        )
        starts += told.filter((word) => word === 'won').length
        expect(told.filter((word) => word !== 'won' && word !== 'busy')).toEqual([])
      }
    }
    await Promise.all([callers(), callers(), callers(), callers()])
    expect(starts).toBe(KEYS)
  })

  it(`of ${2 * TAKERS} takers of an expired lease in two processes one wins, ${ROUNDS} times over (VilledeMontreal/express-idempotency#32)`, {
    timeout: 180_000,
  }, async () => {
    const takers = [await taker(), await taker()]
    try {
      for (let round = 0; round < ROUNDS; round += 1) {
        const owned = wanted()
        const first = await port.won(owned)
        await port.set(owned.id, 'lease_end = clock_timestamp()')
        const won = await Promise.all(takers.map((take) => take.round(owned.label.key)))
        expect((won[0] as number) + (won[1] as number)).toBe(1)
        expect(await port.driver.complete(first, { receipt: Uint8Array.of(1) })).not.toBe('done')
      }
    } finally {
      for (const { child } of takers) {
        child.stdin?.end()
        await event(child, 'exit')
      }
    }
  })

  async function taker() {
    const script = fileURLToPath(new URL('../../../../../test/support/lease-taker.ts', import.meta.url))
    const child: ChildProcess = spawn(
      process.execPath,
      ['--import', 'tsx', script, port.url, port.schema, String(TAKERS)],
      {
        stdio: ['pipe', 'pipe', 'inherit'],
      },
    )
    const lines = createInterface({ input: child.stdout as NonNullable<typeof child.stdout> })[Symbol.asyncIterator]()
    expect((await lines.next()).value).toBe('ready')
    return {
      child,
      async round(key: string): Promise<number> {
        child.stdin?.write(`${key}\n`)
        return Number((await lines.next()).value)
      },
    }
  }
})
