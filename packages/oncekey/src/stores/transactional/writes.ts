/** Turns a verdict into the record that is to stand, and into the statements that make it stand. */
import { writeLabel } from '../../core/label.ts'
import type { Identity } from '../../core/operation.ts'
import type { StorePolicy } from '../../core/policy.ts'
import type { Fate, Verdict } from '../../core/store.ts'
import type { Statement } from '../database/database.ts'
import { writeKept } from '../kept.ts'
import { type RecordRow, STATE } from '../row.ts'
import type { Dialect, Write } from './dialect.ts'

/** What the verdict wants remembered; nothing for `free` and `retry`: here a rollback is proof that nothing happened. */
export interface Memory {
  readonly fate: Fate
  readonly event: 'kept' | 'kept-undone' | 'spent' | 'held'
  /** The writes of the work are undone. */
  readonly undo: boolean
  readonly state: number
  readonly body: Uint8Array
  readonly keepMs: number | null
  readonly tombstoneMs: number | null
}

/** A century: a longer retention is outside of what a timestamp can hold. */
const LONGEST_MS = 100 * 365 * 86_400_000

export function memoryOf(verdict: Verdict, { label }: Identity, policy: StorePolicy): Memory | undefined {
  const { retainMs, tombstoneMs } = policy
  const keepMs = Math.min(retainMs, LONGEST_MS)
  switch (verdict.kind) {
    case 'keep': {
      const undo = verdict.writes === 'undo'
      const event = undo ? 'kept-undone' : 'kept'
      const body = writeKept(verdict, tombstoneMs !== undefined)
      const tombstone = tombstoneMs === undefined ? null : Math.min(tombstoneMs, LONGEST_MS)
      return { fate: 'kept', event, undo, state: STATE.finished, body, keepMs, tombstoneMs: tombstone }
    }
    case 'spend': {
      const { why, head } = verdict
      const body = writeLabel({ ...label, why, ...(head ? { head } : {}) })
      const bound = Math.min(retainMs + (tombstoneMs ?? 0), LONGEST_MS)
      return { ...SPENT, body, keepMs: bound }
    }
    case 'hold':
      return unknownMemory(verdict.why, { label }, policy)
    case 'free':
    case 'retry':
      return undefined
    default:
      throw verdict satisfies never
  }
}

/** There is no answer to outlive, so its key is bound for as long as one with a tombstone would be. */
const SPENT = { fate: 'spent', event: 'spent', undo: false, state: STATE.spent, tombstoneMs: null } as const

/** T stores no fence and no token: whoever settles it compares with nothing but the state. */
export function unknownMemory(why: string, { label }: Pick<Identity, 'label'>, policy: StorePolicy): Memory {
  const body = writeLabel({ ...label, why })
  const keepMs = policy.dedupesForMs === undefined ? null : Math.min(policy.dedupesForMs, LONGEST_MS)
  return { fate: 'held', event: 'held', undo: true, state: STATE.unknown, body, keepMs, tombstoneMs: null }
}

export interface Place {
  readonly identity: Identity
  readonly opened: string
  /** The row that it takes the place of. */
  readonly replaces: RecordRow | undefined
}

export function write(dialect: Dialect, memory: Memory, { identity, opened, replaces }: Place): Statement {
  const { state, body, keepMs, tombstoneMs } = memory
  const { id, prints } = identity
  const carries = state === STATE.unknown
  const wanted: Write = { id, print: prints[0], state, body, opened, keepMs, tombstoneMs, carries }
  return replaces ? dialect.replace(wanted, replaces) : dialect.insert(wanted)
}
