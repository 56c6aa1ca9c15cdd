/** The parts that insert and replace have in common: the values, and the proof that stands in the same statement. */
import type { Write } from '../../transactional/dialect.ts'

/** In the error texts; texts that no number can be read from, so that the cast fails and says so. */
export const FOREIGN = 'oncekey: this is not the transaction that was opened'
export const REPLACED = 'oncekey: the record is another one now'

/**
 * A statement that fails where `now()` is not the opening's: then the work has ended our transaction by itself, and
 * COMMIT, which travels with this statement, must not find anything to commit. The time behind the text keeps the
 * planner from working the cast out beforehand. `synchronous_commit=off` is overridden here, where it counts: the answer
 * leaves only after it is durable.
 */
export function proven(opened: string, value: string): string {
  return `case when (extract(epoch from pg_catalog.now()) * 1000000)::bigint <> ${opened}::bigint
            then ('${FOREIGN} ' || pg_catalog.now())::smallint
            when pg_catalog.current_setting('synchronous_commit') <> 'off' or pg_catalog.set_config('synchronous_commit', 'on', true) <> ''
            then ${value}::smallint
        end`
}

/** `$1` … `$6`: id, fingerprint, state, body, what the transaction was opened at, milliseconds to keep it. */
export function params(write: Write): readonly (string | number | bigint | Uint8Array | null)[] {
  return [write.id, write.print, write.state, write.body, write.opened, write.keepMs]
}

/** Counted from the finish, not from the beginning of the transaction (S5). */
export const END = `pg_catalog.clock_timestamp() + $6::double precision * interval '1 millisecond'`

/** `ms` is the parameter. Where no tombstone is wanted nothing is worked out, and no parameter sent. */
export function tombstoneEnd({ tombstoneMs }: Write, ms: string): string {
  return tombstoneMs === null
    ? 'null'
    : `pg_catalog.clock_timestamp() + ($6::double precision + ${ms}::double precision) * interval '1 millisecond'`
}

export function tombstoneParams({ tombstoneMs }: Write): readonly number[] {
  return tombstoneMs === null ? [] : [tombstoneMs]
}
