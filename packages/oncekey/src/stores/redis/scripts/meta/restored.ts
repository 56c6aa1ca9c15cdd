/** A new epoch begins: other processes find out at their next sweep. Or its window ends. */

/** ARGV: the new epoch, what becomes of keys that are not there. */
export const metaRestored = `
redis.call('HSET', KEYS[1], 'epoch', ARGV[1], 'on_epoch_change', ARGV[2], 'restored_at', string.format('%.0f', now))
redis.call('HDEL', KEYS[1], 'sweep_place')
return { 'd' }
`

export const metaReconciled = `
redis.call('HDEL', KEYS[1], 'restored_at', 'on_epoch_change')
return { 'd' }
`
