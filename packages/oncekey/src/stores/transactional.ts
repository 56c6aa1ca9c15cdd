/** Transaction mode: the claim, the user's writes and the kept answer are one transaction of the user's own library (protocol, section 3). */
import { sleep } from '../core/clock.ts'
import { isOncekeyError } from '../core/errors.ts'
import { identify } from '../core/operation.ts'
import type { StorePolicy } from '../core/policy.ts'
import type { Admin, Attempted, InTransaction, Restored, Store } from '../core/store.ts'
import type { Database } from './database/database.ts'
import { pulse } from './pulse.ts'
import { type Bracket, inTime, ranHere, type Turn } from './transactional/bracket.ts'
import { conclude } from './transactional/conclude.ts'
import { BUSY } from './transactional/decide.ts'
import type { Dialect } from './transactional/dialect.ts'
import { drain } from './transactional/drain.ts'
import { closed, unavailable } from './transactional/faults.ts'
import { handles } from './transactional/handles.ts'
import { askHolder, look, toldBy, UNSURE_LOOKS, UNSURE_MS } from './transactional/looks.ts'
import { pass } from './transactional/pass.ts'
import { permits, winnersOf } from './transactional/permits.ts'
import { attemptWithin } from './transactional/within.ts'

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
  /** As the last check of the schema said, without asking; throws where the records are other ones by now (I4). */
  readonly restored?: () => Restored | undefined
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
    pulse: pulse(),
    permits: permits(options.maxWinners ?? winnersOf(database.connections ?? 0), options.maxQueue),
    handles: handles(),
    restores: database.flights === 'joined' || dialect.provenBySavepoint === true,
    closing: drained.over,
  }
  let checked: Promise<void> | undefined

  /** Once per store; a check that failed is made again by the next caller. What a later one found is heeded. */
  async function check(): Promise<Restored | undefined> {
    checked ??= inTime(bracket, () => dialect.check(database)).catch((error: unknown) => {
      checked = undefined
      if (isOncekeyError(error)) throw error
      throw unavailable(name, 'The database could not be asked for its schema.', error)
    })
    await checked
    return options.restored?.()
  }

  function storeOver(joined?: { readonly tx: Tx }): Store<InTransaction<Tx>> {
    return {
      name,
      mode: 'transaction',
      defaults: options.defaults,
      admin: options.admin,
      ...(options.restored ? { restored: check } : {}),
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
        if (bracket.dialect.holderIsExact) {
          const told = await toldBy(bracket, turn)
          if (told) return ranHere(told, turn)
          await sleep(UNSURE_MS)
          break
        }
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

/** False where the caller would not wait any longer. */
async function queued<Tx>(bracket: Bracket<Tx>, turn: Turn<Tx>): Promise<boolean> {
  const { signal, policy } = turn.how
  turn.permit = await bracket.permits.queue(policy.workMs, signal)
  if (turn.permit) return true
  if (signal?.aborted) return false
  throw unavailable(bracket.name, 'All connections that winners may hold are taken, and so are the places to wait.')
}
