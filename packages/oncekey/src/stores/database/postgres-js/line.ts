/** A transaction on a connection of postgres.js: what travels together, and when the connection goes back. */
import type { Statement } from '../database.ts'
import { inline } from '../inline.ts'
import type { Flown, Line } from '../joined.ts'
import type { Answer, Query, Rename, Sql } from './driver.ts'
import { type Held, hold } from './hold.ts'
import { type Lent, lend } from './lend.ts'
import { isOne, rowsOf } from './rows.ts'

export interface Sending {
  readonly rename: Rename
  readonly preparedStatements: boolean
}
type Send = (text: string, params?: Statement['params']) => Query

export function lineOf<Tx>(sql: Sql, { rename, preparedStatements }: Sending): Line<Tx> {
  let held: (Held & { readonly begun: Query }) | undefined
  let lent: Lent<Tx> | undefined
  const fly = preparedStatements ? flyApart : flyTogether
  const death = new AbortController()

  const send: Send = (text, params) => {
    const query = params === undefined ? sql.unsafe(text) : sql.unsafe(text, params, { prepare: true, simple: false })
    query.handler = (ready) => held?.run(ready)
    return query.raw().execute()
  }
  async function open(begin: string, statements: readonly Statement[]): Promise<Flown> {
    const opened = hold(sql, begin)
    held = opened
    opened.gone.addEventListener('abort', () => death.abort(opened.gone.reason))
    const [, flown] = await Promise.all([opened.begun, fly(send, statements, undefined, rename)])
    // The work may end our transaction by ways that we do not see: the connection stays ours until we have found out.
    opened.keep('released')
    return flown
  }
  return {
    gone: death.signal,
    fly({ first, statements = [], last }) {
      if (held === undefined) return open(first ?? 'begin', statements)
      if (last === 'commit' || first === 'rollback') held.keep('idle')
      return fly(send, first === undefined ? statements : [{ text: first, params: [] }], last, rename)
    },
    lend() {
      lent = lend<Tx>(sql, held as Held)
      return lent
    },
    ...(preparedStatements ? { suspect: () => lent?.failed ?? false } : {}),
    async refused(error) {
      // postgres.js reads the severity that is the same in every language.
      if ((error as { severity?: unknown } | undefined)?.severity !== 'ERROR') return false
      if (held?.isHeld()) await send('rollback').catch(() => {})
      return true
    },
    // It goes back when its transaction has ended.
    release() {},
    destroy: () => held?.destroy(),
  }
}

type Fly = (send: Send, statements: readonly Statement[], last: string | undefined, rename: Rename) => Promise<Flown>

/** One query of several statements: fewer messages, and a statement that fails keeps those behind it from running. */
const flyTogether: Fly = async (send, statements, last, rename) => {
  const texts = [...statements.map(inline), ...(last === undefined ? [] : [last])]
  if (texts.length === 0) return { rows: [], command: undefined }
  const answer = await send(texts.join(';\n'))
  // Commands without rows have no answer of their own, but for the first one.
  const answers: readonly Answer[] = isOne(answer) ? [answer] : answer
  const tables = answers.filter(({ columns }) => columns && columns.length > 0)
  const rows = statements.map(({ text }) => {
    const found = returnsRows(text) ? tables.shift() : undefined
    return found === undefined ? [] : rowsOf(found, rename)
  })
  return { rows, command: answers.at(-1)?.command ?? undefined }
}

/** Each statement as a message of its own, under a name: parsed once for each connection. */
const flyApart: Fly = async (send, statements, last, rename) => {
  const sent = statements.map(({ text, params }) => send(text, params))
  const settled = await Promise.allSettled(last === undefined ? sent : [...sent, send(last)])
  for (const one of settled) if (one.status === 'rejected') throw one.reason
  const answers = settled.map((one) => (one as PromiseFulfilledResult<Answer>).value)
  return {
    rows: sent.map((_, at) => rowsOf(answers[at] as Answer, rename)),
    command: answers.at(-1)?.command ?? undefined,
  }
}

function returnsRows(text: string): boolean {
  return /^\s*(?:select|with|values)\b|\breturning\b/i.test(text)
}
