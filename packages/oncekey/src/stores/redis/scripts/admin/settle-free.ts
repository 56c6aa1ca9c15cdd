/** Somebody found out that nothing happened, or forgets: the record is gone, or over where its fence has to stay (S3). */
import { FREE, LOOK, NOBODY, STANDING } from '../record.ts'
import { AS_SEEN } from './as-seen.ts'

export const settleFree = `${LOOK}${AS_SEEN}
if not as_seen then return ${STANDING} end
token = ${NOBODY}${FREE}
return { 'd' }
`
