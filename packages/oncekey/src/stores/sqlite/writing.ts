/** The application's own writes, in the same queue as its operations. */
import type { SqliteConnection } from './driver.ts'
import type { SqliteFile } from './file.ts'
import { handleOn } from './handle.ts'
import { holds, placed } from './holding.ts'

export function writing<Tx extends SqliteConnection>(
  file: SqliteFile<Tx>,
): <R>(work: (tx: Tx) => R | Promise<R>) => Promise<R> {
  return function write(work) {
    return placed(file.path, () =>
      file.write(async function inTransaction(writer) {
        const handle = handleOn(writer)
        const letGo = holds(file.path)
        try {
          const value = await work(handle.tx)
          handle.close()
          await writer.commit()
          return value
        } finally {
          letGo()
          handle.close()
        }
      }),
    )
  }
}
