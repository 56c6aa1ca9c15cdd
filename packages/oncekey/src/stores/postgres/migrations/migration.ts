/** One step of the schema, from one version to the next. */
import type { Names } from '../names.ts'

export interface Migration {
  readonly version: number
  readonly name: string
  /** Run one by one, in the transaction that also writes down the version. */
  statements(names: Names): readonly string[]
}
