/** A row as `RecordRow` wants it, with the server's clock in the same statement (S4). */

/**
 * Microseconds since 1970, of the moment when the statement began. Not `now()`, which is local: in the hour that a zone
 * runs through twice it is an hour off. Not `sysdate()`, which is local too, and which replicas cannot repeat. Statements
 * of ours never wait for long, and a moment earlier is the careful side of every comparison.
 */
export const NOW = "timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(6))"

/** Digests as hex digits and numbers as text: pools are set up to read both in many ways. */
export const columns = `lower(hex(k))                as k,
       lower(hex(fingerprint))      as fingerprint,
       state,
       lower(hex(token))            as token,
       cast(fence as char)          as fence,
       body,
       cast(expires_at as char)     as expires_us,
       cast(lease_end as char)      as lease_end_us,
       cast(${NOW} as char) as now_us`

/** False on a copy that follows another server: what it does not know yet may have happened (T14). */
export const onPrimary = "(cast(@@global.read_only as char) in ('0', 'OFF'))"
