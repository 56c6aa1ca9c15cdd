/** The records were restored: who was at work, or may be again, is not known. Their owners may still say. */

/** All of them, also claims of this life: the fences of another life may lie ahead of this server's clock. */
export const restore = `
local r = look()
if not r or not r.unended or r.over or r.state == UNKNOWN then return { '' } end
hold(r, ARGV[1])
return { 'd' }
`
