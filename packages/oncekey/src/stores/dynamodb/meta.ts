/** The item that belongs to the table and not to a record: whose it is, its epoch, the last restore, and who sweeps (I4). */
import type { TransactWriteItem } from '@aws-sdk/client-dynamodb'
import { randomHex } from '../../core/digest.ts'
import { OncekeyError } from '../../core/errors.ts'
import type { Restored } from '../../core/store.ts'
import type { Attributes } from './client.ts'
import { type Condition, conditional, number, text, update } from './expressions.ts'
import { isMissingTable, refusedBy } from './refusals.ts'
import type { Ground } from './table.ts'

/** No identity is this short. */
export const META = 'meta'
/** How `identify` names records; another scheme would find none of them. */
const IDENTITY_SCHEME = 1
/** The newest items that this build can read. */
const READER = 1

export interface Meta {
  /** Once for the store's life; a check that failed is made again by the next caller. */
  start(): Promise<void>
  /** Now. */
  again(): Promise<void>
  restored(): Promise<Restored | undefined>
  /** A new epoch, which this process knows, in one transaction with `also`. */
  renew(restored: Restored, also: TransactWriteItem): Promise<void>
  reconcile(also: TransactWriteItem): Promise<void>
}

const THERE: Condition = { text: 'attribute_exists(#k)', values: {} }

export function metaOf(ground: Ground): Meta {
  const { call, table } = ground
  let started: Promise<void> | undefined
  let known: string | undefined
  let last: Restored | undefined

  async function again(): Promise<void> {
    const item = (await look(ground)) ?? (await begin(ground))
    const { reader, scheme, epoch, restored_at, on_epoch_change } = item
    if (Number(reader?.N) > READER) throw tooNew(table, Number(reader?.N))
    if (Number(scheme?.N) !== IDENTITY_SCHEME) throw otherScheme(table, Number(scheme?.N))
    known ??= epoch?.S
    if (epoch?.S !== known) throw otherEpoch(table)
    last = restored_at?.N
      ? { at: new Date(Number(restored_at.N)), onEpochChange: on_epoch_change?.S === 'refuse' ? 'refuse' : 'run' }
      : undefined
  }

  function start(): Promise<void> {
    started ??= again().catch((error: unknown) => {
      started = undefined
      throw error
    })
    return started
  }

  return {
    start,
    again,
    async restored() {
      await start()
      return last
    },
    async renew(restored, also) {
      const epoch = randomHex(16)
      const to = {
        set: {
          epoch: text(epoch),
          restored_at: number(restored.at.getTime()),
          on_epoch_change: text(restored.onEpochChange),
        },
        remove: ['sweep_place'],
      }
      await call('TransactWriteItems', { TransactItems: [{ Update: update(table, META, to, THERE) }, also] })
      known = epoch
      last = restored
    },
    async reconcile(also) {
      const to = { set: {}, remove: ['restored_at', 'on_epoch_change'] }
      await call('TransactWriteItems', { TransactItems: [{ Update: update(table, META, to, THERE) }, also] })
      last = undefined
    },
  }
}

async function look({ call, table }: Ground): Promise<Attributes | undefined> {
  try {
    const { Item } = await call('GetItem', { TableName: table, Key: { k: text(META) }, ConsistentRead: true })
    return Item
  } catch (error) {
    if (isMissingTable(error)) throw missing(table, error)
    throw error
  }
}

/** A table that a template made has no items: its first process says whose it is. */
async function begin(ground: Ground): Promise<Attributes> {
  const { call, table } = ground
  const Item = { k: text(META), scheme: number(IDENTITY_SCHEME), reader: number(READER), epoch: text(randomHex(16)) }
  const unless = conditional({ text: 'attribute_not_exists(#k)', values: {} })
  try {
    await call('PutItem', { TableName: table, Item, ...unless })
    return Item
  } catch (error) {
    if (!refusedBy(error)) throw error
    return (await look(ground)) ?? Item
  }
}

function missing(table: string, cause: unknown): OncekeyError {
  return new OncekeyError('SCHEMA_MISSING', {
    what: `There is no table ${table} in this account and region.`,
    where: 'dynamodb',
    why: 'Without it nothing is remembered, and no table is made by surprise.',
    fix: 'Deploy it with your templates (docs/how-to/dynamodb.md), or run `await store.admin.migrate()` once.',
    cause,
    details: { table },
  })
}

function tooNew(table: string, minReader: number): OncekeyError {
  return new OncekeyError('SCHEMA_TOO_NEW', {
    what: `The table ${table} is for releases that can read format ${minReader}; this one reads ${READER}.`,
    where: 'dynamodb',
    why: 'It would misread records and could run an operation twice.',
    fix: 'Deploy a newer release of oncekey.',
    details: { table, minReader, reader: READER },
  })
}

function otherScheme(table: string, scheme: number): OncekeyError {
  return new OncekeyError('SCHEMA_MISMATCH', {
    what: `The table ${table} names its records by identity scheme ${scheme}, not ${IDENTITY_SCHEME}.`,
    where: 'dynamodb',
    why: 'No record would be found, and everything would run again.',
    fix: 'Use the release that wrote it, or another table.',
    details: { table, scheme },
  })
}

function otherEpoch(table: string): OncekeyError {
  return new OncekeyError('SCHEMA_MISMATCH', {
    what: `The table ${table} is not the one that this process started on.`,
    where: 'dynamodb',
    why: 'Records were restored or replaced under it; what it knows of them may never have happened there.',
    fix: 'Reconcile what was lost, then start the processes again.',
    details: { table },
  })
}
