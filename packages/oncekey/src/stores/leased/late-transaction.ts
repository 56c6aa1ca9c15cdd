/** The user's transaction in lease mode: opened on demand and late, because nothing foreign may be awaited while it is open (L1). */
import { OncekeyError } from '../../core/errors.ts'
import { tell } from '../../core/events.ts'
import type { OpenedTransaction } from '../../core/store.ts'
import type { Owner, Tenure } from './tenure.ts'

export interface LateTransaction<Tx> {
  begin(): Promise<Tx>
  /** What the work writes, collected from its beginning. */
  collect(): OpenedTransaction<Tx>
  /** No more `begin()`; what was opened and written through, if anything was. */
  opened(): Promise<OpenedTransaction<Tx> | undefined>
}

export function lateTransaction<Tx>({ driver, held, facts }: Owner<Tx>, tenure: Tenure): LateTransaction<Tx> {
  let opening: Promise<OpenedTransaction<Tx>> | undefined
  let over = false

  async function open(): Promise<OpenedTransaction<Tx>> {
    if (!driver.begin) throw new TypeError(`the store ${driver.name} has no transactions`)
    try {
      const opened = await driver.begin(held)
      opened.gone.addEventListener('abort', () => tenure.abort(opened.gone.reason), { once: true })
      return opened
    } catch (error) {
      tell('store-failed', { ...facts, why: 'begin', error })
      throw error
    }
  }

  return {
    async begin() {
      if (over) throw closed(driver.name)
      tenure.mayCall()
      opening ??= open()
      return (await opening).tx
    },
    collect() {
      if (!driver.collect) throw new TypeError(`the store ${driver.name} collects nothing`)
      const collected = driver.collect(held)
      opening = Promise.resolve(collected)
      return collected
    },
    async opened() {
      over = true
      const opened = await opening?.catch(() => undefined)
      if (!opened?.isEmpty?.()) return opened
      await opened.rollback()
      return undefined
    },
  }
}

function closed(store: string): OncekeyError {
  return new OncekeyError('TX_CLOSED', {
    what: 'begin() was called after the work had ended.',
    where: store,
    why: 'What would be written now could not commit together with the answer.',
    fix: 'Await everything that the work starts before it returns.',
  })
}
