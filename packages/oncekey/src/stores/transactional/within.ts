/** Joins a transaction that the caller owns: the answer is durable when the caller's COMMIT is (T15). */
import { sleep } from '../../core/clock.ts'
import { isOncekeyError } from '../../core/errors.ts'
import { tell } from '../../core/events.ts'
import type { Row, Statement } from '../database/database.ts'
import type { RecordRow } from '../row.ts'
import type { Bracket, Turn } from './bracket.ts'
import { BUSY, type Decision, decide } from './decide.ts'
import type { Opened } from './dialect.ts'
import { noTransaction, tryAgain, unavailable, wrongIsolation } from './faults.ts'
import { grant } from './grant.ts'
import { askHolder, look, toldBy, UNSURE_LOOKS, UNSURE_MS } from './looks.ts'
import { abandonment, type Passed } from './pass.ts'
import { memoryOf, write } from './writes.ts'

type Joined = Exclude<Passed, { kind: 'unsure' | 'crowded' }>
type Send = (statement: Statement) => Promise<readonly Row[]>
interface Joining<Tx> {
  readonly tx: Tx
  readonly send: Send
}

/**
 * The locks stand behind a savepoint, so that a refused caller gives them back and goes on with its transaction as if
 * nothing had been asked. The work stands behind a second one. Nothing is run again: the caller's own writes stand before.
 */
export async function attemptWithin<Tx>(bracket: Bracket<Tx>, turn: Turn<Tx>, tx: Tx): Promise<Joined> {
  const { dialect, handles, name } = bracket
  const joining: Joining<Tx> = { tx, send: bracket.database.on(tx) }
  // Seen before anything is sent; the work enters once more, under its own savepoint.
  handles.enter(tx, turn.identity.id)()
  if (dialect.holderIsExact) {
    // A row stays locked until the caller's own end, refused or not: it is taken only where nothing has answered before.
    const told = await look(bracket, turn)
    if (told) return { kind: 'refused', refused: told.refused }
  }
  for (let looks = 0; ; looks += 1) {
    const opened = await open(bracket, turn, joining)
    const decision = opened ? decide(opened, turn.identity.prints, turn.holder) : LOCKED
    turn.holder = undefined
    switch (decision.kind) {
      case 'refused':
        await back(joining, dialect.within.undo)
        return decision
      case 'unsure':
        await back(joining, dialect.within.undo)
        if (looks === UNSURE_LOOKS) return { kind: 'refused', refused: BUSY }
        if (dialect.holderIsExact) {
          const told = await toldBy(bracket, turn)
          if (told) return { kind: 'refused', refused: told }
        }
        await sleep(UNSURE_MS)
        if (!dialect.holderIsExact) turn.holder = await askHolder(bracket, turn)
        break
      case 'abandon': {
        const { statement, refused } = abandonment(bracket, turn, decision.row)
        try {
          await joining.send(statement)
          await joining.send(dialect.within.end)
          return { kind: 'refused', refused }
        } catch (error) {
          await back(joining, dialect.within.undo)
          if (dialect.failure(error) !== 'raced') throw unavailable(name, 'The record could not be written.', error)
        }
        break
      }
      case 'run':
        return run(bracket, turn, joining, { opened: opened as Opened, replaces: decision.replaces })
      default:
        throw decision satisfies never
    }
  }
}

const LOCKED: Decision = { kind: 'unsure' }

/** Nothing where the record is its own lock, and somebody else has it. */
async function open<Tx>(
  { dialect, name }: Bracket<Tx>,
  turn: Turn<Tx>,
  { send }: Joining<Tx>,
): Promise<Opened | undefined> {
  const opening = dialect.opening({ identity: turn.identity, workMs: undefined, savepoint: false })
  let opened: Opened
  try {
    await send(dialect.within.begin)
    const answers: (readonly Row[])[] = []
    for (const statement of opening) answers.push(await send(statement))
    opened = dialect.read(answers)
  } catch (error) {
    if (dialect.failure(error) === 'no-transaction') throw noTransaction(name, error)
    if (dialect.failure(error) === 'locked') return undefined
    if (isOncekeyError(error)) throw error
    tell('store-failed', { ...turn.facts, error })
    throw unavailable(name, 'The transaction did not take the claim.', error)
  }
  if (opened.isolation === 'read committed' && opened.writable) return opened
  await back({ send }, dialect.within.undo)
  if (!opened.writable) throw unavailable(name, 'The transaction takes no writes.')
  throw wrongIsolation(name, opened.isolation)
}

interface Winning {
  readonly opened: Opened
  readonly replaces: RecordRow | undefined
}

async function run<Tx>(
  bracket: Bracket<Tx>,
  turn: Turn<Tx>,
  joining: Joining<Tx>,
  { opened, replaces }: Winning,
): Promise<Joined> {
  const { dialect, name } = bracket
  const { identity, how, facts } = turn
  const { tx, send } = joining
  await send(dialect.within.savepoint)
  const worked = await grant(bracket, turn, { tx, gone: new AbortController().signal, replaces })
  if (worked.kind === 'overran') {
    // The work may still write: from now on nothing that it writes can be committed.
    await send(dialect.within.poison).catch(() => {})
    return worked
  }
  const memory = memoryOf(worked.verdict, identity, how.policy)
  if (memory === undefined) {
    await back(joining, dialect.within.undo)
    return { kind: 'won', fate: 'freed', event: 'freed' }
  }
  tell('keeping', facts)
  const record = write(dialect, memory, { identity, opened: opened.opened, replaces })
  const undone = [dialect.within.undoWork, record, dialect.within.end]
  try {
    try {
      await inOrder(send, memory.undo ? undone : [...dialect.restore, record, dialect.within.end])
    } catch (error) {
      if (memory.undo || dialect.failure(error) !== 'aborted') throw error
      await inOrder(send, undone)
    }
    return { kind: 'won', fate: memory.fate, event: memory.event }
  } catch (error) {
    const failure = dialect.failure(error)
    if (failure === 'foreign' || failure === 'no-transaction') return { kind: 'foreign', cause: error }
    await back(joining, dialect.within.undo)
    const found = failure === 'raced' ? await look(bracket, turn) : undefined
    if (found) return { kind: 'refused', refused: found.refused }
    tell('freed', { ...facts, error })
    throw tryAgain(name, 'The record could not be written.', error)
  }
}

async function inOrder(send: Send, statements: readonly Statement[]): Promise<void> {
  for (const statement of statements) await send(statement)
}

/** Where even this fails the transaction is lost, and the caller's next statement says so. */
async function back({ send }: { readonly send: Send }, statements: readonly Statement[]): Promise<void> {
  await inOrder(send, statements).catch(() => {})
}
