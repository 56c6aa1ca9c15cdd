/** Somebody found out that nothing happened: the record is gone, or over where its fence has to stay (S3). */

export const settleFree = `
local r = look()
if not as_seen(r) then return standing(r) end
r.token = NOBODY
free(r)
return { 'd' }
`
