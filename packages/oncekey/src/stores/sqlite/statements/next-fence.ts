/** The next fence of the file. */
import type { Statement } from '../../database/database.ts'
import { NOW } from './columns.ts'

/**
 * S3: SQLite's clock has milliseconds, so one counter orders all claims of the file, and no record has to stay for its
 * fence. It follows the clock in microseconds, so that a fence still tells when its claim was made (S8).
 */
export function nextFence(meta: string): Statement {
  return {
    text: `
  update ${meta}
     set fence = max(fence + 1, ${NOW} * 1000)
  returning fence`,
    params: [],
  }
}
