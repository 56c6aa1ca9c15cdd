/** The next attempt may run. The retention counts from here, and never ends before the downstream has forgotten. */

export const releaseRetry = `
local r = look()
if not mine(r) or r.state == OPEN then return standing(r) end
r.retain = ARGV[3]
reopen(r, r.retain)
return { 'd' }
`
