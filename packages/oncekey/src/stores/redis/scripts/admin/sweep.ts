/** What a sweep does to one record; its head says whether there is anything to do. */

/**
 * Past its end: gone, where its fence allows it. Past the first of two ends: the answer is cut off, the tombstone in
 * front of it stays (stores/kept.ts). Running past its lease: open or unknown, as its own writer said (S5), with token
 * and fence, so that its owner may still finish. Running inside its lease and unknown ones: never.
 */
export const sweep = `
local head = redis.call('GETRANGE', KEYS[1], 0, 57)
if head == '' then return { '' } end
local r = parsed(head)
if r.over then
  if r.fence and us <= r.fence then return { '' } end
  redis.call('DEL', KEYS[1])
  return { 'removed' }
end
if r.state == TOMBSTONED and now >= r.expires then
  local label = redis.call('GET', KEYS[1]):match('^.(%Z*)', 46)
  put(r, struct.pack('>Bc16c16I6', SPENT, r.print, r.token, r.dies) .. label, r.dies)
  return { 'expired' }
end
if (r.state == TAKEOVER or r.state == HOLD) and now >= r.lease then
  r = look()
  if r.state == TAKEOVER then reopen(r, r.retain) else hold(r, 'its owner vanished') end
  return { 'abandoned' }
end
return { '' }
`
