/** The size of very many completed keys: index pages are as full as they will ever be, heap pages have been pruned. */
import { expect, it } from 'vitest'
import { bytesPerKey } from '../../../../../test/support/key-bytes.ts'
import { ownPostgres } from '../../../../../test/support/own-postgres.ts'
import { describePostgres, onPostgres } from '../../../../../test/support/postgres.ts'
import { countOf } from '../../../../../test/support/whole.ts'
import { answerCodec } from '../../http/answer.ts'

const KEYS = countOf({ whole: 100_000, usual: 30_000 })

describePostgres(`${KEYS} completed keys in lease mode`, () => {
  const alone = ownPostgres()
  const contentType = ['content-type', 'application/json'] as const
  const body = new TextEncoder().encode('{"id":"ch_12345678","amount":4200,"ok":true} ')

  it.each([
    [200, [contentType]],
    [245, [contentType, ['location', '/charges/ch_12345678'] as const]],
  ])('take at most %d bytes each', { timeout: 900_000 }, async (limit, headers) => {
    const [row] = (await onPostgres(`select current_setting('server_version_num')::int as version`, alone.url)).rows
    const receipt = await answerCodec().encode({ status: 201, headers, body })
    const bytes = await bytesPerKey({ url: alone.url, schema: `s${limit}`, keys: KEYS, receipt })
    console.log(`${bytes.toFixed(1)} bytes per key, at most ${limit}`)
    // Before PostgreSQL 16 a BRIN index on the changed column ends HOT updates.
    expect(bytes).toBeLessThanOrEqual(row.version < 160_000 ? limit + 15 : limit)
  })
})
