/** What happens to operations, told on `node:diagnostics_channel`: metrics, logs and the kill points of crash tests are all these. */

/** One channel each, named `oncekey:` and the event. */
export const EVENTS = [
  'claimed', // the work may begin
  'keeping', // the work has ended; the receipt is about to be sent
  'kept', // the receipt is durable; the answer has not left yet
  'kept-undone', // the answer was kept, the writes were not
  'spent', // it happened, and the answer was not kept
  'freed', // proven that nothing happened
  'reopened', // the next attempt may run
  'replayed', // a repeat got the kept answer
  'busy', // a repeat came while the first runs
  'mismatch', // the key was used with another request
  'held', // nobody knows what happened
  'taken-over', // a claim past its lease was taken
  'lease-lost', // an owner found out that it is one no longer
  'stale-write-refused', // a write of a former owner was refused
  'commit-unknown', // COMMIT was sent and not answered
  'store-failed', // the store did not answer, or refused
  'may-forget', // the store is set up so that it can lose records
  'waited', // a duplicate waited for the first to end
  'unreadable', // a kept answer cannot be read by this build
  'oversized', // an answer outgrew its limit before it ended, and everything was rolled back: its route should declare a stream
  'swept', // a batch of records past their end was removed
  'settled', // somebody ended or removed a record by hand
] as const
export type EventName = (typeof EVENTS)[number]

/** Never a raw key, scope, body or credential: the id is a digest. */
export interface OncekeyEvent {
  readonly event: EventName
  readonly store?: string
  readonly mode?: 'transaction' | 'lease'
  readonly id?: string
  readonly name?: string
  readonly fence?: bigint
  readonly why?: string
  readonly ms?: number
  readonly removed?: number
  readonly expired?: number
  readonly abandoned?: number
  readonly error?: unknown
}

type Channel = { readonly hasSubscribers: boolean; publish(message: OncekeyEvent): void }
type Diagnostics = { channel(name: string): Channel }
type Builtins = { getBuiltinModule?: (name: string) => unknown }

const diagnostics = (globalThis as { process?: Builtins }).process?.getBuiltinModule?.('node:diagnostics_channel') as
  | Diagnostics
  | undefined
const channels = new Map<EventName, Channel>()
if (diagnostics) for (const name of EVENTS) channels.set(name, diagnostics.channel(`oncekey:${name}`))

/** Tells subscribers, in the same tick. Costs nothing where nobody listens; a subscriber that throws harms nobody (Node reports it). */
export function tell(event: EventName, facts: Omit<OncekeyEvent, 'event'>): void {
  const channel = channels.get(event)
  if (channel?.hasSubscribers) channel.publish({ event, ...facts })
}
