/** The kept answer goes, its key stays bound: until the later of its ends nothing runs again. */
import { STATE } from '../../state.ts'
import { LOOK, put, STANDING } from '../record.ts'
import { AS_SEEN } from './as-seen.ts'

export const erase = `${LOOK}${AS_SEEN}
if not as_seen or (state ~= ${STATE.finished} and state ~= ${STATE.tombstoned}) then return ${STANDING} end
ends = dies or ends
local head = struct.pack('>Bc16c16I6', ${STATE.spent}, print, token, ends)${put('head .. ARGV[4]', 'ends')}
return { 'd' }
`
