// The engine without HTTP: an operation, a work function, and the five ways in which it can come out.
import { type Operation, once } from 'oncekey'
import { sqlite } from 'oncekey/sqlite'

export async function reminders(path: string) {
  // #region once
  const store = sqlite(path)

  async function sendReminder(customer: string, invoice: string) {
    const operation: Operation = {
      scope: customer,
      key: `reminder:${invoice}`,
      fingerprints: [`reminder ${invoice}`],
    }
    const outcome = await once(store, operation, async ({ tx }) => {
      tx.prepare('insert into outbox (customer, invoice) values (?, ?)').run(customer, invoice)
      return { queued: true }
    })
    switch (outcome.kind) {
      case 'ran': // now, here
      case 'replayed': // before; this is its answer
        return outcome.value
      case 'busy': // somebody is at it
        return { queued: false, retryAfterMs: outcome.retryAfterMs }
      case 'mismatch': // the key belongs to another request
      case 'not-kept': // before; its answer was not kept
      case 'unknown': // nobody knows; it is not run again
        throw new Error(`reminder ${invoice}: ${outcome.kind}`)
    }
  }
  // #endregion
  await store.write((tx) => tx.exec('create table if not exists outbox (customer text, invoice text)'))
  return { store, sendReminder }
}
