/** Sees SQL that would end the transaction under us; what it cannot see, the proof in the last flight finds out (T3, T7). */
import { OncekeyError } from '../../core/errors.ts'

/** Throws `TX_CONTROL` for COMMIT, END, ROLLBACK, ABORT and PREPARE TRANSACTION. ROLLBACK TO a savepoint is fine. */
export function refuseControl(sql: string): void {
  const found = controlIn(sql)
  if (found === undefined) return
  throw new OncekeyError('TX_CONTROL', {
    what: `The work sent ${found} on the transaction that belongs to its operation.`,
    where: 'tx',
    why: 'The answer has to commit together with the writes; a transaction that ends early loses its key, and the work could run twice.',
    fix: 'Return or throw instead. Use savepoints for a part that may be undone.',
  })
}

/** The first statement that ends a transaction, wherever it stands among others. */
export function controlIn(sql: string): string | undefined {
  // Nearly every statement of an application contains none of these words: one look is enough.
  if (!/\b(commit|end|rollback|abort|prepare)\b/i.test(sql)) return undefined
  const bare = sql.replace(QUOTED, ' ')
  // The body of a SQL-standard function has an `end` of its own.
  const statements = /\bbegin\s+atomic\b/i.test(bare) ? [bare] : bare.split(';')
  for (const statement of statements) {
    const found = ENDS.exec(statement)
    if (found) return found[1]?.toUpperCase().replace(/\s+/g, ' ')
  }
  return undefined
}

/** Comments (nested ones too, one level), texts, names and dollar-quoted bodies. */
const QUOTED =
  /--[^\n]*|\/\*(?:[^*/]|\*(?!\/)|\/(?!\*)|\/\*(?:[^*]|\*(?!\/))*\*\/)*\*\/|\be'(?:[^'\\]|\\[\s\S]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$[A-Za-z_]*\w*\$)[\s\S]*?\1/gi

const ENDS =
  /^\s*(commit(?!\s+prepared\b)|end|abort|prepare\s+transaction|rollback(?!\s+prepared\b)(?!\s+(?:(?:work|transaction)\s+)?to\b))\b/i
