/** The kept answer goes, its key stays bound: until the later of its ends nothing runs again. */

export const erase = `
local r = look()
if not as_seen(r) or (r.state ~= FINISHED and r.state ~= TOMBSTONED) then return standing(r) end
local last = r.dies or r.expires
put(r, struct.pack('>Bc16c16I6', SPENT, r.print, r.token, last) .. ARGV[4], last)
return { 'd' }
`
