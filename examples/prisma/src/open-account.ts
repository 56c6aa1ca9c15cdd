/** An account is opened once for each key, by Prisma. */
import { type Operation, once } from 'oncekey'
import { fromPrisma, postgres } from 'oncekey/postgres'
import type { PrismaClient } from './generated/client.ts'

export function accounts(prisma: PrismaClient) {
  // #region prisma
  // The size of the adapter's pool, which Prisma does not show.
  const store = postgres(fromPrisma(prisma, { connections: 10 }))

  function openAccount(operation: Operation, owner: string) {
    return once(store, operation, async ({ tx }) => {
      const { id } = await tx.account.create({ data: { owner } })
      return { id }
    })
  }
  // #endregion
  return { store, openAccount }
}
