/** The lease port on DynamoDB: each write of the protocol's table is one conditional call, and a refused one says what stands there. */
import { judge, type Seen } from '../../core/record.ts'
import type { Admin, ClaimWon, Held, Owned, Restored } from '../../core/store.ts'
import type { CollectingDriver } from '../leased.ts'
import { claimed, finished, MAX_RECEIPT, mayDelete, opened, over, renewed, unknown } from './changes.ts'
import { type CollectOptions, collecting, type DynamoWrites } from './collected.ts'
import { asSeen, type Change, type Condition, mine, mineAtWork, number } from './expressions.ts'
import { type Stored, seenFrom } from './item.ts'
import { change, type Ground, put, read, remove, type Standing } from './table.ts'

export interface LeaseOptions<Item> extends CollectOptions<Item> {
  readonly admin: Admin
  /** Asked before each claim; rejects where this build must not run on the table (I4). */
  ready(): Promise<void>
  restored(): Promise<Restored | undefined>
}

const ABSENT: Condition = { text: 'attribute_not_exists(#k)', values: {} }
/** Whoever loses this often to others is told what stands there, and asks again after a rest. */
const TRIES = 5

export function leaseDriver<Item>(
  ground: Ground,
  { admin, ready, restored, marshall }: LeaseOptions<Item>,
): CollectingDriver<DynamoWrites<Item>> {
  async function write({ id }: Held, to: Change, condition: Condition): Promise<'done' | Seen> {
    return answered(await change(ground, id, to, condition))
  }
  function answered(written: 'done' | Standing): 'done' | Seen {
    return written === 'done' ? written : seenFrom(written.stored, ground.at())
  }

  /** Without a look before it: of new keys, which are most, each is one call. */
  async function claim(wanted: Owned): Promise<ClaimWon | Seen> {
    const { item, fence } = claimed(wanted, ground.at())
    let standing = await put(ground, wanted.id, item, ABSENT)
    if (standing === 'done') return { kind: 'won', fence, fresh: true }
    for (let tries = 0; tries < TRIES; tries++) {
      const answer = await take(wanted, standing.stored)
      if ('kind' in answer) return answer
      standing = answer
    }
    return seenFrom(standing.stored, ground.at())
  }

  async function take(wanted: Owned, stored: Stored | undefined): Promise<ClaimWon | Seen | Standing> {
    const instant = ground.at()
    const seen = seenFrom(stored, instant)
    const judged = judge(seen, wanted.prints, wanted.token)
    if (stored && judged.kind === 'own' && stored.fence !== undefined) {
      const held = { ...wanted, fence: stored.fence }
      const taken = await change(ground, held.id, renewed(held, instant.now), mine(held, instant))
      return taken === 'done' ? { kind: 'won', fence: held.fence } : taken
    }
    if (stored && judged.kind === 'abandoned') return abandon(stored, seen)
    if (judged.kind !== 'runnable') return seen

    const { item, fence } = claimed(wanted, instant, stored)
    const taken = await put(ground, wanted.id, item, stored ? asSeen(stored) : ABSENT)
    return taken === 'done' ? won(fence, seen) : taken
  }

  /** Written unknown by whoever finds it so; that record is then the answer. */
  async function abandon(stored: Stored, seen: Seen): Promise<Seen | Standing> {
    const label = seen.kind === 'record' ? seen.record : {}
    const written = await change(ground, stored.id, unknown(label, 'its owner vanished'), asSeen(stored))
    return written === 'done' ? seenFrom(await read(ground, stored.id), ground.at()) : written
  }

  /** The first claim may have promised the downstream more time than retention has: only the record knows how much. */
  async function reopen(held: Held): Promise<'done' | Seen> {
    const instant = ground.at()
    const { retainMs } = held.policy
    const to = opened(retainMs, undefined, instant)
    const reopened = await change(ground, held.id, to, noLongerThan(instant.now + retainMs, mineAtWork(held)))
    const until = reopened === 'done' ? undefined : reopened.stored?.dedupesUntil
    if (until === undefined || until <= instant.now + retainMs) return answered(reopened)
    return write(held, opened(retainMs, until, instant), mineAtWork(held))
  }

  return {
    name: 'dynamodb',
    maxBytes: MAX_RECEIPT,
    async claim(wanted) {
      await ready()
      return claim(wanted)
    },
    async complete(held, kept) {
      const instant = ground.at()
      return write(held, finished(held, kept, instant), mine(held, instant))
    },
    async renew(held) {
      const instant = ground.at()
      return write(held, renewed(held, instant.now), mine(held, instant))
    },
    async release(held, to) {
      if (to === 'retry') return reopen(held)
      const instant = ground.at()
      if (!mayDelete(held.fence, instant)) return write(held, over(instant, held.fence), mine(held, instant))
      return answered(await remove(ground, held.id, mine(held, instant)))
    },
    async hold(held, why) {
      return write(held, unknown(held.label, why), mine(held, ground.at()))
    },
    async read(id) {
      return seenFrom(await read(ground, id), ground.at())
    },
    collect: (held) => collecting(ground, held, { marshall }),
    restored,
    admin,
    // The client is the application's own.
    async [Symbol.asyncDispose]() {},
  }
}

function won(fence: bigint, seen: Seen): ClaimWon {
  const earlier = seen.kind === 'record' && !seen.over ? seen : undefined
  return { kind: 'won', fence, takenOver: earlier?.record.state === 'running', fresh: earlier === undefined }
}

function noLongerThan(ends: number, condition: Condition): Condition {
  return {
    text: `${condition.text} AND (attribute_not_exists(#d) OR #d <= :ends)`,
    values: { ...condition.values, ':ends': number(ends) },
  }
}
