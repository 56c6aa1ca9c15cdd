/** Runs what stands behind the middleware, and finds out what it answered, whatever an outer layer answers meanwhile. */
import type { Context, Next } from 'hono'
import { inside } from './inside.ts'

export interface Behind {
  readonly response: Response
  /** It threw, and the app's error handler made the response of it. */
  readonly threw?: { readonly error: unknown }
}

/**
 * A timeout around us finalises the context while the work goes on, and Hono then drops what the work returns. So the
 * work sees marks of its own: `finalized` and `error` are kept apart for calls from inside and from outside.
 */
export async function runBehind(c: Context, next: Next): Promise<Behind> {
  const { run, here } = inside()
  const mine: Marks = { finalized: false, error: undefined }
  const theirs: Marks = { finalized: c.finalized, error: c.error }
  for (const name of ['finalized', 'error'] as const)
    Object.defineProperty(c, name, {
      configurable: true,
      enumerable: true,
      get: () => (here() ? mine : theirs)[name],
      set(value: never) {
        const marks = here() ? mine : theirs
        marks[name] = value
      },
    })
  let response: Response
  try {
    await run(next)
    response = c.res
  } finally {
    const final = theirs.finalized || mine.finalized
    for (const [name, value] of [['finalized', final] as const, ['error', theirs.error ?? mine.error] as const])
      Object.defineProperty(c, name, { configurable: true, enumerable: true, writable: true, value })
  }
  return mine.error === undefined ? { response } : { response, threw: { error: mine.error } }
}

/** Runs one handler. An HTTPException of a 4xx is an answer, and the one that it carries; every other throw is a throw. */
export async function runHandler(c: Context, handler: () => Response | Promise<Response>): Promise<Behind> {
  try {
    return { response: (await handler()) ?? c.res }
  } catch (error) {
    const { status, getResponse } = Object(error) as { status?: unknown; getResponse?: unknown }
    if (typeof getResponse !== 'function' || typeof status !== 'number' || status >= 500) throw error
    const { body, headers } = Reflect.apply(getResponse, error, []) as Response
    return { response: c.newResponse(body, { status, headers: [...headers] } as never), threw: { error } }
  }
}

interface Marks {
  finalized: boolean
  error: Error | undefined
}
