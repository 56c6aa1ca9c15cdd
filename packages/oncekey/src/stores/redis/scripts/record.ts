/** The record in Lua: how it is read, when it is over, and how one is written. Pieces of text, since functions cost a script more than its work. */
import { CLEARED_AFTER_MS, STATE } from '../state.ts'

/** Sets `us`: microseconds since 1970, exact in Lua's doubles until the year 2255. The factory has no way to give another clock. */
export const SERVER_TIME = `
local at = redis.call('TIME')
local us = at[1] * 1000000 + at[2]`

export const NOW = `
local now = math.floor(us / 1000)`

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
const PARSE = `
local state, print, token, ends, lease, fence, retain, dedupes, dies, unended, over
if bytes and #bytes >= 39 then
  state, print, token, ends = struct.unpack('>Bc16c16I6', bytes)
  if state == ${STATE.takeover} or state == ${STATE.hold} or state == ${STATE.open} or state == ${STATE.unknown} then
    unended = true
    lease, fence, retain = struct.unpack('>I6I7I6', bytes, 40)
    dedupes = ends
    if state == ${STATE.open} then dedupes, over = lease, now >= ends end
  elseif state == ${STATE.finished} or state == ${STATE.spent} then
    over = now >= ends
  elseif state == ${STATE.tombstoned} then
    dies = struct.unpack('>I6', bytes, 40)
    over = now >= dies
  end
end`

/** Sets `bytes`, `unended`, `over`, `dedupes` and the record's fields; of what is not there all are nil. */
export const LOOK = `
local bytes = redis.call('GET', KEYS[1])${PARSE}`

/** The same of its first bytes alone: without label and answer. */
export const GLANCE = `
local bytes = redis.call('GETRANGE', KEYS[1], 0, 57)${PARSE}`

/** What a script answers that was refused: the server's clock, and what stands there. */
export const STANDING = `{ 's', string.format('%.0f', us), bytes or '' }`

/** The compare of every compare-and-set, of `ARGV[1]` and `ARGV[2]`. A lease that ran out refuses nothing by itself. */
export const IS_MINE = 'unended and not over and token == ARGV[1] and fence == tonumber(ARGV[2])'

export const NOBODY = 'string.rep(string.char(0), 16)'

/** Behind the numbers of a record that has not ended: why it stands as it does, and its label. */
const REST = 'bytes:sub(59)'
const LABEL = `bytes:sub(61 + struct.unpack('>I2', bytes, 59))`
export const restOf = (why: string, label = LABEL): string => `struct.pack('>I2', #${why}) .. ${why} .. ${label}`

/** Finished or open: its key is cleared away a while after its end. */
export const put = (bytes: string, gone: string): string => `
redis.call('SET', KEYS[1], ${bytes}, 'PXAT', string.format('%.0f', ${gone} + ${CLEARED_AFTER_MS}))`

/** From the fields. A running or unknown record has no time to live at all (S6); an open one outlives its fence (S3). */
const write = (rest: string): string => `
bytes = struct.pack('>Bc16c16I6I6I7I6', state, print, token, ends, lease, fence, retain) .. ${rest}`

export const writeRunning = (rest: string): string => `${write(rest)}
redis.call('SET', KEYS[1], bytes)`

const writeOpen = `${write(REST)}${put('bytes', 'math.max(ends, math.floor(fence / 1000) + 1)')}`

/** `mode` and `during` are Lua: takeover or hold, and the lease in milliseconds. */
export const run = (mode: string, during: string): string => `
state, ends, lease = ${mode}, dedupes, now + ${during}${writeRunning(`'\\0\\0' .. ${LABEL}`)}`

/** The retention counts from here, and never ends before the downstream has forgotten. */
export const REOPEN = `
state, lease, ends = ${STATE.open}, dedupes, math.max(now + retain, dedupes)${writeOpen}`

export const hold = (why: string): string => `
state, lease, ends = ${STATE.unknown}, 0, dedupes${writeRunning(restOf(why))}`

/** Deleted only where the clock is past the fence; else it is over from now on, and its fence is not given out again (S3). */
export const FREE = `
if not fence or us > fence then
  redis.call('DEL', KEYS[1])
else
  state, lease, ends = ${STATE.open}, dedupes, now${writeOpen}
end`
