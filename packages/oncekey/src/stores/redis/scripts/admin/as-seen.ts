/** The compare of every change by hand: what the operator saw still stands. */
import { STATE } from '../../state.ts'

const { takeover, hold, open, finished, spent, unknown, tombstoned } = STATE
const WORDS = [
  [takeover, 'running'],
  [hold, 'running'],
  [open, 'open'],
  [finished, 'finished'],
  [spent, 'finished'],
  [unknown, 'unknown'],
  [tombstoned, 'finished'],
] as const

/** Sets `as_seen`: `ARGV[1]` to `ARGV[3]` are state, fence and (of a finished record) end, as they were shown. */
export const AS_SEEN = `
local words = { ${WORDS.map(([state, word]) => `[${state}] = '${word}'`).join(', ')} }
local shown = fence and fence > 0 and string.format('%.0f', fence) or ''
local last = state == ${tombstoned} and now >= ends and dies or ends
local as_seen = bytes and not over and words[state] == ARGV[1] and shown == ARGV[2]
  and (ARGV[3] == '' or string.format('%.0f', last or 0) == ARGV[3])
`
