/** The answer takes the claim's place, where the claim is still ours. The token stays, so that a lost reply is recognised. */

export const complete = `
local state, retain, tombstone, body = tonumber(ARGV[3]), ARGV[4], ARGV[5], ARGV[6]
local r = look()
if not mine(r) then return standing(r) end
local expires = now + retain
local dies = expires + tombstone
local ends = state == TOMBSTONED and struct.pack('>I6', dies) or ''
put(r, struct.pack('>Bc16c16I6', state, r.print, r.token, expires) .. ends .. body, dies)
return { 'd' }
`
