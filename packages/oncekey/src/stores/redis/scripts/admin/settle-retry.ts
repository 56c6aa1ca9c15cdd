/** The next attempt may run; kept for as long as the record's own writer wanted (S5). */

export const settleRetry = `
local r = look()
if not as_seen(r) then return standing(r) end
r.token = NOBODY
reopen(r, r.retain)
return { 'd' }
`
