// Transaction mode through Prisma, held to the store contract.
import { PrismaPg } from '@prisma/adapter-pg'
import { fromPrisma } from 'oncekey/postgres'
import { contractOver } from '../../../test/support/contract-over-library.ts'
import { onPostgres } from '../../../test/support/grounds-apart.ts'
import { type Prisma, PrismaClient } from '../src/generated/client.ts'

contractOver('Prisma', onPostgres, async function open(connectionString) {
  const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString, max: 10 }) })
  return {
    database: fromPrisma(prisma, { connections: 10, commitMs: 1_000 }),
    run: (tx: Prisma.TransactionClient, sql) => tx.$executeRawUnsafe(sql),
    end: () => prisma.$disconnect(),
  }
})
