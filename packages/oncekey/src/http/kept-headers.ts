/** Which headers of an answer belong to its result and are replayed, and which belong to one exchange and never are. */
import { OncekeyError } from '../core/errors.ts'

export type HeaderLine = readonly [name: string, value: string]

/** Kept without being named: they describe what the operation made. */
export const KEPT_HEADERS: readonly string[] = [
  'content-type',
  'content-language',
  'content-disposition',
  'content-location',
  'location',
  'etag',
  'last-modified',
  'link',
  'allow',
  'cache-control',
]

/** The coding is one thing with the bytes, so its label stays exactly as long as they do. */
const WITH_THE_BYTES = 'content-encoding'

const NEVER: ReadonlySet<string> = new Set([
  // Framing and hop-by-hop (RFC 9110 §7.6.1, RFC 9111 §3.1): they belong to a connection.
  ...['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'http2-settings', 'content-length'],
  // One exchange: made afresh for the repeat, or wrong for it.
  ...['date', 'age', 'expires', 'via', 'alt-svc', 'server', 'server-timing', 'retry-after', 'idempotent-replayed'],
  // A session, a challenge or a signature of the first caller's exchange must not reach a later one.
  ...['set-cookie', 'set-cookie2', 'clear-site-data', 'www-authenticate', 'authentication-info', 'authorization'],
  ...['signature', 'signature-input', 'strict-transport-security', 'report-to', 'nel'],
  ...['content-security-policy', 'content-security-policy-report-only'],
  ...['traceparent', 'tracestate', 'traceresponse', 'baggage', 'x-cloud-trace-context', 'cf-ray'],
])
/** `X-Request-Id` and everybody's own: `x-amzn-requestid`, `x-ms-request-id`, `x-correlation-id`, `fly-request-id`. */
const REQUEST_ID = /(?:^|-)(?:request|trace|correlation|span)-?id$/
const NEVER_FAMILIES = ['access-control-', 'proxy-', 'sec-', 'ratelimit', 'x-ratelimit', 'x-rate-limit', 'x-b3-']

/** What to keep of an answer's headers. Throws `INVALID_OPTION` where `keep` names one that is never kept. */
export function headersToKeep(keep: readonly string[] = []): (headers: readonly HeaderLine[]) => HeaderLine[] {
  const named = keep.map((name) => name.toLowerCase())
  const refused = named.find(neverKept)
  if (refused !== undefined) throw neverKeptError(refused)
  const wanted = new Set([...KEPT_HEADERS, WITH_THE_BYTES, ...named])
  return function kept(headers) {
    const hops = namedByConnection(headers)
    return headers.filter(([raw]) => {
      const name = raw.toLowerCase()
      return wanted.has(name) && !hops.has(name)
    })
  }
}

export function neverKept(header: string): boolean {
  const name = header.toLowerCase()
  return NEVER.has(name) || REQUEST_ID.test(name) || NEVER_FAMILIES.some((family) => name.startsWith(family))
}

/** RFC 9110 §7.6.1: whatever `Connection` names is for the next hop only. */
function namedByConnection(headers: readonly HeaderLine[]): ReadonlySet<string> {
  const lines = headers.filter(([name]) => name.toLowerCase() === 'connection')
  return new Set(lines.flatMap(([, value]) => value.split(',').map((option) => option.trim().toLowerCase())))
}

function neverKeptError(name: string): OncekeyError {
  return new OncekeyError('INVALID_OPTION', {
    what: `The header ${name} is to be kept, and it never is.`,
    where: 'keep',
    why: 'It belongs to one exchange: a replay would hand a cookie, a challenge, an id or a limit to a later request.',
    fix: 'Take it off the list; set it again outside of the protected route, for every answer.',
  })
}
