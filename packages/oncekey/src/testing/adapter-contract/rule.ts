/** One rule of HTTP that an adapter is held to, and what it is given to try it. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import type { Ledger } from './sample.ts'
import { openWire, sendOnce, type Wire, type WireAnswer, type WireRequest } from './wire.ts'

export interface HttpRule {
  /** The section of docs/reference/http.md, and a name that does not change. */
  readonly rule: string
  readonly title: string
  /** Public reports of the failure, or the paragraph that asks for it. */
  readonly source: string
  /** `bytes`: for adapters that read the body themselves; behind a parser they see only what it made of it. */
  readonly needs?: 'bytes'
  run(context: RuleContext): Promise<void>
}

export interface Post {
  readonly key?: string | undefined
  readonly user?: string | null
  readonly body?: string | Uint8Array
  readonly headers?: WireRequest['headers']
  readonly method?: string
}

export interface RuleContext {
  readonly port: number
  readonly ledger: Ledger
  /** A key that no other rule uses. */
  newKey(): string
  /** A POST of JSON by `alice`, on a connection of its own. */
  post(path: string, what?: Post): Promise<WireAnswer>
  connect(): Promise<Wire>
  /** The runs of a path since the rule began. */
  runs(path: string): number
}

let keys = 0

/** `patienceMs`: how long an answer may take before its connection is given up. Default 15 s. */
export function ruleContext(port: number, ledger: Ledger, patienceMs?: number): RuleContext {
  const before = new Map(ledger.app.samples.map(({ path }) => [path, ledger.runs(path)]))
  return {
    port,
    ledger,
    newKey: () => `key-${process.pid}-${++keys}`,
    post(path, what) {
      const answer = sendOnce(port, postOf(path, what), patienceMs)
      // A rule that has failed elsewhere looks at no answer that is still under way.
      answer.catch(() => {})
      return answer
    },
    connect: () => openWire(port, patienceMs),
    runs: (path) => ledger.runs(path) - (before.get(path) ?? 0),
  }
}

export function postOf(
  path: string,
  { key, user = 'alice', body = '{"amount":1}', headers = [], method = 'POST' }: Post = {},
): WireRequest {
  return {
    method,
    path,
    body,
    headers: [
      ...(headers.some(([name]) => name.toLowerCase() === 'content-type')
        ? []
        : [['content-type', 'application/json'] as const]),
      ...(user === null ? [] : [['authorization', `Bearer ${user}`] as const]),
      ...(key === undefined ? [] : [['idempotency-key', key] as const]),
      ...headers,
    ],
  }
}

/** A problem document of this status and code, as RFC 9457 and the reference page want it. */
export function assertProblem(answer: WireAnswer, status: number, code: string): void {
  strictEqual(answer.status, status, answer.text)
  strictEqual(answer.header('content-type'), 'application/problem+json')
  const { type, title, status: stated, code: given } = answer.json
  strictEqual(given, code)
  strictEqual(stated, status)
  ok(typeof title === 'string' && title.length > 0)
  ok(URL.canParse(type) && String(type).includes(code), `type is not absolute or not of the condition: ${type}`)
  ok(answer.header('link')?.includes('rel="describedby"'))
  strictEqual(answer.header('idempotent-replayed'), undefined)
}

export function assertReplay(replay: WireAnswer, first: WireAnswer): void {
  strictEqual(replay.status, first.status, replay.text)
  strictEqual(replay.header('idempotent-replayed'), 'true')
  strictEqual(first.header('idempotent-replayed'), undefined)
  strictEqual(replay.header('content-type'), first.header('content-type'))
  deepStrictEqual(replay.body, first.body)
}
