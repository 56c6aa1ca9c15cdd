// What an operator does: look at what nobody knows, settle it, sweep, and listen.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { OncekeyEvent, Store } from 'oncekey'
import { valueCodec } from 'oncekey'

export async function settleUnknown(store: Store, lookUp: (key: string) => Promise<{ id: string } | undefined>) {
  const settled: string[] = []
  // #region settle
  for await (const record of store.admin.list({ state: 'unknown' })) {
    const charge = await lookUp(record.key ?? record.id)
    const audit = { who: 'ada@example.com', why: 'looked it up at the bank' }
    const as = charge
      ? ({ kind: 'finished', receipt: await valueCodec().encode(charge) } as const)
      : ({ kind: 'free' } as const)
    const end = await store.admin.settle(record, as, audit) // `done`, or the record as it is by now
    if (end === 'done') settled.push(record.id)
  }
  // #endregion
  return settled
}

export async function housekeeping(store: Store, signal: AbortSignal) {
  // #region sweep
  const { removed, abandoned } = await store.admin.sweep({ batch: 10_000, pauseMs: 20, signal })
  // #endregion
  return { removed, abandoned }
}

export function counting() {
  // #region events
  const counts = new Map<string, number>()
  const count = (message: unknown) => {
    const { event } = message as OncekeyEvent
    counts.set(event, (counts.get(event) ?? 0) + 1)
  }
  for (const event of ['kept', 'replayed', 'busy', 'mismatch', 'held', 'taken-over', 'lease-lost', 'store-failed'])
    subscribe(`oncekey:${event}`, count)
  // #endregion
  const stop = () => {
    for (const event of ['kept', 'replayed', 'busy', 'mismatch', 'held', 'taken-over', 'lease-lost', 'store-failed'])
      unsubscribe(`oncekey:${event}`, count)
  }
  return { counts, stop }
}
