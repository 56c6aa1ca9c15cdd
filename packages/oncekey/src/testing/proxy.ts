/** A TCP proxy that breaks connections at a message of your choice, so that every lost reply can be a test. */
import { createServer, connect as dial, type Server } from 'node:net'
import { type Armed, type Fault, type Match, type Trap, trapFor } from './proxy/fault.ts'
import { type Link, link, type Traffic } from './proxy/link.ts'
import { anyWire, postgresWire, type Wire } from './proxy/wire.ts'

export type { Armed, Fault, Match, Moment } from './proxy/fault.ts'
export { anyWire, type Message, type Part, postgresWire, type Reader, type Wire } from './proxy/wire.ts'

export interface FaultProxyOptions {
  /** The server's address as a URL. `postgres:` is read message by message, all else in turns of asking and answering. */
  readonly to: string
  readonly wire?: Wire
  /** Added in each direction, in ms. It also tells flights apart: what is sent before an answer came is one flight. */
  readonly latencyMs?: number
}

/** Times that a client sent something and had to wait. `answered` leaves out what nobody has waited for yet. */
export interface Flights {
  readonly sent: number
  readonly answered: number
}

export interface FaultProxy extends AsyncDisposable {
  readonly port: number
  /** The server's address, through the proxy. */
  readonly url: string
  /** How many connections are open through it. */
  readonly connections: number
  readonly flights: Flights
  /** Lets one fault strike at the next message that matches, on whatever connection it comes. */
  next(match: Match, fault: Fault): Armed
  /** The server dies: every connection is cut and new ones are refused. */
  down(): void
  /** The host hangs: every connection stays open, new ones are accepted, and nothing passes. */
  silence(): void
  /** The end of `down` and `silence`. What was open then stays dead. */
  up(): Promise<void>
}

/** Listens on 127.0.0.1, on a port that the system chose. */
export async function faultProxy({ to, wire, latencyMs = 0 }: FaultProxyOptions): Promise<FaultProxy> {
  const target = new URL(to)
  const postgres = target.protocol === 'postgres:' || target.protocol === 'postgresql:'
  const host = target.hostname.replace(/^\[|\]$/g, '') || '127.0.0.1'
  const backPort = Number(target.port) || (postgres ? 5432 : 80)
  const links = new Set<Link>()
  let traps: Trap[] = []
  let listener: Server | undefined
  const traffic: Traffic = {
    wire: wire ?? (postgres ? postgresWire : anyWire),
    latencyMs,
    flights: { sent: 0, answered: 0 },
    silent: false,
    take,
    reached: (kind) => (kind === 'cut' ? down() : silence()),
  }
  const port = await listen(0)
  const url = new URL(to)
  url.hostname = '127.0.0.1'
  url.port = String(port)

  return {
    port,
    url: url.href,
    get connections() {
      return links.size
    },
    get flights() {
      return { ...traffic.flights }
    },
    next(match, fault) {
      const trap = trapFor(match, fault, (gone) => {
        traps = traps.filter((other) => other !== gone)
      })
      traps.push(trap)
      return trap
    },
    down,
    silence,
    async up() {
      if (traffic.silent) for (const open of links) open.cut()
      traffic.silent = false
      if (listener === undefined) await listen(port)
    },
    [Symbol.asyncDispose]: close,
  }

  function take(message: Buffer): Trap | undefined {
    const found = traps.find((trap) => trap.matches(message))
    found?.disarm()
    return found
  }

  function down(): void {
    listener?.close()
    listener = undefined
    for (const open of links) open.cut()
  }

  function silence(): void {
    traffic.silent = true
  }

  async function close(): Promise<void> {
    const closing = listener
    listener = undefined
    const closed = new Promise<void>((resolve) => (closing === undefined ? resolve() : closing.close(() => resolve())))
    for (const open of links) open.cut()
    await closed
  }

  async function listen(wanted: number): Promise<number> {
    const server = createServer({ allowHalfOpen: true }, (client) => {
      const back = dial({ host, port: backPort, allowHalfOpen: true })
      const opened = link(client, back, traffic, () => links.delete(opened))
      links.add(opened)
    })
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(wanted, '127.0.0.1', resolve)
    })
    listener = server
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('The system gave no port')
    return address.port
  }
}
