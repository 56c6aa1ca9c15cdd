/** The socket as the work sees it while its answer is held: a client that hangs up must not stop what is writing the answer. */
import type { EventEmitter } from 'node:events'

const ENDS = new Set<unknown>(['close', 'end', 'error'])
const SUBSCRIBES = new Set<unknown>(['on', 'once', 'addListener', 'prependListener', 'prependOnceListener'])
const UNSUBSCRIBES = new Set<unknown>(['off', 'removeListener'])
type Listener = (...args: unknown[]) => void

export interface QuietSocket<S> {
  readonly socket: S
  /** Whoever waits for the end of the connection is told from now on, also of an end that has been. */
  speak(): void
}

/**
 * Stands in for a socket: it looks alive, and listeners for its end are kept back. Everything else goes through, so
 * that `setTimeout`, `setNoDelay` and addresses work as ever. Destroying it (what Express does when a handler fails after
 * its first write) is the work's end, not the connection's.
 */
export function quietSocket<S extends EventEmitter & { readonly destroyed: boolean }>(
  real: S,
  onDestroy: (error?: Error) => void,
): QuietSocket<S> {
  const waiting: { readonly method: 'on' | 'once'; readonly event: string; readonly listener: Listener }[] = []
  let quiet = true

  function subscribe(method: string, event: string, listener: Listener): S {
    if (quiet && ENDS.has(event)) waiting.push({ method: method.includes('nce') ? 'once' : 'on', event, listener })
    else real[method as 'on'](event, listener)
    return socket
  }
  function unsubscribe(event: string, listener: Listener): S {
    const at = waiting.findIndex((one) => one.event === event && one.listener === listener)
    if (at >= 0) waiting.splice(at, 1)
    else real.off(event, listener)
    return socket
  }
  const socket: S = new Proxy(real, {
    get(target, name) {
      if (SUBSCRIBES.has(name)) return (event: string, listener: Listener) => subscribe(String(name), event, listener)
      if (UNSUBSCRIBES.has(name)) return unsubscribe
      if (quiet && (name === 'destroy' || name === 'destroySoon')) return onDestroy
      if (quiet && name === 'destroyed') return false
      if (quiet && (name === 'writable' || name === 'readable')) return true
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
    set: (target, name, value) => Reflect.set(target, name, value, target),
  })
  return {
    socket,
    speak() {
      quiet = false
      for (const { method, event, listener } of waiting.splice(0)) {
        if (event === 'close' && real.destroyed) process.nextTick(listener, false)
        else real[method](event, listener)
      }
    },
  }
}
