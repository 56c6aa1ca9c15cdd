// Never called: the transaction in the work's hands is that of the user's own client, and the type check runs these.
import { once } from 'oncekey'
import { fromPrisma, postgres } from 'oncekey/postgres'
import type { Prisma, PrismaClient } from '../src/generated/client.ts'

const operation = { scope: 'shop', key: 'k', fingerprints: ['open'] as const }

export function ofTheClient(prisma: PrismaClient) {
  return once(postgres(fromPrisma(prisma)), operation, async ({ tx }) => {
    const client: Prisma.TransactionClient = tx
    const { owner }: { owner: string } = await client.account.create({ data: { owner: 'ada' } })
    // @ts-expect-error there is no such model
    await tx.nothing.create()
    return owner
  })
}

export function ofAnExtendedClient(prisma: PrismaClient) {
  const extended = prisma.$extends({ model: { account: { greet: async () => 'hello' } } })
  return once(postgres(fromPrisma(extended)), operation, ({ tx }): Promise<string> => tx.account.greet())
}
