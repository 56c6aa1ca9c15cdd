/** What can go wrong with one message, as data. */

/** Which message, length and type bytes included: one that contains this text, matches this pattern, or this function says so. Text ignores case. */
export type Match = string | RegExp | ((message: Uint8Array) => boolean)

/** `request`: before the server gets the message. `answer`: the server has answered, the client never learns it. */
export type Moment = 'request' | 'answer'

export type Fault =
  /** The connection is torn down; with `reach: 'server'` all are, and new ones are refused until `up()`. */
  | {
      readonly kind: 'cut'
      readonly at: Moment
      readonly by?: 'reset' | 'end'
      readonly reach?: 'connection' | 'server'
    }
  /** Nothing passes any more in either direction, and nobody is told; with `reach: 'server'` on any connection. */
  | { readonly kind: 'silence'; readonly at: Moment; readonly reach?: 'connection' | 'server' }
  /** The answer is swallowed, and the connection lives on. */
  | { readonly kind: 'drop' }
  | { readonly kind: 'delay'; readonly requestMs?: number; readonly answerMs?: number }

/** A fault that waits for its message. */
export interface Armed {
  /** Resolves when it has struck. */
  readonly struck: Promise<void>
  disarm(): void
}
export interface Trap extends Armed {
  readonly fault: Fault
  matches(message: Buffer): boolean
  strike(): void
}

export function trapFor(match: Match, fault: Fault, disarm: (trap: Trap) => void): Trap {
  let strike = () => {}
  const struck = new Promise<void>((resolve) => {
    strike = resolve
  })
  const trap: Trap = { fault, struck, strike, matches: matcher(match), disarm: () => disarm(trap) }
  return trap
}

function matcher(match: Match): (message: Buffer) => boolean {
  if (typeof match === 'function') return match
  if (typeof match === 'string') {
    const wanted = match.toLowerCase()
    return (message) => message.toString('latin1').toLowerCase().includes(wanted)
  }
  const pattern = new RegExp(match.source, match.flags.replace(/[gy]/g, ''))
  return (message) => pattern.test(message.toString('latin1'))
}
