/** The two ways in which `pg` sends several statements in one flight: one query of all of them, or a message for each. */
import { createHash } from 'node:crypto'
import type { Row, Statement } from './database.ts'
import { inline } from './inline.ts'
import type { Flight, Flown } from './joined.ts'

export interface Form {
  fly(client: object, flight: Flight): Promise<Flown>
  one(client: object, statement: Statement): Promise<readonly Row[]>
  /** What stands behind a statement that failed is sent all the same. */
  readonly goesOn: boolean
}

/** On any pool, with the fewest messages, and what stands behind a statement that fails never runs. */
export const together: Form = {
  goesOn: false,
  async fly(client, { first, statements = [], last }) {
    const texts = [first, ...statements.map(inline), last].filter((text) => text !== undefined)
    const answer = await send(client, texts.join(';\n'))
    const results = Array.isArray(answer) ? answer : [answer]
    const from = first === undefined ? 0 : 1
    return {
      rows: results.slice(from, from + statements.length).map(({ rows }) => rows),
      command: results.at(-1)?.command,
    }
  },
  async one(client, statement) {
    const answer = (await send(client, inline(statement))) as Result | readonly Result[]
    return (Array.isArray(answer) ? answer.at(-1) : answer).rows
  },
}

/** On a pool that pipelines: parameters stay parameters, and statements may be parsed once for each connection. */
export function apart(named: boolean): Form {
  return {
    goesOn: true,
    async fly(client, { first, statements = [], last }) {
      const all = [first, ...statements.map((statement) => message(statement, named)), last]
      const wanted = all.filter((one) => one !== undefined)
      // One write for the whole flight.
      const { connection } = client as { connection?: { stream?: { cork?(): void; uncork?(): void } } }
      connection?.stream?.cork?.()
      const sent = wanted.map((one) => send(client, one) as Promise<Result>)
      connection?.stream?.uncork?.()
      const settled = await Promise.allSettled(sent)
      for (const one of settled) if (one.status === 'rejected') throw one.reason
      const results = settled.map((one) => (one as PromiseFulfilledResult<Result>).value)
      const from = first === undefined ? 0 : 1
      return {
        rows: results.slice(from, from + statements.length).map(({ rows }) => rows),
        command: results.at(-1)?.command,
      }
    },
    async one(client, statement) {
      return ((await send(client, message(statement, named))) as Result).rows
    },
  }
}

interface Result {
  readonly command: string
  readonly rows: readonly Row[]
}
type Message = string | { readonly text: string; readonly values: readonly unknown[]; readonly name?: string }

function send(client: object, message: Message): Promise<unknown> {
  return (client as { query(message: Message): Promise<unknown> }).query(message)
}

const names = new Map<string, string>()

/** PostgreSQL cuts names at 63 bytes, so a name is a digest and never the text. */
function message({ text, params }: Statement, named: boolean): Message {
  if (!named) return { text, values: params }
  const name = names.get(text) ?? `oncekey_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`
  names.set(text, name)
  return { text, values: params, name }
}
