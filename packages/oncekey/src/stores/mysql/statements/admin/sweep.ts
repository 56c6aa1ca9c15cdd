/** Sweeping: who does it and how far it is, what is past its end in one stretch of the table, and what becomes of that. */
import type { Statement } from '../../../database/database.ts'
import { STATE } from '../../../row.ts'
import type { Names } from '../../names.ts'
import { bytes, micros } from '../../values.ts'
import { columns, NOW } from '../columns.ts'
import { ABANDONED, END, IS_RUNNING, later } from '../ends.ts'

/** One at a time: a sweeper that died lets the next one in after this long. */
const CLAIM_MS = 60_000

export function claimSweep({ meta }: Names, token: string): Statement {
  return {
    text: `update ${meta}
   set sweeper_until = ${later()}, sweeper = ?
 where sweeper is null or sweeper_until <= ${NOW}`,
    params: [micros(CLAIM_MS), bytes(token)],
  }
}

export function sweepPlace({ meta }: Names): Statement {
  return { text: `select lower(hex(sweep_place)) as place from ${meta}`, params: [] }
}

/** Not ours any more where somebody else has taken over: then nothing is written. */
export function goOnFrom({ meta }: Names, token: string, place: string | null): Statement {
  return {
    text: `update ${meta} set sweeper_until = ${later()}, sweep_place = ? where sweeper = ?`,
    params: [micros(CLAIM_MS), place === null ? null : bytes(place), bytes(token)],
  }
}

export function endSweep({ meta }: Names, token: string): Statement {
  return { text: `update ${meta} set sweeper = null, sweeper_until = null where sweeper = ?`, params: [bytes(token)] }
}

/** How far the next so many records reach. */
export function stretch({ record }: Names, after: string, records: number): Statement {
  return {
    text: `select lower(hex(max(k))) as last, count(*) as looked
  from (select k from ${record} where k > ? order by k limit ?) as stretch`,
    params: [bytes(after), records],
  }
}

const IS_GONE = `state in (${STATE.open}, ${STATE.finished}, ${STATE.spent}) and ${END} <= ${NOW} and (fence is null or fence < ${NOW})`
const IS_EXPIRED = `state = ${STATE.finished} and expires_at <= ${NOW} and lease_end > ${NOW}`
const IS_ABANDONED = `${IS_RUNNING} and lease_end <= ${NOW}`

/**
 * Locked, so that what is done in the same transaction is done to what was seen; rows that others have are passed over
 * (`skip locked`), so that a sweeper waits for nobody's work. Never an unknown one, and a running one only past its lease.
 */
export function ended({ record }: Names, after: string, last: string): Statement {
  return {
    text: `select ${columns},
       case when ${IS_GONE} then 'removed' when ${IS_EXPIRED} then 'expired' else 'abandoned' end as fate
  from ${record}
 where k > ? and k <= ?
   and (${IS_GONE} or ${IS_EXPIRED} or ${IS_ABANDONED})
   for update skip locked`,
    params: [bytes(after), bytes(last)],
  }
}

export function removed({ record }: Names, ids: readonly string[]): Statement {
  return { text: `delete from ${record} where ${within(ids)}`, params: ids.map(bytes) }
}

/** The answer goes and the tombstone in front of it stays: 0, its label, 0, the receipt. Assigned from left to right. */
export function expired({ record }: Names, ids: readonly string[]): Statement {
  return {
    text: `update ${record}
   set body       = substring(body, 2, locate(x'00', body, 2) - 2),
       expires_at = lease_end,
       lease_end  = null,
       state      = ${STATE.spent}
 where ${within(ids)}`,
    params: ids.map(bytes),
  }
}

/** An open one is kept for as long as its writer's label says (S5); without that it stays until it is claimed. */
export function reopened({ record }: Names, id: string, keptForMs: number | undefined): Statement {
  return {
    text: `update ${record}
   set lease_end  = expires_at,
       expires_at = greatest(${later()}, coalesce(expires_at, 0)),
       state      = ${STATE.open}
 where k = ?`,
    params: [micros(keptForMs), bytes(id)],
  }
}

export function abandoned({ record }: Names, ids: readonly string[]): Statement {
  return {
    text: `update ${record} set lease_end = null, body = ${ABANDONED}, state = ${STATE.unknown} where ${within(ids)}`,
    params: ids.map(bytes),
  }
}

function within(ids: readonly string[]): string {
  return `k in (${ids.map(() => '?').join(', ')})`
}
