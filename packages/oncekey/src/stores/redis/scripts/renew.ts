/** A beat: the lease begins anew, and a record that was abandoned meanwhile is running again. */
import { IS_MINE, LOOK, run, STANDING } from './record.ts'

export const renew = `${LOOK}
if not (${IS_MINE}) then return ${STANDING} end${run('ARGV[3]', 'ARGV[4]')}
return { 'd' }
`
