/** Writes an answer of ours onto a Node response: what outer layers have set for this request stays, the record fills the rest. */
import type { ServerResponse } from 'node:http'
import type { Handled } from './exchange.ts'
import type { HeaderLine } from './kept-headers.ts'
import { isBodiless } from './produced.ts'

/** These describe the bytes, which are the record's. */
const OF_THE_BYTES = new Set(['content-type', 'content-encoding', 'content-language'])

export function sendAnswer(res: ServerResponse, { answer, extra }: Extract<Handled, { kind: 'answer' }>): void {
  // Somebody outside of us, a timeout page say, has answered already.
  if (res.headersSent || res.destroyed) return
  const { status, headers, body } = answer
  const outer = new Set(res.getHeaderNames().filter((name) => !OF_THE_BYTES.has(name)))
  const lines = headers.filter(([name]) => !outer.has(name))
  for (const [name] of lines) res.removeHeader(name)
  for (const [name, value] of lines) res.appendHeader(name, value)
  addExtra(res, extra)
  res.statusCode = status
  if (body === null && !isBodiless(status)) res.setHeader('content-length', '0')
  if (body === null) res.end()
  else res.end(body)
}

export function addExtra(res: ServerResponse, extra: readonly HeaderLine[]): void {
  for (const [name, value] of extra) {
    const there = res.getHeader(name)
    res.setHeader(name, there === undefined ? value : `${String(there)}, ${value}`)
  }
}
