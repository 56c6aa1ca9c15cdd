/** Transaction mode: the claim, the user's writes and the kept answer are one transaction of the user's own library (protocol, section 3). */
import { sleep } from '../core/clock.ts'
import { isOncekeyError } from '../core/errors.ts'
import { tell } from '../core/events.ts'
import { identify } from '../core/operation.ts'
import type { StorePolicy } from '../core/policy.ts'
import { judge, type Refused } from '../core/record.ts'
import type { Admin, Attempted, InTransaction, Store } from '../core/store.ts'
import type { Database } from './database/database.ts'
import { afterwards } from './transactional/afterwards.ts'
import { type Bracket, inTime, type Turn } from './transactional/bracket.ts'
import { BUSY } from './transactional/decide.ts'
import type { Dialect } from './transactional/dialect.ts'
import { drain } from './transactional/drain.ts'
import { closed, commitUnknown, outcomeUnknown, tryAgain, unavailable } from './transactional/faults.ts'
import { handles } from './transactional/handles.ts'
import { pass } from './transactional/pass.ts'
import { permits, winnersOf } from './transactional/permits.ts'
import { type Memory, unknownMemory } from './transactional/writes.ts'

export interface TransactionalOptions {
  readonly name: string
  readonly defaults: Partial<StorePolicy>
  readonly admin: Admin
  /** How many operations may hold a connection at once. Needed where the pool's size cannot be seen. */
  readonly maxWinners: number | undefined
  /** How many may wait for their turn. */
  readonly maxQueue: number
  /** How long the database may take to open a transaction, counted from asking the pool. */
  readonly claimMs: number
  /** How long a shutdown waits for work that runs. */
  readonly drainMs: number
  /** `first`: one look in autocommit, which may answer from a finished record. */
  readonly read: 'first' | 'locked'
}

/** How often the work may be started again after a lost race. */
const RERUNS = 3
/** Between a refused key and the question who has it: its owner is about to take its mark. */
const UNSURE_MS = 5
/** A key that changes hands that often between our looks is busy. */
const UNSURE_LOOKS = 20

export function transactional<Tx>(
  database: Database<Tx>,
  dialect: Dialect,
  options: TransactionalOptions,
): Store<InTransaction<Tx>> {
  const { name, claimMs, read } = options
  const drained = drain(options.drainMs)
  const bracket: Bracket<Tx> = {
    database,
    dialect,
    name,
    claimMs,
    permits: permits(options.maxWinners ?? winnersOf(database.connections ?? 0), options.maxQueue),
    handles: handles(),
    closing: drained.over,
  }
  let checked: Promise<void> | undefined

  /** Once per store; a check that failed is made again by the next caller. */
  function check(): Promise<void> {
    checked ??= inTime(claimMs, name, () => dialect.check(database)).catch((error: unknown) => {
      checked = undefined
      if (isOncekeyError(error)) throw error
      throw unavailable(name, 'The database could not be asked for its schema.', error)
    })
    return checked
  }

  return {
    name,
    mode: 'transaction',
    defaults: options.defaults,
    admin: options.admin,
    async attempt(operation, how, work) {
      const identity = identify(operation)
      const facts = { store: name, mode: 'transaction' as const, id: identity.id }
      const turn: Turn<Tx> = {
        operation,
        identity,
        how,
        work,
        facts: operation.name === undefined ? facts : { ...facts, name: operation.name },
        holder: undefined,
        permit: undefined,
        begun: 0,
      }
      const leave = drained.enter()
      if (!leave) throw closed(name)
      try {
        await check()
        return await attempt(bracket, turn, read)
      } finally {
        turn.permit?.release()
        leave()
      }
    },
    async [Symbol.asyncDispose]() {
      bracket.permits.close()
      await drained.wait()
    },
  }
}

