/** The writes that a grant's `tx` collects, and DynamoDB's limits on them, refused where the work makes them and not at its end. */
import type { AttributeValue, ConditionCheck, Delete, Put, TransactWriteItem, Update } from '@aws-sdk/client-dynamodb'
import { OncekeyError } from '../../core/errors.ts'
import { sizeOf } from './size.ts'

export type Values = Record<string, AttributeValue>

/** The SDK's own shape of a write, its values as the store was told to take them. */
export type Collected<Write, Item> = {
  [Part in keyof Write]: Part extends 'Item' | 'Key' | 'ExpressionAttributeValues'
    ? Item | Extract<Write[Part], undefined>
    : Write[Part]
}

/** Nothing is sent until the work has returned; then all of it commits with the answer, or none of it. */
export interface DynamoWrites<Item = Values> {
  put(write: Collected<Put, Item>): void
  update(write: Collected<Update, Item>): void
  delete(write: Collected<Delete, Item>): void
  /** Nothing commits, and the work has failed, unless this item is as its condition says. */
  check(write: Collected<ConditionCheck, Item>): void
}

export interface Collection<Item> {
  readonly tx: DynamoWrites<Item>
  readonly writes: readonly TransactWriteItem[]
  /** Ends collecting. Throws `TX_LIMIT` where the record's own part, of that many bytes, makes it too much. */
  close(ours: number): void
}

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html; one of the hundred is the record. */
const MAX_WRITES = 99
const MAX_ITEM = 409_600
const MAX_ALL = 4_194_304

export function collection<Item>(marshall: ((item: Item) => Values) | undefined): Collection<Item> {
  const writes: TransactWriteItem[] = []
  let bytes = 0
  let closed = false

  /** Its values as DynamoDB takes them. */
  function plain<Write extends object>(write: Collected<Write, Item>): Write {
    if (!marshall) return { ...write } as unknown as Write
    const taken: Record<string, unknown> = { ...write }
    for (const part of ['Item', 'Key', 'ExpressionAttributeValues'])
      if (taken[part] !== undefined) taken[part] = marshall(taken[part] as Item)
    return taken as Write
  }

  function add(write: TransactWriteItem): void {
    if (closed) throw txClosed()
    const size = sizeOfWrite(write)
    if (writes.length === MAX_WRITES) throw limit(`This is write ${MAX_WRITES + 1}; a transaction has ${MAX_WRITES}`)
    if (write.Put && size > MAX_ITEM) throw limit(`An item of ${size} bytes is put; one has at most ${MAX_ITEM}`)
    if (bytes + size > MAX_ALL) throw tooLarge(bytes + size)
    const { table } = partsOf(write)
    if (writes.some((other) => areSameItem(other, write))) throw limit(`Two writes are for one item of ${table}`)
    writes.push(write)
    bytes += size
  }

  return {
    writes,
    tx: {
      put: (write) => add({ Put: plain<Put>(write) }),
      update: (write) => add({ Update: plain<Update>(write) }),
      delete: (write) => add({ Delete: plain<Delete>(write) }),
      check: (write) => add({ ConditionCheck: plain<ConditionCheck>(write) }),
    },
    close(ours) {
      closed = true
      if (bytes + ours > MAX_ALL) throw tooLarge(bytes + ours)
    },
  }
}

interface Parts {
  readonly table: string
  /** Where the key alone is given. */
  readonly key?: Values
  readonly item?: Values
}

function partsOf({ Put, Update, Delete, ConditionCheck }: TransactWriteItem): Parts {
  if (Put) return { table: Put.TableName ?? '', item: Put.Item ?? {} }
  const { TableName = '', Key = {} } = Update ?? Delete ?? ConditionCheck ?? {}
  return { table: TableName, key: Key }
}

/** Of two puts nobody here knows which attributes are the key: DynamoDB refuses those itself. */
function areSameItem(one: TransactWriteItem, other: TransactWriteItem): boolean {
  const [a, b] = [partsOf(one), partsOf(other)]
  const key = a.key ?? b.key
  if (a.table !== b.table || key === undefined) return false
  return Object.keys(key).every((name) => isSame((a.key ?? a.item)?.[name], (b.key ?? b.item)?.[name]))
}

function isSame(one: AttributeValue | undefined, other: AttributeValue | undefined): boolean {
  if (one?.B && other?.B) return Buffer.compare(one.B, other.B) === 0
  return one?.S === other?.S && one?.N === other?.N && one?.B === other?.B
}

function sizeOfWrite({ Put, Update, Delete, ConditionCheck }: TransactWriteItem): number {
  const keyed = Update ?? Delete ?? ConditionCheck
  return sizeOf(Put?.Item) + sizeOf(keyed?.Key) + sizeOf((keyed ?? Put)?.ExpressionAttributeValues)
}

function tooLarge(bytes: number): OncekeyError {
  return limit(`The writes and the answer are ${bytes} bytes; a transaction has at most ${MAX_ALL}`)
}

function limit(what: string): OncekeyError {
  return new OncekeyError('TX_LIMIT', {
    what: `${what}.`,
    where: 'dynamodb',
    why: 'DynamoDB would refuse the whole transaction, and with it the answer. Nothing was sent.',
    fix: 'Write less in one operation, one write for each item; what need not commit with the answer can be written elsewhere.',
  })
}

function txClosed(): OncekeyError {
  return new OncekeyError('TX_CLOSED', {
    what: 'A write was added after the work had ended.',
    where: 'dynamodb',
    why: 'What was collected has been sent or dropped; this write could not commit together with the answer.',
    fix: 'Await everything that the work starts before it returns.',
  })
}
