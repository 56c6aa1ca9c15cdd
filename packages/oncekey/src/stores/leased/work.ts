/** Runs the work of a won claim, and sees to it that the claim ends whatever the work does. */
import { monotonic } from '../../core/clock.ts'
import { grantOf } from '../../core/grant.ts'
import type { Operation } from '../../core/operation.ts'
import type { Attempted, Collecting, Forgetful, How, Leased, LeasedInDatabase, Verdict } from '../../core/store.ts'
import { answerFromRecord, conclude, giveUp } from './ending.ts'
import { overran } from './faults.ts'
import { lateTransaction } from './late-transaction.ts'
import { TOO_LATE, within } from './patience.ts'
import { type Owner, type Tenure, takeOffice } from './tenure.ts'

export interface Running<Tx> {
  readonly owner: Owner<Tx>
  readonly operation: Operation
  readonly how: How
  readonly work: (grant: Leased | LeasedInDatabase<Tx> | Collecting<Tx> | Forgetful) => Promise<Verdict>
  /** Told when the work begins, so that a shutdown can reach it; the answer is called when the work itself has ended. */
  readonly entered: (tenure: Tenure) => () => void
  /** Takes what goes on after the caller was answered. */
  readonly background: (rest: Promise<unknown>) => void
}

export async function run<Tx>({ owner, operation, how, work, entered, background }: Running<Tx>): Promise<Attempted> {
  const { driver, held, workEndsAt } = owner
  const tenure = takeOffice(owner)
  const left = entered(tenure)
  const late = lateTransaction(owner, tenure)
  const collected = driver.collect ? late.collect() : undefined
  const common = { operation, id: held.id, how, signal: tenure.signal, mayCall: tenure.mayCall }
  const grant = {
    ...grantOf(common),
    fence: held.fence,
    ...(driver.begin ? { begin: late.begin } : {}),
    ...(driver.mayForget ? { mayForget: driver.mayForget } : {}),
    ...(collected ? { tx: collected.tx } : {}),
  }

  async function working(): Promise<Verdict> {
    try {
      return await work(grant)
    } catch {
      // Work handed to `attempt` never rejects; if it does, nobody knows how far it got.
      return { kind: 'hold', why: 'the work rejected' }
    }
  }

  async function end(verdict: Verdict): Promise<Attempted> {
    try {
      await tenure.stop()
      const opened = await late.opened()
      return await (tenure.lost() ? answerFromRecord(owner, opened) : conclude(owner, verdict, opened))
    } finally {
      left()
    }
  }

  async function endOverrun(): Promise<Attempted> {
    tenure.abort(overran(driver.name, held.policy.workMs))
    await tenure.stop()
    return tenure.lost() ? answerFromRecord(owner, undefined) : giveUp(owner, 'the work overran its time')
  }

  const ended = working()
  const verdict = await within(ended, workEndsAt - monotonic())
  if (verdict !== TOO_LATE) return end(verdict)
  // The work may return yet: its answer then lands on the unknown record. It must not pass the hold on its way there.
  const overrun = endOverrun()
  background(Promise.allSettled([ended, overrun]).then(async () => end(await ended)))
  return overrun
}
