/** Gives a key back: proven that nothing happened. */
import type { Statement } from '../../database/database.ts'
import { IS_MINE } from './columns.ts'
import { type Mine, mineOf } from './mine.ts'

/** The row may always go: its fence is not lost with it, for the next one comes from the counter of the file (S3). */
export function releaseFree(record: string): (mine: Mine) => Statement {
  const text = `
  delete from ${record}
   where ${IS_MINE}`
  return (mine) => ({ text, params: mineOf(mine) })
}
