/** An unknown or open record gets the answer that somebody found out. */

export const settleFinished = `
local r = look()
if not as_seen(r) then return standing(r) end
local expires = now + ARGV[4]
put(r, struct.pack('>Bc16c16I6', FINISHED, r.print, NOBODY, expires) .. ARGV[5], expires)
return { 'd' }
`
