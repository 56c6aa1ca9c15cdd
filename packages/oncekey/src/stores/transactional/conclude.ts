/** What a pass that is not flown again comes to: its answer, or the one that the record gives (T3, T8, T11, T12). */
import { tell } from '../../core/events.ts'
import type { Attempted } from '../../core/store.ts'
import { afterwards } from './afterwards.ts'
import { type Bracket, ranHere, type Turn } from './bracket.ts'
import { commitUnknown, outcomeUnknown, tryAgain } from './faults.ts'
import { look } from './looks.ts'
import type { Passed } from './pass.ts'
import { type Memory, unknownMemory } from './writes.ts'

export async function conclude<Tx>(
  bracket: Bracket<Tx>,
  turn: Turn<Tx>,
  passed: Exclude<Passed, { kind: 'unsure' | 'crowded' }>,
): Promise<Attempted> {
  const { name } = bracket
  const { facts, identity, how } = turn
  switch (passed.kind) {
    case 'refused':
      return ranHere(passed.refused, turn)
    case 'won':
      return { kind: 'won', fate: passed.fate }
    case 'raced': {
      const found = await look(bracket, turn)
      if (found) return ranHere(found.refused, turn)
      tell('freed', { ...facts, error: passed.cause })
      throw tryAgain(name, 'Another attempt of the same operation was faster.', passed.cause)
    }
    case 'overran':
      tell('freed', { ...facts, why: passed.why })
      throw tryAgain(name, `The work was given up: ${passed.why}.`)
    case 'in-doubt':
      return resolve(bracket, turn, passed.cause)
    case 'foreign': {
      const memory = unknownMemory('the work ended its own transaction', identity, how.policy)
      return remember(bracket, turn, { memory, cause: passed.cause })
    }
    case 'remember':
      return remember(bracket, turn, { memory: passed.memory })
    default:
      throw passed satisfies never
  }
}

/** T11: the answer comes from the record, never from memory. */
async function resolve<Tx>(bracket: Bracket<Tx>, turn: Turn<Tx>, cause: unknown): Promise<Attempted> {
  const found = await afterwards(bracket, turn)
  switch (found.kind) {
    case 'answer':
      return ranHere(found.refused, turn)
    case 'free':
      tell('freed', { ...turn.facts, error: cause })
      throw tryAgain(bracket.name, 'COMMIT was not answered, and was not carried out.', cause)
    default:
      throw commitUnknown(bracket.name, cause)
  }
}

interface Remembered {
  readonly memory: Memory
  /** The work ended its own transaction: nobody knows what it left. */
  readonly cause?: unknown
}

async function remember<Tx>(bracket: Bracket<Tx>, turn: Turn<Tx>, { memory, cause }: Remembered): Promise<Attempted> {
  const found = await afterwards(bracket, turn, memory)
  // Where the work's own COMMIT has left it so, there is nothing more to write.
  const stands = cause !== undefined && found.kind === 'answer' && found.refused.kind === 'unknown'
  if (found.kind === 'written' || stands) tell(memory.event, turn.facts)
  if (found.kind === 'answer' && !stands) return ranHere(found.refused, turn)
  if (cause === undefined && found.kind === 'written') return { kind: 'won', fate: memory.fate }
  if (cause === undefined && memory.fate !== 'held')
    throw tryAgain(bracket.name, 'The answer could not be kept without the writes.', causeOf(found))
  throw outcomeUnknown(bracket.name, cause ?? causeOf(found))
}

function causeOf(found: object): unknown {
  return 'cause' in found ? found.cause : undefined
}
