/** Writes a statement's parameters into its text, for flights of several statements; only what the library made may pass (T6). */
import type { Statement } from './database.ts'

/** Throws for any text but hex digits, dashes and decimal numbers: what a user wrote never becomes SQL. */
export function inline({ text, params }: Statement): string {
  // What is quoted is passed over: a schema may be called `a$1`.
  return text.replace(/"(?:[^"]|"")*"|'(?:[^']|'')*'|\$(\d+)/g, (whole: string, number: string | undefined) =>
    number === undefined ? whole : written(params[Number(number) - 1]),
  )
}

function written(value: Statement['params'][number] | undefined): string {
  if (value === null) return 'null'
  if (value instanceof Uint8Array)
    // Without a backslash, so that `standard_conforming_strings=off` cannot change its meaning.
    return `pg_catalog.decode('${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')}', 'hex')`
  if (typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value))) return `'${value}'`
  if (typeof value === 'string' && /^(?:[0-9a-f-]+|-?\d+)$/i.test(value)) return `'${value}'`
  throw new TypeError('a parameter of a statement of ours is neither a number, bytes nor hex digits')
}
