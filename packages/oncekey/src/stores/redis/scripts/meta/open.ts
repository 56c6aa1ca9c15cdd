/** How the records are named, who can read them, and which life of them this is (I4); written by whoever comes first. */

/** ARGV: identity scheme, `min_reader`, a new epoch; a last one that is not empty makes what is missing. */
export const openMeta = `
if ARGV[4] ~= '' and redis.call('HEXISTS', KEYS[1], 'epoch') == 0 then
  redis.call('HSET', KEYS[1], 'identity_scheme', ARGV[1], 'min_reader', ARGV[2], 'epoch', ARGV[3])
end
return redis.call('HMGET', KEYS[1], 'identity_scheme', 'min_reader', 'epoch', 'restored_at', 'on_epoch_change')
`
