/** A transaction of our own behind the work's, under the same locks: finds out what became of COMMIT, or writes what has to stand (T3, T11). */
import { monotonic, sleep } from '../../core/clock.ts'
import { judge, type Refused } from '../../core/record.ts'
import type { Ending } from '../database/database.ts'
import { pulse } from '../pulse.ts'
import { type Bracket, inTime, type Turn } from './bracket.ts'
import type { Opened } from './dialect.ts'
import { type Memory, write } from './writes.ts'

export type Afterwards =
  /** There is a record, and it answers. */
  | { readonly kind: 'answer'; readonly refused: Refused }
  /** What had to stand was written. */
  | { readonly kind: 'written' }
  /** The locks were got and there is no record: it was never committed. */
  | { readonly kind: 'free' }
  | { readonly kind: 'unresolved'; readonly cause: unknown }

/** A caller waits meanwhile; a backend that still commits after that long waits for a standby or a disk. */
const PATIENCE_MS = 5_000

/** The locks are let go only after the commit is visible: got and no record means that there was none. */
export async function afterwards<Tx>(bracket: Bracket<Tx>, turn: Turn<Tx>, memory?: Memory): Promise<Afterwards> {
  const end = monotonic() + PATIENCE_MS
  let cause: unknown
  for (let pause = 5; ; pause = Math.min(pause * 2, 250)) {
    const left = end - monotonic()
    if (left <= 0) return { kind: 'unresolved', cause }
    try {
      const found = await once(bracket, turn, left, memory)
      if (found) return found
    } catch (error) {
      cause = error
    }
    await sleep(Math.min(pause, Math.max(0, end - monotonic())))
  }
}

async function once<Tx>(
  { database, dialect, name }: Bracket<Tx>,
  { identity, how }: Turn<Tx>,
  left: number,
  memory: Memory | undefined,
): Promise<Afterwards | undefined> {
  const opening = dialect.opening({ identity, workMs: how.policy.workMs, savepoint: false })
  // Its own pulse: what is left is left, whatever others hear.
  return inTime({ claimMs: left, name, pulse: pulse() }, (arrive) =>
    database.transaction<Afterwards | undefined>(opening, async function inside(_, answers) {
      if (!arrive()) return { rollback: true, value: undefined }
      const opened = dialect.read(answers)
      const answer = answerOf(opened, identity.prints)
      if (answer) return { rollback: true, settled: true, value: { kind: 'answer', refused: answer } }
      if (!opened.writable || opened.lock !== 'mine') return { rollback: true, value: undefined }
      if (!memory) return { rollback: true, settled: true, value: { kind: 'free' } }
      const record = write(dialect, memory, { identity, opened: opened.opened, replaces: opened.row })
      return { commit: [record], value: { kind: 'written' } } satisfies Ending<Afterwards>
    }),
  )
}

/** A record that nobody may run over; without the lock only a finished one counts. */
function answerOf({ lock, seen, writable }: Opened, prints: readonly string[]): Refused | undefined {
  if (!writable || seen.kind === 'absent' || seen.over) return undefined
  if (lock !== 'mine' && seen.record.state !== 'finished') return undefined
  const judged = judge(seen, prints)
  switch (judged.kind) {
    case 'runnable':
    case 'abandoned':
    case 'own':
      return undefined
    default:
      return judged
  }
}
