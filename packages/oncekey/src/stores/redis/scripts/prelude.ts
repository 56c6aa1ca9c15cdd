/** What every script on a record begins with: the server's time, the record as it lies there, and how one is written. */
import { CLEARED_AFTER_MS, STATE } from '../state.ts'

/** `us`: microseconds since 1970, exact in Lua's doubles until the year 2255. */
export const SERVER_TIME = `
local at = redis.call('TIME')
local us = at[1] * 1000000 + at[2]`

export const TIME = `
local now = math.floor(us / 1000)
local function text(number) return string.format('%.0f', number) end`

/**
 * Numbers are big-endian, times in milliseconds, fences in microseconds.
 *
 *     1 state · 16 fingerprint · 16 token · 6 end
 *     running, open, unknown:  6 lease end · 7 fence · 6 retention · 2+n why · label
 *     finished:                the receipt (stores/kept.ts)
 *     tombstoned:              6 end of the tombstone · the tombstone's label and the receipt
 *     spent:                   label
 *
 * While running and unknown the end is until when the downstream deduplicates, while open the lease end is; 0 is none.
 * A record of a state that this script does not know is neither over nor anybody's (S7).
 */
export const RECORD = `
local TAKEOVER, HOLD, OPEN, FINISHED, SPENT, UNKNOWN, TOMBSTONED =
  ${STATE.takeover}, ${STATE.hold}, ${STATE.open}, ${STATE.finished}, ${STATE.spent}, ${STATE.unknown}, ${STATE.tombstoned}
local NOBODY = string.rep(string.char(0), 16)

local function parsed(bytes)
  local r = { bytes = bytes, state = 0, print = '', token = NOBODY }
  if #bytes < 39 then return r end
  r.state, r.print, r.token, r.expires = struct.unpack('>Bc16c16I6', bytes)
  if r.state == TAKEOVER or r.state == HOLD or r.state == OPEN or r.state == UNKNOWN then
    r.lease, r.fence, r.retain = struct.unpack('>I6I7I6', bytes, 40)
    r.unended = true
    r.over = r.state == OPEN and now >= r.expires
    r.dedupes = r.state == OPEN and r.lease or r.expires
  elseif r.state == FINISHED or r.state == SPENT then
    r.over = now >= r.expires
  elseif r.state == TOMBSTONED then
    r.dies = struct.unpack('>I6', bytes, 40)
    r.over = now >= r.dies
  end
  return r
end

local function look()
  local bytes = redis.call('GET', KEYS[1])
  return bytes and parsed(bytes)
end

local function standing(r)
  return { 's', text(us), r and r.bytes or '' }
end

local function put(r, bytes, gone)
  r.bytes = bytes
  redis.call('SET', KEYS[1], bytes, 'PXAT', text(gone + ${CLEARED_AFTER_MS}))
end

-- A running or unknown record has no time to live at all (S6). An open one outlives its fence (S3).
local function write(r)
  local why = r.why or r.bytes:sub(59, 60 + struct.unpack('>I2', r.bytes, 59))
  local label = r.label or r.bytes:sub(61 + struct.unpack('>I2', r.bytes, 59))
  if r.why then why = struct.pack('>I2', #r.why) .. r.why end
  local bytes = struct.pack('>Bc16c16I6I6I7I6', r.state, r.print, r.token, r.expires, r.lease, r.fence, r.retain)
    .. why .. label
  if r.state == OPEN then
    put(r, bytes, math.max(r.expires, math.floor(r.fence / 1000) + 1))
  else
    r.bytes = bytes
    redis.call('SET', KEYS[1], bytes)
  end
end

local function run(r, state, lease)
  r.expires, r.state, r.lease, r.why = r.dedupes, state, now + lease, ''
  write(r)
end

local function reopen(r, retain)
  r.state, r.lease, r.expires = OPEN, r.dedupes, math.max(now + retain, r.dedupes)
  write(r)
end

local function hold(r, why)
  r.state, r.lease, r.expires, r.why = UNKNOWN, 0, r.dedupes, why
  write(r)
end

-- Deleted only where the clock is past the fence; else it is over from now on, and its fence is not given out again (S3).
local function free(r)
  if not r.fence or us > r.fence then
    redis.call('DEL', KEYS[1])
  else
    r.state, r.lease, r.expires = OPEN, r.dedupes, now
    write(r)
  end
end

-- The compare of every compare-and-set. A lease that ran out refuses nothing by itself.
local function mine(r)
  return r and r.unended and not r.over and r.token == ARGV[1] and r.fence == tonumber(ARGV[2])
end
`
