// How the API asks the bank: once per attempt, always with the key of the operation's own step.
import type { Movement } from './bank.ts'

export type BankAnswer = { readonly kind: 'moved'; readonly movement: Movement } | { readonly kind: 'declined' }

export interface ChargeOrder {
  readonly amount: number
  readonly currency: string
  readonly card: string
}

/** Throws where the bank did not answer or had a bad day: the caller cannot tell whether money moved. */
export async function chargeAtBank(
  bankUrl: string,
  key: string,
  order: ChargeOrder,
  signal: AbortSignal,
): Promise<BankAnswer> {
  const response = await fetch(`${bankUrl}/bank/charges`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify(order),
    signal,
  })
  if (response.status === 402) return { kind: 'declined' }
  if (response.status !== 201) throw new Error(`the bank answered ${response.status}`)
  return { kind: 'moved', movement: (await response.json()) as Movement }
}
