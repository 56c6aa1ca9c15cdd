/** What a test tells another process to do, and what that one tells back. */
export interface Task {
  readonly path: string
  /** Lease mode: how long a claim is honoured without a beat. */
  readonly leaseMs?: number
  readonly mode: 'transaction' | 'lease'
  /** Keys, and how many attempts of each at the same time. */
  readonly claims: readonly { readonly key: string; readonly times: number }[]
  /** The event at which the process ends, as if it had been pulled from the wall. */
  readonly dieAt?: string
  /** Says that it is there, and begins when it is told to. */
  readonly waits?: boolean
}
export interface Done {
  /** For each key, how often which answer came. */
  readonly answers: Readonly<Record<string, Readonly<Record<string, number>>>>
  readonly errors: readonly string[]
}
/** Said on stderr: it is there, and waits to be told to begin. */
export const READY = 'ready\n'
/** Its timers have fired twenty times. */
export const GOES_ON = 'goes on\n'
