/** Holds a Node response back: not a byte leaves before the attempt has ended in the store, whichever way the handler answers. */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { OncekeyError } from '../core/errors.ts'
import { dispatchFields, dispatchHeaderMethods } from './dispatched-response.ts'
import { type Draft, draftOf } from './draft-response.ts'
import type { Inside } from './inside.ts'
import type { HeaderLine } from './kept-headers.ts'
import { addExtra } from './node-answer.ts'
import type { Produced } from './produced.ts'
import { quietSocket } from './quiet-socket.ts'

export interface HoldOptions {
  readonly inside: Inside
  /** Bytes of body that are held back at most. */
  readonly limit: number
  /** Over the limit before `end`: `fail` (roll back, answer 500), or `spend` (the rest goes out as it comes). */
  readonly overLimit: 'fail' | 'spend'
  /** The route said so: the head ends the work, and the body goes out as it comes. */
  readonly spendAtHead: boolean
  readonly name: string
}

export interface HeldResponse {
  /** What the work answered. Rejects where it destroyed the response, or outgrew the limit in transaction mode. */
  readonly ended: Promise<Produced>
  /** The attempt has ended well: the answer leaves. */
  send(extra: readonly HeaderLine[]): void
  /** Somebody else answers; whatever the work still writes is dropped. */
  drop(): void
}

/**
 * `held`: the work writes on a draft. `open`: everything goes to the wire. `dropped`: the work's writes go nowhere.
 * Calls from outside the work's async context belong to outer layers where they answer 5xx (a timeout page), and to
 * the work otherwise: code that loses its context may end the work, but must not get an early 201 onto the wire.
 */
type Phase = 'held' | 'open' | 'dropped'

export function holdResponse(res: ServerResponse, options: HoldOptions): HeldResponse {
  const { inside, limit, spendAtHead } = options
  const draft = draftOf(res)
  const wire = wireOf(res)
  const wireEmit = res.emit
  const socket = res.socket && quietSocket<Socket>(res.socket, destroyed)
  let phase: Phase = 'held'
  let over = false
  let closed = false
  let afterEnd: unknown
  let broken: { readonly error: Error | undefined } | undefined
  const { promise, resolve, reject } = settling<Produced>()
  // Nobody listens any more where the store gave up on the work.
  promise.catch(() => {})

  function toDraft(): boolean {
    if (phase === 'open') return false
    return inside.here() || (phase === 'dropped' && fields.wire('finished') === true)
  }
  /** A lost context, or an outer layer? Only a 5xx is believed to be an outer layer's. */
  function isOuter(status: unknown = res.statusCode): boolean {
    if (phase === 'dropped') return true
    if (Number(status) >= 500 || fields.wire('_header')) return true
    draft.adopt()
    return false
  }
  function toWire(status?: unknown): boolean {
    return phase === 'open' || (!toDraft() && isOuter(status))
  }
  function fixHead(): void {
    // Through `writeHead` as it stands: layers behind us listen for the head there, as Node itself does it.
    if (!draft.fixed) res.writeHead(draft.head.statusCode)
  }
  function end(): void {
    over = true
    const answer = draft.answer()
    const tooLarge = draft.size > limit
    resolve(tooLarge ? { answer: { ...answer, body: null }, unkept: 'too-large' } : { answer })
  }
  function spend(unkept: 'stream' | 'too-large'): void {
    resolve({ answer: { ...draft.answer(), body: null }, unkept })
  }
  function destroyed(error?: Error): void {
    if (over) return
    broken = { error }
    reject(error ?? new Error('the handler destroyed its response'))
  }
  function grown(): void {
    if (draft.size <= limit || over) return
    if (options.overLimit === 'spend' || spendAtHead) spend('too-large')
    else reject(outgrown(options))
  }

  const methods = {
    writeHead(...args: unknown[]): ServerResponse {
      if (toWire(args[0])) return wire.writeHead(...args) as ServerResponse
      draft.fix(args)
      if (spendAtHead) spend('stream')
      return res
    },
    write(...args: unknown[]): boolean {
      if (toWire()) return wire.write(...args) as boolean
      const [chunk, encoding] = args
      const callback = args.find((one) => typeof one === 'function') as ((error?: Error) => void) | undefined
      if (phase === 'dropped' || over) {
        if (callback) process.nextTick(callback)
        return true
      }
      fixHead()
      draft.push(chunk, encoding)
      grown()
      if (callback) process.nextTick(callback)
      return draft.size < limit
    },
    end(...args: unknown[]): ServerResponse {
      if (toWire()) return wire.end(...args) as ServerResponse
      const [chunk, encoding] = args
      const callback = args.find((one) => typeof one === 'function')
      if (over || phase === 'dropped') return res
      if (spendAtHead && !draft.fixed) draft.fix([draft.head.statusCode])
      else fixHead()
      if (typeof chunk !== 'function') draft.push(chunk, encoding)
      afterEnd = callback
      end()
      return res
    },
    flushHeaders(): void {
      if (toWire()) flush.call(res)
      else if (phase === 'held') fixHead()
    },
    addTrailers(trailers: unknown): void {
      if (toWire()) wire.addTrailers(trailers)
      else draft.trailers = trailers
    },
    destroy(error?: Error): ServerResponse {
      if (!toDraft() || phase === 'dropped' || over) return destroy.call(res, error)
      destroyed(error)
      return res
    },
    emit(event: string, ...args: unknown[]): boolean {
      if (event !== 'close' || phase !== 'held') return wireEmit.call(res, event, ...args)
      closed = true
      return false
    },
    // 1xx would be bytes on the wire before COMMIT, and the body has been read: nobody waits for them.
    writeContinue: interim(res.writeContinue),
    writeProcessing: interim(res.writeProcessing),
    writeEarlyHints: interim(res.writeEarlyHints),
  }
  const { flushHeaders: flush, destroy } = res
  function interim(original: (...args: never[]) => unknown) {
    return (...args: unknown[]) => {
      if (!toDraft()) original.apply(res, args as never)
    }
  }

  const fields = dispatchFields(res, draft, { toDraft, isOver: () => over, socket: socket?.socket })
  dispatchHeaderMethods(res, draft.head, toDraft)
  if (socket) quietRequest(res, { socket: socket.socket, isQuiet: () => phase === 'held' && inside.here() })
  for (const [name, method] of Object.entries(methods))
    Object.defineProperty(res, name, { value: method, configurable: true, writable: true })

  function opened(next: Phase): void {
    phase = next
    socket?.speak()
    if (closed) process.nextTick(() => wireEmit.call(res, 'close'))
  }
  return {
    ended: promise,
    send(extra) {
      opened('open')
      if (!fields.wire('_header') && !fields.wire('destroyed')) sendDraft(res, { draft, wire, over, afterEnd, extra })
      // Its head had ended the work; what was to follow never comes, and nobody is to wait for it.
      if (broken) destroy.call(res, broken.error)
    },
    drop() {
      opened('dropped')
    },
  }
}

