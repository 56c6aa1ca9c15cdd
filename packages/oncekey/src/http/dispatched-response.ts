/** One response object, two views: what the work sets and reads is the draft's, what outer layers set and read is the wire's. */
import type { ServerResponse } from 'node:http'
import type { Draft } from './draft-response.ts'

const HEADER_METHODS = [
  'setHeader',
  'appendHeader',
  'setHeaders',
  'getHeader',
  'getHeaders',
  'getHeaderNames',
  'getRawHeaderNames',
  'hasHeader',
  'removeHeader',
] as const

export function dispatchHeaderMethods(res: ServerResponse, head: ServerResponse, toDraft: () => boolean): void {
  for (const name of HEADER_METHODS) {
    const wire = Reflect.get(res, name) as ((...args: unknown[]) => unknown) | undefined
    // `setHeaders` came with Node 18.15; nothing to dispatch where it is not.
    if (!wire) continue
    function dispatched(...args: unknown[]): unknown {
      if (!toDraft()) return wire?.apply(res, args)
      const result = Reflect.apply(Reflect.get(head, name) as () => unknown, head, args)
      return result === head ? res : result
    }
    Object.defineProperty(res, name, { value: dispatched, configurable: true, writable: true })
  }
}

interface Fields {
  readonly toDraft: () => boolean
  readonly isOver: () => boolean
  readonly socket: unknown
}

/** What a response says about itself: to the work, as if its writes had gone out and the connection were alive. */
export function dispatchFields(res: ServerResponse, draft: Draft, { toDraft, isOver, socket }: Fields) {
  const { head } = draft
  const fields: Record<string, { get: () => unknown; set?: (value: never) => void }> = {
    statusCode: {
      get: () => head.statusCode,
      set: (value) => {
        head.statusCode = value
      },
    },
    statusMessage: {
      get: () => head.statusMessage,
      set: (value) => {
        head.statusMessage = value
      },
    },
    headersSent: { get: () => draft.fixed },
    // Layers such as `compression` look at the head itself.
    _header: { get: () => (draft.fixed ? 'held' : null) },
    finished: { get: isOver },
    writableEnded: { get: isOver },
    writableFinished: { get: () => false },
    writableNeedDrain: { get: () => false },
    writableLength: { get: () => draft.size },
    destroyed: { get: () => false },
    closed: { get: () => false },
    errored: { get: () => null },
    ...(socket ? { socket: { get: () => socket } } : {}),
  }
  const wires = new Map<string, () => unknown>()
  for (const [name, view] of Object.entries(fields)) wires.set(name, dispatchField(res, { name, view, toDraft }))
  return { wire: (name: string): unknown => wires.get(name)?.() }
}

interface Field {
  readonly name: string
  readonly view: { readonly get: () => unknown; readonly set?: (value: never) => void }
  readonly toDraft: () => boolean
}

function dispatchField(res: ServerResponse, { name, view, toDraft }: Field): () => unknown {
  // A field of the object itself has its value kept here; a getter of its class is asked.
  let own = Object.hasOwn(res, name)
  let value: unknown = own ? Reflect.get(res, name) : undefined
  const proto = Object.getPrototypeOf(res) as object
  const wire = (): unknown => (own ? value : Reflect.get(proto, name, res))
  Object.defineProperty(res, name, {
    configurable: true,
    enumerable: false,
    get: () => (toDraft() ? view.get() : wire()),
    set(given: unknown) {
      if (toDraft()) {
        view.set?.(given as never)
        return
      }
      own = true
      value = given
    },
  })
  return wire
}
