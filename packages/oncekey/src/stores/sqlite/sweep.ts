/** Sweeps a file in small steps: every other write of the process and of its neighbours comes in between. */
import { sleep } from '../../core/clock.ts'
import { tell } from '../../core/events.ts'
import type { Admin } from '../../core/store.ts'
import type { SqliteFile } from './file.ts'
import { abandonAll, remove, survey } from './statements/sweep.ts'

/** Removing so many takes a few ms, and for that long the event loop stands still. */
const BATCH = 2_000

export function sweeps<Tx>(file: SqliteFile<Tx>, mode: 'transaction' | 'lease'): Admin['sweep'] {
  const { record } = file.tables
  const look = survey(record)
  const removeIn = remove(record)
  const abandonIn = abandonAll(record)

  return async function sweep({ batch = BATCH, pauseMs = 20, signal } = {}) {
    await file.check()
    const total = { removed: 0, abandoned: 0 }
    for (let after: Uint8Array = new Uint8Array(); !signal?.aborted; ) {
      const found = await file.read(look(after, batch))
      if (!found?.looked) break
      const last = found.last as Uint8Array
      if (found.due) {
        const swept = await range(after, last)
        total.removed += swept.removed
        total.abandoned += swept.abandoned
        tell('swept', { store: 'sqlite', mode, ...swept })
      }
      if (Number(found.looked) < batch) break
      after = last
      await sleep(found.due ? pauseMs : 0, signal)
    }
    return total
  }

  function range(after: Uint8Array, last: Uint8Array): Promise<{ removed: number; abandoned: number }> {
    return file.write(async function sweepRange(writer) {
      const removed = writer.run(removeIn(after, last))
      const abandoned = writer.run(abandonIn(after, last))
      await writer.commit()
      return { removed, abandoned }
    })
  }
}
