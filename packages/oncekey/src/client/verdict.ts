/** Which answers are definite, and how long the server wants us to wait after one that is not. */

const TRANSIENT = new Set([408, 425, 429, 502, 503, 504])

/** A 409 is "please wait" only where its problem says so; every other one is a business conflict, and final. */
export async function shouldRetry(response: Response): Promise<boolean> {
  if (TRANSIENT.has(response.status)) return true
  if (response.status === 409) return (await problemCode(response)) === 'in-progress'
  if (response.status === 500) return (await problemCode(response)) === 'outcome-unknown'
  return false
}

async function problemCode(response: Response): Promise<string | undefined> {
  if (!/^application\/(problem\+)?json/i.test(response.headers.get('content-type') ?? '')) return undefined
  const problem: unknown = await response
    .clone()
    .json()
    .catch(() => undefined)
  const { code, type } = (typeof problem === 'object' && problem !== null ? problem : {}) as {
    code?: unknown
    type?: unknown
  }
  if (typeof code === 'string') return code
  return typeof type === 'string' ? type.split(/[/#:]/).at(-1) : undefined
}

/** RFC 9110 §10.2.3: whole seconds or a date. Anything else counts as nothing. */
export function retryAfterMs(response: Response, now = Date.now()): number {
  const value = response.headers.get('retry-after')?.trim() ?? ''
  if (/^\d+$/.test(value)) return Number(value) * 1_000
  const date = value === '' ? Number.NaN : Date.parse(value)
  return Number.isNaN(date) ? 0 : Math.max(0, date - now)
}
