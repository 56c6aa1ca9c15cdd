/** T11: what one send left in doubt, a later refusal does not decide; what was cancelled was not done. */
import { describe, expect, it } from 'vitest'
import { wanted } from '../../../../../test/support/lease-claims.ts'
import { isInDoubt } from '../database/database.ts'
import type { Call } from './client.ts'
import { collecting } from './collected.ts'

const lost = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
const throttled = refusal('ProvisionedThroughputExceededException')
const expired = refusal('ExpiredTokenException')
const conflicting = cancelled('None', 'TransactionConflict', 'None')
const failed = cancelled('ConditionalCheckFailed', 'None', 'None')
const overloaded = refusal('InternalServerError', 500)

/** Answers one after another; the last for ever. */
function commit(...answers: readonly (Error | 'done')[]) {
  const sent: unknown[] = []
  const call = (async (_name, input) => {
    sent.push(input)
    const answer = answers[Math.min(sent.length, answers.length) - 1]
    if (answer instanceof Error) throw answer
    return {}
  }) as Call
  const held = { ...wanted({ policy: { work: 50 } }), fence: 1n }
  const opened = collecting({ call, table: 't', at: () => ({ now: 1, skewMs: 0 }) }, held, {})
  opened.tx.put({ TableName: 'orders', Item: { id: { S: 'o1' } } })
  return { sent, ended: opened.complete({ receipt: Uint8Array.of(1) }).catch((error: unknown) => error) }
}

describe.each([
  ['a reply that is lost', lost],
  ['throttling', throttled],
  ['a conflict', conflicting],
  ['a service in trouble', overloaded],
])('after %s', (_name, first) => {
  it('the same transaction is sent again, under the same token', async () => {
    const { sent, ended } = commit(first, 'done')
    expect(await ended).toBe('done')
    expect(sent).toHaveLength(2)
    expect(sent[1]).toBe(sent[0])
    expect(sent[0]).toHaveProperty('ClientRequestToken', expect.stringMatching(/^[0-9a-f]{32}$/))
  })
})

it.each([
  ['refused for good', expired],
  ['a condition of the user’s failed', failed],
])('%s: told at once, as it is', async (_name, error) => {
  const { sent, ended } = commit(error)
  expect(await ended).toBe(error)
  expect(sent).toHaveLength(1)
})

it('lost, then refused without a word about the transaction: still in doubt', async () => {
  expect(await commit(lost, expired).ended).toSatisfy(isInDoubt)
})

it('lost, then cancelled: the first send was not done either, or this one would have been it', async () => {
  expect(await commit(lost, failed).ended).toBe(failed)
})

it('lost until time is up: in doubt', async () => {
  expect(await commit(lost).ended).toSatisfy(isInDoubt)
})

it('in conflict until time is up: nothing was done', async () => {
  expect(await commit(conflicting).ended).toBe(conflicting)
})

function refusal(name: string, httpStatusCode = 400): Error {
  return Object.assign(new Error(name), { name, $metadata: { httpStatusCode } })
}

function cancelled(...codes: readonly string[]): Error {
  const reasons = { CancellationReasons: codes.map((Code) => ({ Code })) }
  return Object.assign(refusal('TransactionCanceledException'), reasons)
}
