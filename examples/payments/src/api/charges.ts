// The operations themselves, for whichever framework: what happens inside the work, and what it answers.
import type { Grant } from 'oncekey'
import { chargeAtBank } from '../bank/client.ts'
import type { Charge } from '../books/books.ts'
import type { Shop } from '../shop.ts'
import type { Mischief } from './mischief.ts'
import type { Order } from './order.ts'
import { receiptOf } from './receipt.ts'

export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** JSON, or bytes as they are. */
  readonly body?: unknown
}
export interface Charges<G extends Grant> {
  create(account: string, order: Order, grant: G): Promise<Answer>
  describe(account: string, id: string, description: string, grant: G): Promise<Answer>
  capture(account: string, id: string, grant: G): Promise<Answer>
  receipt(account: string, id: string): Promise<Answer>
  get(account: string, id: string): Promise<Answer>
  list(account: string): Promise<Answer>
}

export function charges<G extends Grant, Tx>(shop: Shop<G, Tx>, bankUrl: string, mischief: Mischief): Charges<G> {
  const { books, store } = shop

  /** Article one: the charge is a row, and it commits with the answer. */
  async function inTransaction(account: string, order: Order, grant: G): Promise<Answer> {
    await mischief.beforeRow(order.card, `${account} ${grant.operation.key}`)
    if (order.card === 'tok_declined') return DECLINED
    return created(await books.add(await shop.tx(grant), { account, ...order, movement: null }))
  }

  /** Article two: the charge is a call to the bank, under a key that every attempt of this operation shares. */
  async function atTheBank(account: string, order: Order, grant: G): Promise<Answer> {
    const answer = await chargeAtBank(bankUrl, grant.childKey('charge'), order, grant.signal).catch(() => undefined)
    // Nobody knows if money moved. The bank deduplicates, so the next attempt asks again with the same key.
    if (!answer) return { status: 502, body: { error: 'bank_unreachable' } }
    if (answer.kind === 'declined') return DECLINED
    // Opened late, when nothing foreign is left to wait for.
    return created(await books.add(await shop.tx(grant), { account, ...order, movement: answer.movement.id }))
  }

  return {
    create: store.mode === 'transaction' ? inTransaction : atTheBank,
    async describe(account, id, description, grant) {
      const charge = await books.describe(await shop.tx(grant), account, id, description)
      return charge ? { status: 200, body: charge } : MISSING
    },
    async capture(account, id, grant) {
      return (await books.capture(await shop.tx(grant), account, id)) ? { status: 204 } : MISSING
    },
    async receipt(account, id) {
      const charge = await books.get(account, id)
      return charge ? { status: 200, headers: { 'content-type': 'image/bmp' }, body: receiptOf(charge) } : MISSING
    },
    async get(account, id) {
      const charge = await books.get(account, id)
      return charge ? { status: 200, body: charge } : MISSING
    },
    async list(account) {
      return { status: 200, body: await books.list(account) }
    },
  }
}

const DECLINED: Answer = { status: 402, body: { error: 'card_declined' } }
const MISSING: Answer = { status: 404, body: { error: 'no_such_charge' } }

function created({ id, amount, currency, status }: Charge): Answer {
  return { status: 201, headers: { location: `/charges/${id}` }, body: { id, amount, currency, status } }
}
