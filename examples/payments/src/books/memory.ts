// The books in an array, for `STORE=memory:`: gone with the process, like the keys beside them.
import { type Books, type Charge, type NewCharge, rowOf } from './books.ts'

export function memoryBooks(): Books<undefined> {
  const rows: { readonly account: string; charge: Charge }[] = []

  function change(account: string, id: string, to: (charge: Charge) => Charge): Charge | undefined {
    const row = rows[(rowOf(id) ?? 0) - 1]
    if (row?.account !== account) return undefined
    row.charge = to(row.charge)
    return row.charge
  }

  return {
    async add(_, { account, amount, currency, description, metadata }: NewCharge) {
      const id = `ch_${rows.length + 1}`
      const charge: Charge = {
        id,
        amount,
        currency,
        status: 'succeeded',
        description,
        metadata: metadata && JSON.parse(metadata),
      }
      rows.push({ account, charge })
      return charge
    },
    async describe(_, account, id, description) {
      return change(account, id, (charge) => ({ ...charge, description }))
    },
    async capture(_, account, id) {
      return change(account, id, (charge) => ({ ...charge, status: 'captured' }))
    },
    async get(account, id) {
      return change(account, id, (charge) => charge)
    },
    async list(account) {
      return rows.filter((row) => row.account === account).map((row) => row.charge)
    },
    async [Symbol.asyncDispose]() {},
  }
}
