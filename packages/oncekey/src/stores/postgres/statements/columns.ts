/** A row as `RecordRow` wants it: every comparison with the time is made here, by the database's clock (S4). */

/**
 * Digests and numbers as text, because drivers disagree about them; `clock_timestamp()`, not `now()`, which stands still
 * while the transaction waits. What is left of a lease is rounded up: it is over when nothing is left, not when less
 * than a millisecond is.
 */
export const columns = `k::text                                                                    as k,
       fingerprint::text                                                          as fingerprint,
       state,
       token::text                                                                as token,
       fence::text                                                                as fence,
       body,
       (extract(epoch from expires_at) * 1000)::bigint::text                      as expires_ms,
       (extract(epoch from lease_end) * 1000)::bigint::text                       as lease_end_ms,
       (state between 3 and 5 and expires_at <= clock_timestamp())                as over,
       (case when state = 3 then lease_end else expires_at end <= clock_timestamp()) as dedupes_over,
       ceil(extract(epoch from lease_end - clock_timestamp()) * 1000)::bigint::text  as lease_left_ms,
       (((extract(epoch from clock_timestamp()) * 1000000)::bigint - fence) / 1000)::text as age_ms`
