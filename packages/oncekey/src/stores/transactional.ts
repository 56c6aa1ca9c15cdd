/** Transaction mode: the claim, the user's writes and the kept answer are one transaction of the user's own library (protocol, section 3). */
import { sleep } from '../core/clock.ts'
import { isOncekeyError } from '../core/errors.ts'
import { tell } from '../core/events.ts'
import { identify } from '../core/operation.ts'
import type { StorePolicy } from '../core/policy.ts'
import type { Admin, Attempted, InTransaction, Store } from '../core/store.ts'
import type { Database } from './database/database.ts'
import { afterwards } from './transactional/afterwards.ts'
import { type Bracket, inTime, ranHere, type Turn } from './transactional/bracket.ts'
import { BUSY } from './transactional/decide.ts'
import type { Dialect } from './transactional/dialect.ts'
import { drain } from './transactional/drain.ts'
import { closed, commitUnknown, outcomeUnknown, tryAgain, unavailable } from './transactional/faults.ts'
import { handles } from './transactional/handles.ts'
import { askHolder, look, UNSURE_LOOKS, UNSURE_MS } from './transactional/looks.ts'
import { type Passed, pass } from './transactional/pass.ts'
import { permits, winnersOf } from './transactional/permits.ts'
import { attemptWithin } from './transactional/within.ts'
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
export interface TransactionalStore<Tx> extends Store<InTransaction<Tx>> {
  /**
   * The same store over a transaction that the caller owns and has opened at READ COMMITTED. The answer is kept when the
   * caller commits; a refused attempt leaves the transaction as it was. Nothing is run again.
   */
  within(tx: Tx): Store<InTransaction<Tx>>
}

export function transactional<Tx>(
  database: Database<Tx>,
  dialect: Dialect,
  options: TransactionalOptions,
): TransactionalStore<Tx> {
  const { name, claimMs, read } = options
  const drained = drain(options.drainMs)
  const bracket: Bracket<Tx> = {
    database,
    dialect,
    name,
    claimMs,
    permits: permits(options.maxWinners ?? winnersOf(database.connections ?? 0), options.maxQueue),
    handles: handles(),
    restores: database.flights === 'joined',
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

  function storeOver(joined?: { readonly tx: Tx }): Store<InTransaction<Tx>> {
    return {
      name,
      mode: 'transaction',
      defaults: options.defaults,
      admin: options.admin,
      async attempt(operation, how, work) {
        const turn = turnOf<Tx>({ name, operation, how, work })
        const leave = drained.enter()
        if (!leave) throw closed(name)
        try {
          await check()
          if (!joined) return await attempt(bracket, turn, read)
          return await conclude(bracket, turn, await attemptWithin(bracket, turn, joined.tx))
        } finally {
          turn.permit?.release()
          leave()
        }
      },
      async [Symbol.asyncDispose]() {
        if (joined) return
        bracket.permits.close()
        await drained.wait()
      },
    }
  }
  return { ...storeOver(), within: (tx) => storeOver({ tx }) }
}

type Given<Tx> = Pick<Turn<Tx>, 'operation' | 'how' | 'work'> & { readonly name: string }

function turnOf<Tx>({ name, operation, how, work }: Given<Tx>): Turn<Tx> {
  const identity = identify(operation)
  const facts = { store: name, mode: 'transaction' as const, id: identity.id }
  return {
    operation,
    identity,
    how,
    work,
    facts: operation.name === undefined ? facts : { ...facts, name: operation.name },
    holder: undefined,
    permit: undefined,
    begun: 0,
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
      case 'unsure':
        looks += 1
        if (looks > UNSURE_LOOKS) return ranHere(BUSY, turn)
        await sleep(UNSURE_MS)
        turn.holder = await askHolder(bracket, turn)
        break
      case 'crowded':
        if (!(await queued(bracket, turn))) return ranHere(BUSY, turn)
        break
      case 'raced':
        if (turn.begun === 0) break
        if (turn.how.repeatable && turn.how.policy.rerunnable && turn.begun <= RERUNS) break
        return conclude(bracket, turn, passed)
      default:
        return conclude(bracket, turn, passed)
    }
  }
}

/** What a pass that is not flown again comes to. */
async function conclude<Tx>(
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

/** False where the caller would not wait any longer. */
async function queued<Tx>(bracket: Bracket<Tx>, turn: Turn<Tx>): Promise<boolean> {
  const { signal, policy } = turn.how
  turn.permit = await bracket.permits.queue(policy.workMs, signal)
  if (turn.permit) return true
  if (signal?.aborted) return false
  throw unavailable(bracket.name, 'All connections that winners may hold are taken, and so are the places to wait.')
}
