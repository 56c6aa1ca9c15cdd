/** Every schema change there was, in order. A migration only adds: the release before it must go on working beside it. */
import { record } from './0001-record.ts'
import type { Migration } from './migration.ts'

export type { Migration } from './migration.ts'

export const migrations: readonly Migration[] = [record]

/** The version that this build needs to find. */
export const SCHEMA_VERSION = 1
/** How identities are made of scope and key; records of another scheme would never be found. */
export const IDENTITY_SCHEME = 1
/** What this build can read: it refuses a schema whose `min_reader` is above. */
export const READER = 1
