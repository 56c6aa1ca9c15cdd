// How long answers last, what outlives them, and what is done when records come back from a backup.
import { type Keyring, type Operation, once, type Policy, type Store, sealed, valueCodec } from 'oncekey'

interface Charge {
  readonly id: string
  readonly card?: string
}
type Work = () => Promise<Charge>

// #region retention
export const policy: Policy<Charge> = {
  retain: '24h', // the answer, counted from when the operation finished
  tombstone: '30d', // after that: its key stays bound to its request, and nothing runs again
  oldKeys: 'refuse', // a UUIDv7 or ULID that is older than both, and unknown: KEY_TOO_OLD
}
// #endregion

export async function eraseOf(store: Store, scope: string, key: string) {
  // #region erase
  const record = await store.admin.find({ scope, key })
  const done = record && (await store.admin.erase(record, { who: 'dpo@example.com', why: 'request 4711' }))
  // `done`, or the record as it is by now: the answer is gone, the key stays bound, nothing runs again
  // #endregion
  return done
}

export async function sweepOnTimer(store: Store) {
  // #region sweep
  const { removed, expired, abandoned, complete, elsewhere } = await store.admin.sweep({ limit: 200_000 })
  // `elsewhere`: another process sweeps at this moment. Not `complete`: the next call goes on from here.
  // #endregion
  return { removed, expired, abandoned, complete, elsewhere }
}

export async function afterRestore(store: Store, who: string) {
  // #region restored
  const { unknown } = await store.admin.restored({ onEpochChange: 'refuse', who, why: 'backup of 03:00' })
  console.log(`${unknown} operations were at work in the backup: list them, look them up, settle them`)
  // #endregion
  return unknown
}

export async function afterReconciling(store: Store, who: string) {
  // #region reconciled
  await store.admin.reconciled({ who, why: 'ledger compared with the bank up to 05:12' })
  // #endregion
}

export async function sealedCharge(store: Store, operation: Operation, keyring: Keyring, charge: Work) {
  // #region sealed
  const outcome = await once(store, operation, charge, {
    codec: sealed(valueCodec<Charge>(), keyring),
    policy: { redact: ({ id }) => ({ id }) }, // what repeats get; this caller gets it all
  })
  // #endregion
  return outcome
}

export function keyringOf(old: Uint8Array, fresh: Uint8Array) {
  // #region keyring
  const keyring: Keyring = {
    current: '2026-11', // seals from now on
    keys: { '2026-10': old, '2026-11': fresh }, // 32 bytes each; or (name) => Promise, from a key service
  }
  // #endregion
  return keyring
}
