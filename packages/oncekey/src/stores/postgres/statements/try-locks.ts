/** Tries the locks of an operation, and says which transaction this is. */
import type { Statement } from '../../database/database.ts'
import type { Locks } from '../../transactional/locks.ts'

/** How long the server keeps a transaction whose client is silent or gone. */
export interface Limits {
  readonly idleMs: number
  /** Where the server can look whether its client is still there (PostgreSQL 14; not on every system). */
  readonly checksClient: boolean
}

/**
 * F (one for each fingerprint in rotation) is shared and never refused; K is exclusive and its holder may run; O is the
 * owner's mark, exclusive, which a caller with the same fingerprint finds taken; where it is refused, because a duplicate
 * tries it right now, the holder of K is the owner all the same. Nothing here waits. Two exclusive locks
 * instead were wrong 482 of 500 times; asking `pg_locks` here costs half the speed.
 *
 * What is set is set for this transaction only, so that poolers see nothing of it. The role is written down for
 * `as-opened.ts`. `opened` proves in the last flight that it is still this transaction (T3): `now()` is its beginning.
 */
export function tryLocks({ key, prints, owners }: Locks, limits?: Limits): Statement {
  const params = [key, ...prints, ...owners]
  const shared = (first: number, count: number): string[] =>
    Array.from({ length: count }, (_, index) => `pg_try_advisory_xact_lock_shared($${first + index}::bigint)`)
  return {
    text: `select set_config('oncekey.role', current_setting('role'), true),
       ${limits ? `${limiting(limits)},\n       ` : ''}current_setting('transaction_isolation')          as isolation,
       current_setting('transaction_read_only') = 'off'  as writable,
       (extract(epoch from now()) * 1000000)::bigint::text as opened,
       case when not (${shared(2, prints.length).join(' and ')}) then 'unsure'
            when pg_try_advisory_xact_lock($1::bigint)
             and pg_try_advisory_xact_lock($${2 + prints.length}::bigint) is not null then 'mine'
            when ${shared(2 + prints.length, owners.length).join(' and ')} then 'unsure'
            else 'same'
        end as lock`,
    params,
  }
}

/** Whole numbers of ours: no parameters, which some drivers would send as numbers where a text is wanted. */
function limiting({ idleMs, checksClient }: Limits): string {
  const idle = `set_config('idle_in_transaction_session_timeout', '${Math.ceil(idleMs)}', true)`
  return checksClient ? `${idle},\n       set_config('client_connection_check_interval', '1000', true)` : idle
}
