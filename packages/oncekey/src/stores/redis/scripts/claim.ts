/** Claims an operation, or answers what stands in the way: one script, so that nothing comes between look and write. */
import { STATE } from '../state.ts'
import { hold, LOOK, restOf, run, STANDING, writeRunning } from './record.ts'

/**
 * Other fingerprint: nothing changes, also past a lease. Our own token is ours still, with the same fence (S2). Past
 * its end a record is absent, and anybody starts over. Open and running past its lease are taken; or, where its writer
 * said hold or the downstream has forgotten, written unknown with the former owner's token and fence, so that it may
 * still end it. The first claim's `dedupes until` stays.
 *
 * The PEXPIREAT changes nothing, ever: a time to live that ends in 1970 is not greater than any. It is a write all the
 * same, so that a replica, a primary that lost its replicas (min-replicas-to-write) and one that cannot save refuse to
 * decide, also where there is nothing to write. A flag on the script would do that too, but it would keep a server
 * whose memory is full from answering repeats (or, `allow-oom`, let it take new claims without end). Not at the top:
 * behind a first write Redis asks for memory no more.
 */
export const claim = `${LOOK}
local mine, prints, mode, during, keep, remembers, label = unpack(ARGV)
local taken = 'f'

if bytes and not over then
  local stays = not unended or prints:sub(1, 16) ~= print
  if unended and stays then
    for from = 17, #prints, 16 do
      if prints:sub(from, from + 15) == print then stays = false end
    end
  end
  if not stays and token == mine then${run('mode', 'during')}
    return { 'w', string.format('%.0f', fence), '' }
  end
  if stays or state == ${STATE.unknown} or (state ~= ${STATE.open} and lease > now) then
    redis.call('PEXPIREAT', KEYS[1], 1, 'GT')
    return ${STANDING}
  end
  if state == ${STATE.hold} or (dedupes > 0 and now >= dedupes) then
    local why = 'its owner vanished'${hold('why')}
    return ${STANDING}
  end
  taken = state == ${STATE.open} and '' or 't'
else
  print, dedupes = prints:sub(1, 16), 0
end

state, token, retain, lease = mode, mine, keep, now + during
ends = dedupes > 0 and dedupes or (remembers == '' and 0 or now + remembers)
fence = math.max((fence or 0) + 1, us)
local why = ''${writeRunning(restOf('why', 'label'))}
return { 'w', string.format('%.0f', fence), taken }
`