/** The work reaches the connection through its request, too. */
function quietRequest(
  { req }: ServerResponse,
  { socket, isQuiet }: { readonly socket: Socket; readonly isQuiet: () => boolean },
): void {
  let real = req.socket
  Object.defineProperty(req, 'socket', {
    configurable: true,
    get: () => (isQuiet() ? socket : real),
    set(given: Socket) {
      real = given
    },
  })
}

const SENDS = ['writeHead', 'write', 'end', 'addTrailers'] as const
type Wire = Readonly<Record<(typeof SENDS)[number], (...args: unknown[]) => unknown>>

/** The methods as they stood when the response came to us: with the patches of outer layers, which are to see the answer. */
function wireOf(res: ServerResponse): Wire {
  const bound = SENDS.map((name) => {
    const method = res[name] as () => unknown
    return [name, (...args: unknown[]) => Reflect.apply(method, res, args)]
  })
  return Object.fromEntries(bound) as Wire
}

interface Sending {
  readonly draft: Draft
  readonly wire: Wire
  readonly over: boolean
  readonly afterEnd: unknown
  readonly extra: readonly HeaderLine[]
}

function sendDraft(res: ServerResponse, { draft, wire, over, afterEnd, extra }: Sending): void {
  draft.copyHead()
  addExtra(res, extra)
  const bytes = draft.takeBytes()
  if (typeof afterEnd === 'function') res.once('finish', afterEnd as () => void)
  if (over && !draft.trailers) {
    if (bytes.length === 0) wire.end()
    else wire.end(bytes)
    return
  }
  // Trailers need chunks, and so does a body that goes on.
  wire.writeHead(res.statusCode)
  if (bytes.length > 0) wire.write(bytes)
  else res.flushHeaders()
  if (over) {
    wire.addTrailers(draft.trailers)
    wire.end()
  } else process.nextTick(() => res.emit('drain'))
}

function outgrown({ name, limit }: HoldOptions): OncekeyError {
  return new OncekeyError('ANSWER_TOO_LARGE', {
    what: `The answer outgrew ${limit} bytes before it ended.`,
    where: name,
    why: 'It is held back until the transaction has committed, so everything was rolled back; nothing happened.',
    fix: "Declare the route's answer with `streams: 'spend'`, answer less, or raise `maxBytes`.",
    details: { limit },
  })
}

function settling<T>(): {
  readonly promise: Promise<T>
  readonly resolve: (value: T) => void
  readonly reject: (error: unknown) => void
} {
  let resolve!: (value: T) => void
  let reject!: (error: unknown) => void
  const promise = new Promise<T>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}
