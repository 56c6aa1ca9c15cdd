/** One sweeper at a time, with a lease of its own, and the place where it is: whoever sweeps next goes on from there. */

/** ARGV: who, for how many milliseconds. Answers the place. */
export const sweeperEnters = `
local who, till = unpack(redis.call('HMGET', KEYS[1], 'sweeper', 'sweeper_until'))
if who and who ~= ARGV[1] and tonumber(till) > now then return { 'elsewhere' } end
redis.call('HSET', KEYS[1], 'sweeper', ARGV[1], 'sweeper_until', string.format('%.0f', now + ARGV[2]))
return { 'd', redis.call('HGET', KEYS[1], 'sweep_place') or '' }
`

/** ARGV: who, for how many milliseconds, the place. Refused where somebody else took over. */
export const sweeperGoesOn = `
if redis.call('HGET', KEYS[1], 'sweeper') ~= ARGV[1] then return { 'elsewhere' } end
redis.call('HSET', KEYS[1], 'sweeper_until', string.format('%.0f', now + ARGV[2]), 'sweep_place', ARGV[3])
return { 'd' }
`

export const sweeperLeaves = `
if redis.call('HGET', KEYS[1], 'sweeper') == ARGV[1] then
  redis.call('HDEL', KEYS[1], 'sweeper', 'sweeper_until')
end
return { 'd' }
`
