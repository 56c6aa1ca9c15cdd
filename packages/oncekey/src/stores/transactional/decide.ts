/** Says from the first flight's answer who runs: the row is judged first, and under the lock (T1, T4). */
import { judge, type Refused } from '../../core/record.ts'
import type { RecordRow } from '../row.ts'
import type { Opened } from './dialect.ts'

export type Decision =
  /** `holding`: the key's lock is ours, and has to be free again before the answer leaves. */
  | { readonly kind: 'refused'; readonly refused: Refused; readonly holding?: true }
  /** Somebody has the key, and it is not known yet if for the same request. */
  | { readonly kind: 'unsure' }
  | { readonly kind: 'run'; readonly replaces: RecordRow | undefined }
  /** The row has to be written unknown, and is answered so. */
  | { readonly kind: 'abandon'; readonly row: RecordRow }

/** What `pg_locks` said before this flight; believed only when this flight finds the key as unsure again. */
export type Holder = 'same' | 'other' | 'nobody' | undefined

/** A lock does not know since when it is held: soon is the honest hint. */
export const BUSY: Refused = { kind: 'busy', ageMs: 0, retryAfterMs: 100 }

export function decide({ lock, seen, row }: Opened, prints: readonly string[], holder: Holder): Decision {
  const judged = judge(seen, prints)
  const finished = seen.kind === 'record' && !seen.over && seen.record.state === 'finished'
  if (finished && judged.kind !== 'runnable' && judged.kind !== 'abandoned' && judged.kind !== 'own')
    return { kind: 'refused', refused: judged }
  switch (lock) {
    case 'same':
      return { kind: 'refused', refused: BUSY }
    case 'unsure':
      if (seen.kind === 'record' && !seen.over) return { kind: 'refused', refused: BUSY }
      if (holder === 'same') return { kind: 'refused', refused: BUSY }
      if (holder === 'other') return { kind: 'refused', refused: { kind: 'mismatch' } }
      return { kind: 'unsure' }
    case 'mine':
      break
    default:
      throw lock satisfies never
  }
  switch (judged.kind) {
    case 'runnable':
    case 'own':
      return { kind: 'run', replaces: row }
    case 'abandoned':
      if (row === undefined) throw new TypeError('a record that is not there cannot be abandoned')
      return { kind: 'abandon', row }
    default:
      return { kind: 'refused', refused: judged, holding: true }
  }
}
