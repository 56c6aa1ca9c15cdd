/** The names of our tables, quoted: MySQL has no schemas, so a prefix keeps them apart from the application's. */

export interface Names {
  /** As people know it. */
  readonly prefix: string
  readonly record: string
  readonly audit: string
  readonly meta: string
  readonly migration: string
}

/** The prefix has been checked: letters, digits and underscores. */
export function namesWith(prefix: string): Names {
  return {
    prefix,
    record: `\`${prefix}record\``,
    audit: `\`${prefix}audit\``,
    meta: `\`${prefix}meta\``,
    migration: `\`${prefix}migration\``,
  }
}
