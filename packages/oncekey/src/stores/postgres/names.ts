/** The names of our tables, quoted and always qualified: neither a `search_path` nor a schema called `we"ird` can mislead a statement. */

export interface Names {
  /** The schema as people call it. */
  readonly schema: string
  readonly record: string
  readonly audit: string
  readonly meta: string
  readonly migration: string
}

export function namesIn(schema: string): Names {
  const quoted = identifier(schema)
  return {
    schema,
    record: `${quoted}.record`,
    audit: `${quoted}.audit`,
    meta: `${quoted}.meta`,
    migration: `${quoted}.migration`,
  }
}

export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Safe whatever `standard_conforming_strings` says: a backslash makes it an escape string. */
export function literal(text: string): string {
  const quoted = `'${text.replaceAll("'", "''").replaceAll('\\', '\\\\')}'`
  return text.includes('\\') ? `e${quoted}` : quoted
}
