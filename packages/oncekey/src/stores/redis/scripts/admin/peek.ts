/** The head of a record, without its answer: enough to count it and to know when it ends. */
import { STANDING } from '../record.ts'

export const peek = `
local bytes = redis.call('GETRANGE', KEYS[1], 0, 57)
return ${STANDING}
`
