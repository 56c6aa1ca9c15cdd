/** The owner gives up, and nobody knows. */

export const holdScript = `
local r = look()
if not mine(r) then return standing(r) end
hold(r, ARGV[3])
return { 'd' }
`
