/** DynamoDB: a claim with a lease, and writes of the work's own that commit with its answer in one transaction. */
import { type Duration, milliseconds } from '../../core/clock.ts'
import { OncekeyError } from '../../core/errors.ts'
import { type AfterFailure, DEFAULTS } from '../../core/policy.ts'
import type { Collecting, Store } from '../../core/store.ts'
import { type LeasedOptions, leased } from '../leased.ts'
import { caller, type DynamoClient } from './client.ts'
import type { DynamoWrites } from './collected.ts'
import { DEFAULT_TABLE } from './definition.ts'
import { dynamoDriver } from './driver.ts'
import { serviceClock } from './service-clock.ts'
import type { Ground } from './table.ts'
import type { Values } from './writes.ts'

export type { DynamoClient } from './client.ts'
export type { DynamoWrites } from './collected.ts'
export type { Collected, Values } from './writes.ts'

export interface DynamoOptions<Item = Values> extends LeasedOptions {
  /** The table of our records. Default `oncekey`. */
  readonly table?: string
  /**
   * How far the clocks of two callers may be apart: DynamoDB has no clock to ask, so each caller's is corrected by the
   * `Date` headers it gets, and whoever acts on an end waits this much longer. Default 5s.
   */
  readonly maxSkew?: Duration
  /** Lets `tx` take plain values, as a document client does: `marshall` of `@aws-sdk/util-dynamodb`. */
  readonly marshall?: (item: Item) => Values
}

/** Two machines that keep their time are apart by milliseconds; one that does not is corrected to within a second. */
const MAX_SKEW_MS = 5_000

/**
 * What follows a failure has to be said: `dynamodb(client, downstreamDedupes({ for: '24h' }))`. The client stays the
 * application's own: nothing here ends it or changes it.
 */
export function dynamodb<Item = Values>(
  client: DynamoClient,
  options: DynamoOptions<Item> & AfterFailure,
): Store<Collecting<DynamoWrites<Item>>> {
  const { table = DEFAULT_TABLE, maxSkew = MAX_SKEW_MS, retain = DEFAULTS.retainMs, marshall } = options
  if (table === '') throw noTable()
  const clock = serviceClock()
  const skewMs = milliseconds(maxSkew, 'maxSkew')
  const ground: Ground = { call: caller(client, clock), table, at: () => ({ now: clock.now(), skewMs }) }
  return leased(dynamoDriver(ground, { retainMs: milliseconds(retain, 'retain'), marshall }), options)
}

function noTable(): OncekeyError {
  return new OncekeyError('INVALID_OPTION', {
    what: 'The name of the table is empty.',
    where: 'dynamodb',
    why: 'Without a table nothing is remembered.',
    fix: `Leave \`table\` out for ${DEFAULT_TABLE}, or give the name that your template gives it.`,
  })
}
