// The business table: what each account was charged. Writes take the transaction that the key's answer commits with.
export interface NewCharge {
  readonly account: string
  readonly amount: number
  readonly currency: string
  readonly card: string
  readonly description: string | null
  /** JSON text. */
  readonly metadata: string | null
  /** The bank's own name for it, where a bank was asked. */
  readonly movement: string | null
}
export interface Charge {
  readonly id: string
  readonly amount: number
  readonly currency: string
  readonly status: 'succeeded' | 'captured'
  readonly description: string | null
  readonly metadata: unknown
}

/** `Tx` is what the store grants: the database library's own transaction. */
export interface Books<Tx> extends AsyncDisposable {
  add(tx: Tx, charge: NewCharge): Promise<Charge>
  describe(tx: Tx, account: string, id: string, description: string): Promise<Charge | undefined>
  capture(tx: Tx, account: string, id: string): Promise<Charge | undefined>
  /** Outside any transaction. */
  get(account: string, id: string): Promise<Charge | undefined>
  list(account: string): Promise<readonly Charge[]>
}

/** `ch_12` is row 12; anything else is nobody's. */
export function rowOf(id: string): number | undefined {
  const row = /^ch_([1-9]\d{0,14})$/.exec(id)
  return row ? Number(row[1]) : undefined
}

export interface ChargeRow {
  readonly id: number | string | bigint
  readonly amount: number
  readonly currency: string
  readonly captured: boolean | number
  readonly description: string | null
  readonly metadata: string | null
}

export function chargeFrom(row: ChargeRow): Charge {
  const { amount, currency, description } = row
  const metadata: unknown = row.metadata === null ? null : JSON.parse(row.metadata)
  return {
    id: `ch_${row.id}`,
    amount,
    currency,
    status: row.captured ? 'captured' : 'succeeded',
    description,
    metadata,
  }
}
