/** The compare of every change by hand: what the operator saw still stands. */

/** ARGV[1] to ARGV[3]: state, fence and end of the record, as it was shown. */
export const AS_SEEN = `
local WORDS = { 'running', 'running', 'open', 'finished', 'finished', 'unknown', 'finished' }
local function shown_end(r)
  if r.state == TOMBSTONED and now >= r.expires then return r.dies end
  if r.state ~= TAKEOVER and r.state ~= HOLD and r.state ~= UNKNOWN then return r.expires end
end
local function as_seen(r)
  return r and not r.over and WORDS[r.state] == ARGV[1] and tostring(r.fence and r.fence > 0 and text(r.fence) or '') == ARGV[2]
    and (ARGV[3] == '' or ARGV[3] == text(shown_end(r) or 0))
end
`
