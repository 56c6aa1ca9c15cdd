/** How an answer of ours leaves through Hono: what outer layers have set for this request stays, the record fills the rest. */
import type { Context } from 'hono'
import type { Handled } from './exchange.ts'
import type { HeaderLine } from './kept-headers.ts'

/** These describe the bytes, which are the record's. */
const OF_THE_BYTES = new Set(['content-type', 'content-encoding', 'content-language'])

/** The headers that outer layers have set so far. Looking at `c.res` would make a response, and change what the handler's own headers do. */
export function outerHeaders(c: Context): Headers {
  return new Headers(c.finalized ? c.res.headers : c.newResponse(null).headers)
}

export function sendAnswer(
  c: Context,
  { answer, extra }: Extract<Handled, { kind: 'answer' }>,
  outer: Headers,
): Response {
  const headers = new Headers(outer)
  for (const [name] of answer.headers) if (OF_THE_BYTES.has(name)) headers.delete(name)
  for (const [name, value] of answer.headers)
    if (!outer.has(name) || OF_THE_BYTES.has(name)) headers.append(name, value)
  addExtra(headers, extra)
  const { status, body } = answer
  return replaced(c, new Response(body as Uint8Array<ArrayBuffer> | null, { status, headers }))
}

/** `behind`: it came from behind the middleware, and the headers of outer layers are on it already. */
export function sendProduced(
  c: Context,
  response: Response,
  { extra, behind }: { readonly extra: readonly HeaderLine[]; readonly behind: boolean },
): Response {
  if (behind) replaced(c, response)
  else c.res = response
  if (extra.length === 0) return c.res
  const headers = new Headers(c.res.headers)
  addExtra(headers, extra)
  const { status, statusText, body } = c.res
  return replaced(c, new Response(body, { status, statusText, headers }))
}

function addExtra(headers: Headers, extra: readonly HeaderLine[]): void {
  for (const [name, value] of extra) headers.append(name, value)
}

/** Hono lays the headers of a response that stands in the context over the next one: it has to go first. */
function replaced(c: Context, response: Response): Response {
  c.res = undefined
  c.res = response
  return response
}
