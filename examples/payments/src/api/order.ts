// What a request must look like before it may use its key: a refusal here leaves no record, and the corrected request may use the same key.
export interface Order {
  readonly amount: number
  readonly currency: string
  readonly card: string
  readonly description: string | null
  /** JSON text. */
  readonly metadata: string | null
}
export type Judged<T> = { readonly ok: T } | { readonly faults: readonly string[] }

const MOST = 99_999_999

export function orderFrom(body: unknown): Judged<Order> {
  if (!isObject(body)) return { faults: ['the body must be a JSON object'] }
  const { amount, currency = 'usd', card, description = null, metadata = null } = body
  const faults: string[] = []
  if (!Number.isInteger(amount) || (amount as number) < 1 || (amount as number) > MOST)
    faults.push(`amount must be a whole number of minor units from 1 to ${MOST}`)
  if (typeof currency !== 'string' || !/^[a-z]{3}$/.test(currency)) faults.push('currency must be three small letters')
  if (typeof card !== 'string' || !/^tok_\w{1,40}$/.test(card)) faults.push('card must be a token such as tok_visa')
  if (description !== null && typeof description !== 'string') faults.push('description must be a text')
  if (metadata !== null && !isObject(metadata)) faults.push('metadata must be a JSON object')
  if (faults.length > 0) return { faults }
  const written = metadata === null ? null : JSON.stringify(metadata)
  return { ok: { amount, currency, card, description, metadata: written } as Order }
}

export function descriptionFrom(body: unknown): Judged<string> {
  if (isObject(body) && typeof body.description === 'string' && body.description.length <= 1_000)
    return { ok: body.description }
  return { faults: ['description must be a text of at most 1000 characters'] }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const ACCOUNTS: Readonly<Record<string, string>> = { sk_demo_a: 'acct_a', sk_demo_b: 'acct_b' }

/** The account behind a secret key; nothing where there is none. */
export function accountOf(authorization: string | undefined): string | undefined {
  const secret = /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1]
  return secret !== undefined && Object.hasOwn(ACCOUNTS, secret) ? ACCOUNTS[secret] : undefined
}
