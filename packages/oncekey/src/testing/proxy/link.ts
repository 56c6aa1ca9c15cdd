/** One connection through the proxy: both sockets, the messages between them, and the faults that strike there. */
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Trap } from './fault.ts'
import type { Message, Part, Wire } from './wire.ts'

/** What the links of one proxy share. */
export interface Traffic {
  readonly wire: Wire
  readonly latencyMs: number
  readonly flights: { sent: number; answered: number }
  silent: boolean
  take(message: Buffer): Trap | undefined
  /** A fault that reaches the whole server. */
  reached(kind: 'cut' | 'silence'): void
}
export interface Link {
  cut(by?: 'reset' | 'end'): void
}

export function link(client: Socket, server: Socket, traffic: Traffic, closed: () => void): Link {
  const reader = traffic.wire.open()
  let asked = 0
  let answered = 0
  let flying = false
  let silent = false
  /** A trap whose answer is awaited, and the number of that answer. */
  let sprung: { readonly trap: Trap; readonly answer: number } | undefined
  let quiet: NodeJS.Timeout | undefined

  for (const socket of [client, server]) {
    socket.setNoDelay(true)
    // The other side hears of it by `close`; here it is only kept from ending the process.
    socket.on('error', () => {})
    socket.once('close', () => {
      clearTimeout(quiet)
      // What is silent does not tell that somebody left either.
      if (!isSilent()) cut('end')
      if (client.destroyed && server.destroyed) closed()
    })
  }
  inOrder(client, reader.messages, onMessage, () => server.end())
  inOrder(server, reader.parts, onPart, () => client.end())
  return { cut }

  async function onMessage(message: Message): Promise<void> {
    const trap = traffic.take(message.bytes)
    if (trap !== undefined) {
      const { fault } = trap
      if (fault.kind === 'delay') await sleep(fault.requestMs ?? 0)
      else if (fault.kind !== 'drop' && fault.at === 'request') return strike(trap)
      sprung = { trap, answer: asked + 1 }
    }
    if (isSilent()) return
    if (message.asks) {
      asked += 1
      if (!message.handshake && !flying) traffic.flights.sent += 1
      flying ||= !message.handshake
    }
    await write(server, message.bytes)
  }

  async function onPart(part: Part): Promise<void> {
    if (part.ends) answered += 1
    if (traffic.wire.quietMs !== undefined) {
      clearTimeout(quiet)
      quiet = setTimeout(onQuiet, traffic.wire.quietMs)
    }
    const held = sprung
    if (held?.trap.fault.kind === 'delay') {
      sprung = undefined
      await sleep(held.trap.fault.answerMs ?? 0)
      held.trap.strike()
    } else if (held?.trap.fault.kind === 'drop') {
      if (answered >= held.answer) drop(held.trap)
      // Answers to messages before it still pass.
      if (traffic.wire.quietMs !== undefined || answered >= held.answer || !part.ends) return
    } else if (held !== undefined) {
      if (answered >= held.answer) strike(held.trap)
      return
    }
    if (isSilent()) return
    if (flying && (traffic.wire.quietMs !== undefined || (part.ends && answered === asked))) {
      flying = false
      traffic.flights.answered += 1
    }
    await write(client, part.bytes)
  }

  function onQuiet(): void {
    answered = asked
    if (sprung === undefined) return
    if (sprung.trap.fault.kind === 'drop') drop(sprung.trap)
    else strike(sprung.trap)
  }

  function drop(trap: Trap): void {
    sprung = undefined
    flying = false
    trap.strike()
  }

  function strike(trap: Trap): void {
    const { fault } = trap
    sprung = undefined
    if (fault.kind === 'cut' || fault.kind === 'silence') {
      silent = true
      if (fault.reach === 'server') traffic.reached(fault.kind)
      if (fault.kind === 'cut') cut(fault.by)
    }
    trap.strike()
  }

  function cut(by: 'reset' | 'end' = 'reset'): void {
    for (const socket of [client, server]) {
      if (socket.destroyed) continue
      if (by === 'reset') socket.resetAndDestroy()
      else socket.destroy()
    }
  }

  function isSilent(): boolean {
    return silent || traffic.silent
  }

  /** Pieces in order, each passed on no sooner than the latency after it came. */
  function inOrder<T>(
    from: Socket,
    read: (piece: Buffer) => readonly T[],
    pass: (one: T) => Promise<void>,
    last: () => void,
  ): void {
    let tail = Promise.resolve()
    from.on('data', (piece: Buffer) => {
      const due = performance.now() + traffic.latencyMs
      tail = tail.then(async () => {
        if (due > performance.now()) await sleep(due - performance.now())
        for (const one of read(piece)) await pass(one)
      })
    })
    from.once('end', () => {
      tail = tail.then(() => {
        if (!isSilent()) last()
      })
    })
  }
}

async function write(to: Socket, bytes: Buffer): Promise<void> {
  if (to.writable) await new Promise<void>((resolve) => to.write(bytes, () => resolve()))
}
