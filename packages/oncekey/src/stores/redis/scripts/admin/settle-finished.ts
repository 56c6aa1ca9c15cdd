/** An unknown or open record gets the answer that somebody found out. */
import { STATE } from '../../state.ts'
import { LOOK, NOBODY, put, STANDING } from '../record.ts'
import { AS_SEEN } from './as-seen.ts'

export const settleFinished = `${LOOK}${AS_SEEN}
if not as_seen then return ${STANDING} end
ends = now + ARGV[4]
local head = struct.pack('>Bc16c16I6', ${STATE.finished}, print, ${NOBODY}, ends)${put('head .. ARGV[5]', 'ends')}
return { 'd' }
`
