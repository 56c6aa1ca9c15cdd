/** Where messages and answers begin and end in a stream of bytes, so that a fault can strike between two of them. */
import { Buffer } from 'node:buffer'

/** What a client sent. `asks`: an answer will come. A handshake is not counted as a flight. */
export interface Message {
  readonly bytes: Buffer
  readonly asks: boolean
  readonly handshake: boolean
}
/** What the server sent. `ends`: the answer to one message that asks is complete with it. */
export interface Part {
  readonly bytes: Buffer
  readonly ends: boolean
}
/** One connection's reader. */
export interface Reader {
  messages(piece: Buffer): readonly Message[]
  parts(piece: Buffer): readonly Part[]
}
export interface Wire {
  open(): Reader
  /** Where a protocol is not understood: an answer is over when the server has said nothing more for so many ms. */
  readonly quietMs?: number
}

/** Any protocol that asks and answers in turns, HTTP/1.1 among them: what arrives together is one message. */
export const anyWire: Wire = {
  quietMs: 20,
  open: () => ({
    messages: (bytes) => [{ bytes, asks: true, handshake: false }],
    parts: (bytes) => [{ bytes, ends: false }],
  }),
}

const QUERY = 0x51
const SYNC = 0x53
const READY_FOR_QUERY = 0x5a
const NO_ANSWER = 80877102 // CancelRequest
const ONE_BYTE_ANSWERS = new Set([80877103, 80877104]) // SSLRequest, GSSENCRequest

/**
 * PostgreSQL's messages, unencrypted (https://www.postgresql.org/docs/current/protocol-message-formats.html): Query
 * and Sync each ask for one ReadyForQuery, as does the startup message.
 */
export const postgresWire: Wire = {
  open() {
    let sent: Buffer = Buffer.alloc(0)
    let answered: Buffer = Buffer.alloc(0)
    let started = false
    let ready = false
    let bare = 0
    function asks(message: Buffer): boolean {
      if (started) return message[0] === QUERY || message[0] === SYNC
      const code = message.readInt32BE(4)
      if (ONE_BYTE_ANSWERS.has(code)) bare += 1
      else started = code !== NO_ANSWER
      return started
    }
    return {
      messages(piece) {
        const found: Message[] = []
        for (sent = Buffer.concat([sent, piece]); ; ) {
          const length = lengthOf(sent, started ? 1 : 0)
          if (length === undefined) return found
          const bytes = sent.subarray(0, length)
          sent = sent.subarray(length)
          found.push({ bytes, asks: asks(bytes), handshake: !ready })
        }
      },
      parts(piece) {
        const found: Part[] = []
        let from = 0
        answered = Buffer.concat([answered, piece])
        for (; bare > 0 && answered.length > from; bare -= 1) from += 1
        if (from > 0) found.push({ bytes: answered.subarray(0, from), ends: false })
        for (let at = from; ; ) {
          const length = lengthOf(answered.subarray(at), 1)
          const ends = length !== undefined && answered[at] === READY_FOR_QUERY
          if (length !== undefined) at += length
          if ((ends || length === undefined) && at > from) {
            found.push({ bytes: answered.subarray(from, at), ends })
            from = at
          }
          if (ends) ready = true
          if (length !== undefined) continue
          answered = answered.subarray(from)
          return found
        }
      },
    }
  },
}

/** The whole message's length, or undefined while it is not all there. */
function lengthOf(bytes: Buffer, before: number): number | undefined {
  if (bytes.length < before + 4) return undefined
  const length = before + bytes.readInt32BE(before)
  return bytes.length < length ? undefined : length
}
