/** Questions that need no lock: what the record says, and who has the key. Each is one statement in autocommit. */
import { isOncekeyError } from '../../core/errors.ts'
import { tell } from '../../core/events.ts'
import { judge, type Refused } from '../../core/record.ts'
import type { Row, Statement } from '../database/database.ts'
import { type Bracket, inTime, type Turn } from './bracket.ts'
import { BUSY } from './decide.ts'
import { unavailable } from './faults.ts'

/** Between a refused key and the question who has it: its owner is about to take its mark. */
export const UNSURE_MS = 5
/** A key that changes hands that often between our looks is busy. */
export const UNSURE_LOOKS = 20

/** `finished`: it answers by itself, whoever holds the key. */
export async function look<Tx>(
  bracket: Bracket<Tx>,
  turn: Turn<Tx>,
): Promise<{ readonly refused: Refused; readonly finished: boolean } | undefined> {
  const { dialect } = bracket
  const { id, prints } = turn.identity
  const { seen, primary } = dialect.readLook(await ask(bracket, turn, dialect.look(id)))
  if (!primary || seen.kind === 'absent') return undefined
  const judged = judge(seen, prints)
  if (judged.kind === 'runnable' || judged.kind === 'abandoned' || judged.kind === 'own') return undefined
  return { refused: judged, finished: seen.record.state === 'finished' }
}

export async function askHolder<Tx>(bracket: Bracket<Tx>, turn: Turn<Tx>): Promise<'same' | 'other' | 'nobody'> {
  const { dialect } = bracket
  return dialect.readHolder(await ask(bracket, turn, dialect.holder(turn.identity)))
}

/** Where the holder is known for sure: what it does, or what the record says that nobody is at work on. */
export async function toldBy<Tx>(bracket: Bracket<Tx>, turn: Turn<Tx>): Promise<Refused | undefined> {
  const holder = await askHolder(bracket, turn)
  if (holder === 'same') return BUSY
  if (holder === 'other') return { kind: 'mismatch' }
  return (await look(bracket, turn))?.refused
}

async function ask<Tx>(bracket: Bracket<Tx>, { facts }: Turn<Tx>, statement: Statement): Promise<readonly Row[]> {
  const { database, name } = bracket
  try {
    return await inTime(bracket, () => database.query(statement))
  } catch (error) {
    tell('store-failed', { ...facts, error })
    if (isOncekeyError(error)) throw error
    throw unavailable(name, 'The database could not be asked.', error)
  }
}
