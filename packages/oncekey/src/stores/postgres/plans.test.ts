/** How PostgreSQL goes about the statements that every request, or every sweep, sends: by key or by place, never through the table. */
import { beforeAll, describe, expect, it } from 'vitest'
import { repeat, wanted } from '../../../../../test/support/lease-claims.ts'
import { freshLeasePort } from '../../../../../test/support/lease-port.ts'
import { describePostgres } from '../../../../../test/support/postgres.ts'
import type { KeyRecord } from '../../core/record.ts'
import type { Held } from '../../core/store.ts'
import type { Statement } from '../database/database.ts'
import { namesIn } from './names.ts'
import { erase } from './statements/admin/erase.ts'
import { find } from './statements/admin/find.ts'
import { forget } from './statements/admin/forget.ts'
import { settleFinished } from './statements/admin/settle-finished.ts'
import { sweep } from './statements/admin/sweep.ts'
import { claim } from './statements/lease/claim.ts'
import { complete } from './statements/lease/complete.ts'
import { renew } from './statements/lease/renew.ts'
import { take } from './statements/lease/take.ts'
import { look } from './statements/look.ts'
import { replace } from './statements/replace.ts'

describePostgres('the plan', () => {
  const port = freshLeasePort()
  const owned = wanted()
  const held: Held = { ...owned, fence: 1n }
  const names = namesIn(port.schema)
  const seen: KeyRecord = { id: owned.id, state: 'finished' }
  const by = { who: 'w', why: 'w' }

  beforeAll(async () => {
    await port.pool.query(`
      insert into ${port.record} (k, fingerprint, expires_at, state, body)
      select gen_random_uuid(), gen_random_uuid(), now() - interval '1 hour', 4, 'x'::bytea from generate_series(1, 20000)`)
    await port.pool.query(`analyze ${port.record}`)
  })
  /** The ways in which tables are read, in the order of the plan. */
  async function scansOf({ text, params }: Statement): Promise<string[]> {
    const { rows } = await port.pool.query(`explain ${text}`, params as unknown[])
    const lines = rows.map((row) => String(row['QUERY PLAN']))
    return lines.flatMap((line) => /((?:\w+ )*Scan).* on record/.exec(line)?.[1] ?? [])
  }

  it.each([
    ['a look', look(names, owned.id)],
    ['a claim', claim(names.record)(owned)],
    ['a takeover', take(names.record)(repeat(owned))],
    ['a beat', renew(names.record)(held)],
    ['a completion', complete(names.record)(held, { receipt: Uint8Array.of(1) })],
    [
      'a replacement',
      replace(
        names,
        {
          ...{ id: owned.id, print: owned.prints[0], state: 4, body: Uint8Array.of(1), opened: '1' },
          ...{ keepMs: 1, tombstoneMs: null, carries: false },
        },
        { state: 4, fence: null, token: null },
      ),
    ],
    ['a look by an operator', find(names)(owned.id)],
    ['an erasure', erase(names)(seen, by)],
    ['a settlement', settleFinished(names)(seen, Uint8Array.of(1), by, { retainMs: 1 })],
    ['a removal', forget(names)(seen, by)],
  ] as const)('of %s goes by the key', async (_, statement) => {
    const scans = await scansOf(statement)
    expect(scans.length).toBeGreaterThan(0)
    expect(scans.filter((scan) => scan !== 'Index Scan')).toEqual([])
  })

  describe('of a sweep', () => {
    it('goes by place, to read and to write', async () => {
      const scans = await scansOf(sweep(names)({ from: { block: 0, offset: 0 }, toBlock: 4_096, batch: 10_000 }))
      expect(new Set(scans)).toEqual(new Set(['Tid Range Scan', 'Tid Scan']))
    })
  })
})
