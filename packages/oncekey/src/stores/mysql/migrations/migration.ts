/** One step of the schema, from one version to the next. */
import type { Names } from '../names.ts'

export interface Migration {
  readonly version: number
  readonly name: string
  /** MySQL commits each of them by itself, so each can be run again: `if not exists`, `insert ignore`. */
  statements(names: Names): readonly string[]
}
