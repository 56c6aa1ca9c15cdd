/** Makes the table where it is missing and lets DynamoDB remove what is past its end: by the operator's word, never by surprise. */
import { sleep } from '../../core/clock.ts'
import { DEFINITION, TTL_ATTRIBUTE } from './definition.ts'
import type { Meta } from './meta.ts'
import { isMissingTable } from './refusals.ts'
import type { Ground } from './table.ts'

/** A new table takes seconds; one that takes longer than this has another trouble, which its next call tells. */
const WAITS = 120
const WAIT_MS = 500

/** Where there is a table already, nothing but a look and the time to live is asked for. */
export async function migrate(ground: Ground, meta: Meta): Promise<void> {
  if ((await statusOf(ground)) === undefined) await create(ground)
  for (let waits = 0; (await statusOf(ground)) !== 'ACTIVE' && waits < WAITS; waits++) await sleep(WAIT_MS)
  await enableTimeToLive(ground)
  await meta.again()
}

async function statusOf({ call, table }: Ground): Promise<string | undefined> {
  try {
    const { Table } = await call('DescribeTable', { TableName: table })
    return Table?.TableStatus
  } catch (error) {
    if (isMissingTable(error)) return undefined
    throw error
  }
}

async function create({ call, table }: Ground): Promise<void> {
  try {
    const { AttributeDefinitions, KeySchema, BillingMode } = DEFINITION
    await call('CreateTable', {
      TableName: table,
      AttributeDefinitions: [...AttributeDefinitions],
      KeySchema: [...KeySchema],
      BillingMode,
    })
  } catch (error) {
    // Another process migrates too.
    if ((error as Error).name !== 'ResourceInUseException') throw error
  }
}

async function enableTimeToLive({ call, table }: Ground): Promise<void> {
  try {
    const { TimeToLiveDescription: now } = await call('DescribeTimeToLive', { TableName: table })
    if (now?.TimeToLiveStatus === 'ENABLED' || now?.TimeToLiveStatus === 'ENABLING') return
    await call('UpdateTimeToLive', {
      TableName: table,
      TimeToLiveSpecification: { Enabled: true, AttributeName: TTL_ATTRIBUTE },
    })
  } catch (error) {
    // Two processes at once, or an emulator that has none; a sweep removes what is past its end, too.
    if (!['ValidationException', 'UnknownOperationException'].includes((error as Error).name)) throw error
  }
}
