/** Settles by id alone: the operator's late decision replaces an answer that was kept meanwhile. */
import { type BrokenStore, clear } from './broken-store.ts'

export const settlesWithoutComparing: BrokenStore = {
  name: 'settles-without-comparing',
  report: 'brandur/sorg#268',
  breaks: ['settling compares first: what has changed since it was seen stays as it is'],
  vary: (driver) => ({
    admin: {
      ...driver.admin,
      async settle(seen, as, audit) {
        const settled = await driver.admin.settle(seen, as, audit)
        if (settled === 'done' || settled?.state === 'running') return settled
        await clear(driver, seen.id)
        return 'done'
      },
    },
  }),
}
