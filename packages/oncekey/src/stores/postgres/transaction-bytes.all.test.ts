/** How much room a completed key takes in transaction mode, heap and all indexes. */
import { expect, it } from 'vitest'
import { ownPostgres } from '../../../../../test/support/own-postgres.ts'
import { describePostgres } from '../../../../../test/support/postgres.ts'
import { transactionBytesPerKey } from '../../../../../test/support/transaction-bytes.ts'
import { countOf } from '../../../../../test/support/whole.ts'
import { answerCodec } from '../../http/answer.ts'

const KEYS = countOf({ whole: 100_000, usual: 50_000 })

describePostgres(`${KEYS} completed keys in transaction mode`, () => {
  const alone = ownPostgres()
  const contentType = ['content-type', 'application/json'] as const
  const body = new TextEncoder().encode('{"id":"ch_12345678","amount":4200,"ok":true} ')

  it.each([
    ['with random keys', 175, false, [contentType]],
    ['with keys in time order', 162, true, [contentType]],
    ['with a Location', 215, false, [contentType, ['location', '/charges/ch_12345678'] as const]],
  ] as const)('%s take at most %d bytes each', { timeout: 900_000 }, async (_, limit, ordered, headers) => {
    const receipt = await answerCodec().encode({ status: 201, headers: [...headers], body })
    const bytes = await transactionBytesPerKey({ url: alone.url, schema: `s${limit}`, keys: KEYS, receipt, ordered })
    console.log(`${bytes.toFixed(1)} bytes per key, at most ${limit}`)
    expect(bytes).toBeLessThanOrEqual(limit)
  })
})
