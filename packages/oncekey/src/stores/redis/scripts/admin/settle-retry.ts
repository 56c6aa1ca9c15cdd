/** The next attempt may run; kept for as long as the record's own writer wanted (S5). */
import { LOOK, NOBODY, REOPEN, STANDING } from '../record.ts'
import { AS_SEEN } from './as-seen.ts'

export const settleRetry = `${LOOK}${AS_SEEN}
if not as_seen then return ${STANDING} end
token = ${NOBODY}${REOPEN}
return { 'd' }
`
