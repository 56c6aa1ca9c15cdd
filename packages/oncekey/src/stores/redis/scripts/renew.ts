/** A beat: the lease begins anew, and a record that was abandoned meanwhile is running again. */

export const renew = `
local r = look()
if not mine(r) then return standing(r) end
run(r, tonumber(ARGV[3]), ARGV[4])
return { 'd' }
`
