/** What the winner of a transaction-mode attempt holds, while its work runs. */
import { tell } from '../../core/events.ts'
import { grantOf } from '../../core/grant.ts'
import { type RecordRow, STATE } from '../row.ts'
import type { Bracket, Turn } from './bracket.ts'
import { childKeyUnsafe } from './faults.ts'
import { runWork, type Worked } from './work.ts'

export interface Winning<Tx> {
  readonly tx: Tx
  readonly gone: AbortSignal
  /** The row that the record will take the place of. */
  readonly replaces: RecordRow | undefined
}

export function grant<Tx>(bracket: Bracket<Tx>, turn: Turn<Tx>, { tx, gone, replaces }: Winning<Tx>): Promise<Worked> {
  const { closing, handles, name } = bracket
  const { identity, how, operation, facts } = turn
  const { policy } = how

  function mayCall(): void {
    if (policy.dedupesForMs === undefined) throw childKeyUnsafe(name)
  }
  turn.begun += 1
  tell('claimed', facts)
  if (replaces && Number(replaces.state) === STATE.takeover) tell('taken-over', facts)
  const leave = handles.enter(tx, identity.id)
  return runWork((signal) => turn.work({ ...grantOf({ operation, id: identity.id, how, signal, mayCall }), tx }), {
    workMs: policy.workMs,
    gone,
    closing,
  }).finally(leave)
}
