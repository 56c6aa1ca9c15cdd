/** Who sweeps, and how far it has come: one at a time, and one that died is waited for only until its claim ends. */
import type { Statement } from '../../database/database.ts'
import { NOW } from './columns.ts'

/** No row where somebody else sweeps; else the place at which the last sweep stopped. */
export function beginSweep(meta: string): (sweeper: Uint8Array, forMs: number) => Statement {
  const text = `
  update ${meta}
     set sweeper = ?1, sweeper_until = ${NOW} + ?2
   where sweeper is null or sweeper_until <= ${NOW}
  returning sweep_place`
  return (sweeper, forMs) => ({ text, params: [sweeper, forMs] })
}

/** No change where somebody else has taken over, after a rest that was longer than the claim. */
export function keepSweep(meta: string): (sweeper: Uint8Array, forMs: number, place: Uint8Array) => Statement {
  const text = `
  update ${meta}
     set sweeper_until = ${NOW} + ?2, sweep_place = ?3
   where sweeper = ?1`
  return (sweeper, forMs, place) => ({ text, params: [sweeper, forMs, place] })
}

export function endSweep(meta: string): (sweeper: Uint8Array, place: Uint8Array | null) => Statement {
  const text = `
  update ${meta}
     set sweeper = null, sweeper_until = null, sweep_place = ?2
   where sweeper = ?1`
  return (sweeper, place) => ({ text, params: [sweeper, place] })
}
