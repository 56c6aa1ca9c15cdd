/** Finds the statements that would end somebody's transaction, in any text that may hold several. */

/**
 * `BEGIN`, `COMMIT`, `END` or `ROLLBACK` where a text has one as a statement of its own; `ROLLBACK TO` a savepoint is
 * fine, and so are these words in comments, literals, names and bodies of triggers.
 */
export function controlIn(sql: string): string | undefined {
  if (!/\b(?:begin|commit|end|rollback)\b/i.test(sql)) return undefined
  let trigger = false
  for (const statement of statementsOf(sql)) {
    const words = statement
      .trim()
      .split(/\s+/)
      .map((word) => word.toLowerCase())
    const [first = ''] = words
    if (trigger) {
      trigger = first !== 'end'
      continue
    }
    if (first === 'create' && (words[1] === 'trigger' || words[2] === 'trigger')) trigger = true
    else if (first === 'rollback' && (words[1] === 'to' || words[2] === 'to')) continue
    else if (['begin', 'commit', 'end', 'rollback'].includes(first)) return first.toUpperCase()
  }
  return undefined
}

/** Comments, literals and quoted names become blanks, so that every semicolon left ends a statement. */
function statementsOf(sql: string): string[] {
  const bare = sql.replaceAll(
    /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]/g,
    (quoted) => (quoted.startsWith('-') || quoted.startsWith('/') ? ' ' : 'x'),
  )
  return bare.split(';')
}
