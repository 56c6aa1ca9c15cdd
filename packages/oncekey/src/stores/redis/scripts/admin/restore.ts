/** The records were restored: who was at work, or may be again, is not known. Their owners may still say. */
import { STATE } from '../../state.ts'
import { hold, LOOK } from '../record.ts'

/** All of them, also claims of this life: the fences of another life may lie ahead of this server's clock. */
export const restore = `${LOOK}
if not unended or over or state == ${STATE.unknown} then return { '' } end
local why = ARGV[1]${hold('why')}
return { 'd' }
`
