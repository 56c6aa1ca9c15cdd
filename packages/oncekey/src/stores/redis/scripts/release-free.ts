/** Proven that nothing happened: the key is free again. */

export const releaseFree = `
local r = look()
if not mine(r) then return standing(r) end
free(r)
return { 'd' }
`
