/** The answer takes the claim's place, where the claim is still ours. The token stays, so that a lost reply is recognised. */
import { STATE } from '../state.ts'
import { IS_MINE, LOOK, put, STANDING } from './record.ts'

export const complete = `${LOOK}
local as, keep, tombstone, body = tonumber(ARGV[3]), ARGV[4], ARGV[5], ARGV[6]
if not (${IS_MINE}) then return ${STANDING} end
ends = now + keep
dies = ends + tombstone
local head = struct.pack('>Bc16c16I6', as, print, token, ends)
if as == ${STATE.tombstoned} then head = head .. struct.pack('>I6', dies) end${put('head .. body', 'dies')}
return { 'd' }
`
