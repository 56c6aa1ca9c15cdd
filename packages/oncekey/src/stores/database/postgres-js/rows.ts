/** Reads rows as the server sent them, so that an application's own parsers and name transforms cannot change what our columns mean. */
import type { Row } from '../database.ts'
import type { Answer, Rename } from './driver.ts'

const BOOL = 16
const BYTEA = 17
const NUMBERS = new Set([21, 23, 26, 700, 701])

export function rowsOf(answer: Answer | readonly Answer[], rename: Rename): readonly Row[] {
  const one = (isOne(answer) ? answer : answer.at(-1)) as Answer
  const columns = one.columns ?? []
  return one.map((values) => {
    const row: Record<string, unknown> = {}
    columns.forEach(({ name, type }, at) => {
      row[name] = read(values[at] ?? null, type)
    })
    return rename === undefined ? row : renamed(row, rename)
  })
}

export function isOne(answer: Answer | readonly Answer[]): answer is Answer {
  return 'command' in answer
}

function renamed(row: Row, rename: NonNullable<Rename>): Row {
  return new Proxy(row, {
    get: (_, name) => (typeof name === 'symbol' || name in row ? Reflect.get(row, name) : row[rename(name)]),
  })
}

function read(bytes: Buffer | null, type: number): unknown {
  if (bytes === null) return null
  const text = bytes.toString('utf8')
  if (type === BYTEA) return new Uint8Array(Buffer.from(text.slice(2), 'hex'))
  if (type === BOOL) return text === 't'
  return NUMBERS.has(type) ? Number(text) : text
}