async function attempt<Tx>(bracket: Bracket<Tx>, turn: Turn<Tx>, read: 'first' | 'locked'): Promise<Attempted> {
  if (read === 'first') {
    const kept = await look(bracket, turn)
    if (kept?.finished) return kept.refused
  }
  for (let looks = 0; ; ) {
    const passed = await pass(bracket, turn)
    turn.holder = undefined
    switch (passed.kind) {
      case 'refused':
        return ranHere(passed.refused, turn)
      case 'won':
        return { kind: 'won', fate: passed.fate }
      case 'unsure':
        looks += 1
        if (looks > UNSURE_LOOKS) return ranHere(BUSY, turn)
        await sleep(UNSURE_MS)
        turn.holder = await askHolder(bracket, turn)
        break
      case 'crowded': {
        if (!(await queued(bracket, turn))) return ranHere(BUSY, turn)
        break
      }
      case 'raced': {
        if (turn.begun === 0) break
        if (turn.how.repeatable && turn.how.policy.rerunnable && turn.begun <= RERUNS) break
        const found = await look(bracket, turn)
        if (found) return ranHere(found.refused, turn)
        tell('freed', { ...turn.facts, error: passed.cause })
        throw tryAgain(bracket.name, 'Another attempt of the same operation was faster.', passed.cause)
      }
      case 'overran':
        tell('freed', { ...turn.facts, why: passed.why })
        throw tryAgain(bracket.name, `The work was given up: ${passed.why}.`)
      case 'in-doubt':
        return resolve(bracket, turn, passed.cause)
      case 'foreign':
        return remember(bracket, turn, {
          memory: unknownMemory('the work ended its own transaction', turn.identity, turn.how.policy),
          cause: passed.cause,
        })
      case 'remember':
        return remember(bracket, turn, { memory: passed.memory })
      default:
        throw passed satisfies never
    }
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
  if (found.kind === 'written') tell(memory.event, turn.facts)
  if (found.kind === 'answer') return ranHere(found.refused, turn)
  if (cause === undefined && found.kind === 'written') return { kind: 'won', fate: memory.fate }
  if (cause === undefined && memory.fate !== 'held')
    throw tryAgain(bracket.name, 'The answer could not be kept without the writes.', causeOf(found))
  throw outcomeUnknown(bracket.name, cause ?? causeOf(found))
}

function causeOf(found: object): unknown {
  return 'cause' in found ? found.cause : undefined
}

/** `afterWork`: it ran here too, and what it did is undone or was not the first. */
function ranHere(refused: Refused, { begun }: Pick<Turn<unknown>, 'begun'>): Refused {
  return begun === 0 ? refused : { ...refused, afterWork: true }
}

/** One look without locks. `finished`: it answers by itself, whoever holds the key. */
async function look<Tx>(
  { database, dialect, claimMs, name }: Bracket<Tx>,
  { identity, facts }: Turn<Tx>,
): Promise<{ readonly refused: Refused; readonly finished: boolean } | undefined> {
  try {
    const rows = await inTime(claimMs, name, () => database.query(dialect.look(identity.id)))
    const { seen, primary } = dialect.readLook(rows)
    if (!primary || seen.kind === 'absent') return undefined
    const judged = judge(seen, identity.prints)
    if (judged.kind === 'runnable' || judged.kind === 'abandoned' || judged.kind === 'own') return undefined
    return { refused: judged, finished: seen.record.state === 'finished' }
  } catch (error) {
    tell('store-failed', { ...facts, error })
    if (isOncekeyError(error)) throw error
    throw unavailable(name, 'The database could not be asked.', error)
  }
}

async function askHolder<Tx>({ database, dialect, claimMs, name }: Bracket<Tx>, { identity, facts }: Turn<Tx>) {
  try {
    return dialect.readHolder(await inTime(claimMs, name, () => database.query(dialect.holder(identity))))
  } catch (error) {
    tell('store-failed', { ...facts, error })
    if (isOncekeyError(error)) throw error
    throw unavailable(name, 'The database could not be asked who holds the key.', error)
  }
}

/** False where the caller would not wait any longer. */
async function queued<Tx>(bracket: Bracket<Tx>, turn: Turn<Tx>): Promise<boolean> {
  const { signal, policy } = turn.how
  turn.permit = await bracket.permits.queue(policy.workMs, signal)
  if (turn.permit) return true
  if (signal?.aborted) return false
  throw unavailable(bracket.name, 'All connections that winners may hold are taken, and so are the places to wait.')
}
