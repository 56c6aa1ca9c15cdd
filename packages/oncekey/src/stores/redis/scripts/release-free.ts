/** Proven that nothing happened: the key is free again. */
import { FREE, IS_MINE, LOOK, STANDING } from './record.ts'

export const releaseFree = `${LOOK}
if not (${IS_MINE}) then return ${STANDING} end${FREE}
return { 'd' }
`
