/** What stands there; a script and not GET, since a client may send that to a replica. */
import { STANDING } from './record.ts'

export const read = `
local bytes = redis.call('GET', KEYS[1])
return ${STANDING}
`
