/** Who changed what by hand, in a stream that keeps the latest 10,000. */

/** An entry is written before its change, since in a cluster they may lie on two servers: no change is without its entry. */
export const auditEntry = `
return { 'd', redis.call('XADD', KEYS[1], 'MAXLEN', '~', 10000, '*', unpack(ARGV)) }
`

/** The change was refused, so that its entry says what did not happen. */
export const auditWithdrawn = `
redis.call('XDEL', KEYS[1], ARGV[1])
return { 'd' }
`
