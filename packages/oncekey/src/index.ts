/** The core: what every other part of oncekey is built from. */
export type { Duration } from './core/clock.ts'
export { type ErrorCode, type ErrorParts, isOncekeyError, OncekeyError } from './core/errors.ts'
export { EVENTS, type EventName, type OncekeyEvent } from './core/events.ts'
export { type OnceOptions, type Outcome, once } from './core/once.ts'
export { type ChildKeyForm, type Label, MAX_PART_LENGTH, MAX_SCOPE_PARTS, type Operation } from './core/operation.ts'
export {
  type AfterFailure,
  databaseOnly,
  downstreamDedupes,
  downstreamDoesNot,
  type End,
  type Judgement,
  type Policy,
  type StorePolicy,
} from './core/policy.ts'
export { type Codec, type PlainCodec, valueCodec } from './core/receipt.ts'
export type { FinishedRecord, KeyRecord, Receipt } from './core/record.ts'
export { type Keyring, sealed } from './core/sealed.ts'
export type {
  Admin,
  Attempted,
  Audit,
  Collecting,
  Fate,
  Forgetful,
  Grant,
  How,
  InTransaction,
  Leased,
  LeasedInDatabase,
  Restored,
  Settlement,
  Store,
  SweepOptions,
  Swept,
  Verdict,
} from './core/store.ts'
