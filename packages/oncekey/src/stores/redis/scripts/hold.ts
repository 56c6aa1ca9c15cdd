/** The owner gives up, and nobody knows. */
import { hold, IS_MINE, LOOK, STANDING } from './record.ts'

export const holdScript = `${LOOK}
if not (${IS_MINE}) then return ${STANDING} end
local why = ARGV[3]${hold('why')}
return { 'd' }
`
