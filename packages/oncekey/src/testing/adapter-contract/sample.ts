/** The application that every adapter is tested with: routes as data, so that each framework says the same things in its own way. */
import type { Grant, Store } from '../../core/store.ts'
import type { IdempotencyOptions } from '../../http/options.ts'

/** One run of a route's handler. */
export interface Call {
  /** Which run of this route it is, from 1. */
  readonly number: number
  readonly text: string
  /** Waits until the rule lets it go on. */
  gate(name: string): Promise<void>
}

export interface Reply {
  readonly status: number
  readonly headers?: readonly (readonly [name: string, value: string])[]
  /** `null`: without a body. */
  readonly body?: string | Uint8Array<ArrayBuffer> | null
  /** Sent one by one instead of `body`, each after a pause. */
  readonly chunks?: readonly { readonly text: string; readonly afterMs: number }[]
  /** The stream breaks instead of ending. */
  readonly breaks?: boolean
  /** Throws the framework's own error of this status (500: a plain error). */
  readonly throws?: boolean
}

export interface Sample {
  readonly path: string
  /** What the route says beside store and scope; `header` reads one of the request's. */
  readonly options?: (header: (context: never, name: string) => string | undefined) => SampleOptions
  reply(call: Call): Reply | Promise<Reply>
}
export type SampleOptions = Partial<Omit<IdempotencyOptions<never, Grant>, 'store' | 'scope'>>

export interface SampleApp {
  readonly store: Store
  readonly samples: readonly Sample[]
  /**
   * Who sends `Authorization`: a user, a user whose rights were revoked (answer 403 before the protection), or nobody.
   * The server mounts this before the protection, as its documentation says.
   */
  authenticate(authorization: string | undefined): { readonly user?: string; readonly revoked?: boolean }
  /** A new value of `X-Request-Id`, to be set on every answer by a layer outside of the protection. */
  requestId(): string
  /** Enters a route's handler; the server calls it with the body as the handler sees it. */
  run(sample: Sample, text: string): Promise<Reply>
}

export interface AdapterServer {
  readonly port: number
  close(): Promise<void>
}
/** Starts the sample application behind the adapter, on a free port of 127.0.0.1. */
export type Serve = (app: SampleApp) => Promise<AdapterServer>

export interface Ledger {
  readonly app: SampleApp
  runs(path: string): number
  /** Lets calls that wait, or will wait, at this gate go on. */
  open(gate: string): void
  /** Resolves when a call has come to this gate. */
  reached(gate: string): Promise<void>
}

export function sampleApp(store: Store, samples: readonly Sample[]): Ledger {
  const runs = new Map<string, number>()
  const gates = new Map<string, Gate>()
  let requests = 0
  function gateOf(name: string): Gate {
    const gate = gates.get(name) ?? { passed: signal(), reached: signal() }
    gates.set(name, gate)
    return gate
  }
  const app: SampleApp = {
    store,
    samples,
    authenticate(authorization) {
      const user = /^Bearer (\S+)$/.exec(authorization ?? '')?.[1]
      if (user === undefined) return {}
      return user.endsWith('-revoked') ? { user: user.replace('-revoked', ''), revoked: true } : { user }
    },
    requestId: () => `request-${++requests}`,
    async run(sample, text) {
      const number = (runs.get(sample.path) ?? 0) + 1
      runs.set(sample.path, number)
      return sample.reply({
        number,
        text,
        async gate(name) {
          const gate = gateOf(name)
          gate.reached.tell()
          await gate.passed.told
        },
      })
    },
  }
  return {
    app,
    runs: (path) => runs.get(path) ?? 0,
    open: (name) => gateOf(name).passed.tell(),
    reached: (name) => gateOf(name).reached.told,
  }
}

interface Signal {
  readonly told: Promise<void>
  tell(): void
}
interface Gate {
  readonly passed: Signal
  readonly reached: Signal
}

function signal(): Signal {
  let tell!: () => void
  const told = new Promise<void>((resolve) => {
    tell = resolve
  })
  return { told, tell }
}
