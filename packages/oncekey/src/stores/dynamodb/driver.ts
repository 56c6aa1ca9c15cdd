/** Everything behind the bracket, put together on one table. */
import type { CollectingDriver } from '../leased.ts'
import { dynamoAdmin } from './admin.ts'
import type { CollectOptions, DynamoWrites } from './collected.ts'
import { leaseDriver } from './lease.ts'
import { metaOf } from './meta.ts'
import type { Ground } from './table.ts'

export interface DriverOptions<Item> extends CollectOptions<Item> {
  /** How long a record is kept that somebody settles by hand, in milliseconds. */
  readonly retainMs: number
}

export function dynamoDriver<Item>(
  ground: Ground,
  { retainMs, marshall }: DriverOptions<Item>,
): CollectingDriver<DynamoWrites<Item>> {
  const meta = metaOf(ground)
  const admin = dynamoAdmin(ground, { meta, retainMs })
  return leaseDriver(ground, { admin, ready: meta.start, restored: meta.restored, marshall })
}
