/** What a sweep does to one record; its head says whether there is anything to do. */
import { STATE } from '../../state.ts'
import { GLANCE, hold, put, REOPEN } from '../record.ts'

/**
 * Past its end: gone, where its fence allows it. Past the first of two ends: the answer is cut off, the tombstone in
 * front of it stays (stores/kept.ts). Running past its lease: open or unknown, as its own writer said (S5), with token
 * and fence, so that its owner may still finish. Running inside its lease and unknown ones: never.
 */
export const sweep = `${GLANCE}
if over then
  if fence and us <= fence then return { '' } end
  redis.call('DEL', KEYS[1])
  return { 'removed' }
end
if state == ${STATE.tombstoned} and now >= ends then
  local label = redis.call('GET', KEYS[1]):match('^.(%Z*)', 46)
  local head = struct.pack('>Bc16c16I6', ${STATE.spent}, print, token, dies)${put('head .. label', 'dies')}
  return { 'expired' }
end
if (state == ${STATE.takeover} or state == ${STATE.hold}) and now >= lease then
  bytes = redis.call('GET', KEYS[1])
  if state == ${STATE.takeover} then${REOPEN}
  else
    local why = 'its owner vanished'${hold('why')}
  end
  return { 'abandoned' }
end
return { '' }
`
