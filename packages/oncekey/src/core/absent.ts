/** Whether an operation that the store does not know may run: it may have happened, and been forgotten or lost. */
import { type Duration, milliseconds, sleep } from './clock.ts'
import { isOncekeyError, OncekeyError } from './errors.ts'
import { type Identity, keyTime } from './operation.ts'
import { DEFAULTS, type Policy, type StorePolicy } from './policy.ts'
import type { KeyRecord } from './record.ts'
import type { Store } from './store.ts'

/** As long as a claim waits for a store that says nothing. */
const LOOK_MS = 1_000

/** The records were restored, and it may have been among those that were lost. */
export interface Lost {
  readonly kind: 'unknown'
  readonly record: KeyRecord
}

export interface Asking {
  readonly oldKeys?: Policy<never>['oldKeys']
  readonly clockSkew?: Duration
  readonly policy: StorePolicy
}

/**
 * Nothing where it may be attempted; throws `KEY_TOO_OLD` where its key says itself that it is older than everything
 * that is remembered. A record always answers for itself, so the store is looked at first, and only
 * where one of the two questions is asked at all: a key that seems old, or a store that was restored of late. The time
 * in a key refuses, and permits nothing (I2); it is compared with this process's clock, with room for both of them.
 */
export async function refuseAbsent(store: Store, identity: Identity, asking: Asking): Promise<Lost | undefined> {
  const { policy, oldKeys = 'run', clockSkew = DEFAULTS.clockSkewMs } = asking
  const { id, label } = identity
  const restored = await store.restored?.()
  if (oldKeys === 'run' && restored === undefined) return undefined

  const now = Date.now()
  const made = keyTime(label.key)
  const remembered = policy.retainMs + (policy.tombstoneMs ?? 0)
  const tooOld =
    oldKeys === 'refuse' && made !== undefined && made < now - remembered - milliseconds(clockSkew, 'clockSkew')
  const lost =
    restored !== undefined &&
    now < restored.at.getTime() + remembered &&
    (restored.onEpochChange === 'refuse' || (made !== undefined && made < restored.at.getTime()))
  if (!tooOld && !lost) return undefined
  if ((await find(store, id)) !== undefined) return undefined
  if (!lost) throw keyTooOld(id)
  return { kind: 'unknown', record: { id, ...label, state: 'unknown', why: 'the store was restored' } }
}

function keyTooOld(id: string): OncekeyError {
  return new OncekeyError('KEY_TOO_OLD', {
    what: 'The key is older than answers are remembered here, and nothing is known of it.',
    where: 'once',
    why: 'The operation may have happened, and its record have ended since; running it now could do it twice.',
    fix: 'Look up what happened; use a new key only for a new operation.',
    details: { id },
  })
}

async function find(store: Store, id: string): Promise<KeyRecord | undefined> {
  const limit = new AbortController()
  try {
    return await Promise.race([
      store.admin.find({ id }),
      sleep(LOOK_MS, limit.signal).then(() => {
        throw new Error(`no answer within ${LOOK_MS} ms`)
      }),
    ])
  } catch (cause) {
    if (isOncekeyError(cause)) throw cause
    throw new OncekeyError('STORE_UNAVAILABLE', {
      what: 'The store could not be asked whether it knows the operation.',
      where: store.name,
      why: 'Without its answer the operation might run a second time; it did not run and will not.',
      fix: 'Send the same request again when the store is back.',
      cause,
    })
  } finally {
    limit.abort()
  }
}
