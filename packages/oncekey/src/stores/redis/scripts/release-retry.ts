/** The next attempt may run. */
import { STATE } from '../state.ts'
import { IS_MINE, LOOK, REOPEN, STANDING } from './record.ts'

export const releaseRetry = `${LOOK}
if not (${IS_MINE}) or state == ${STATE.open} then return ${STANDING} end
retain = ARGV[3]${REOPEN}
return { 'd' }
`
