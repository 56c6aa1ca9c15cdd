/** Claims an operation, or answers what stands in the way: one script, so that nothing comes between look and write. */

/**
 * Other fingerprint: nothing changes, also past a lease. Our own token is ours still, with the same fence (S2). Past
 * its end a record is absent, and anybody starts over. Open and running past its lease are taken; or, where its writer
 * said hold or the downstream has forgotten, written unknown with the former owner's token and fence, so that it may
 * still end it. The first claim's `dedupes until` stays.
 *
 * The PEXPIREAT of `answer` changes nothing, ever: a time to live that ends in 1970 is not greater than any. It is a
 * write all the same, so that a replica, a primary that lost its replicas (min-replicas-to-write) and one that cannot
 * save refuse to decide, also where there is nothing to write. A flag on the script would do that too, but it would
 * keep a server whose memory is full from answering repeats (or, `allow-oom`, let it take new claims without end).
 * Not at the top: behind a first write Redis asks for memory no more.
 */
export const claim = `
local token, prints, state, lease, retain, dedupes, label = unpack(ARGV)
local r = look()
local earlier = r and not r.over and r
local taken = ''
local function answer()
  redis.call('PEXPIREAT', KEYS[1], 1, 'GT')
  return standing(r)
end

if earlier then
  local same = false
  for at = 1, #prints, 16 do same = same or prints:sub(at, at + 15) == earlier.print end
  if not same or not earlier.unended then return answer() end
  if r.token == token then
    run(r, state, lease)
    return { 'w', text(r.fence), '' }
  end
  if r.state == UNKNOWN then return answer() end
  if r.state ~= OPEN then
    if r.lease > now then return answer() end
    taken = 't'
  end
  if r.state == HOLD or (r.dedupes > 0 and now >= r.dedupes) then
    hold(r, 'its owner vanished')
    return standing(r)
  end
end

local fence = math.max((r and r.fence or 0) + 1, us)
local first = dedupes == '' and 0 or now + dedupes
write({
  state = state, token = token, fence = fence, lease = now + lease, retain = retain, why = '', label = label,
  print = earlier and earlier.print or prints:sub(1, 16),
  expires = earlier and earlier.dedupes > 0 and earlier.dedupes or first,
})
return { 'w', text(fence), earlier and taken or 'f' }
`
