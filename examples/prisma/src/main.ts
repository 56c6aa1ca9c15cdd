/** Opens one account twice under one key: `DATABASE_URL=postgres://… npm start`. */
import { randomUUID } from 'node:crypto'
import { PrismaPg } from '@prisma/adapter-pg'
import { PrismaClient } from './generated/client.ts'
import { accounts } from './open-account.ts'

const connectionString = process.env.DATABASE_URL
if (connectionString === undefined) throw new Error('DATABASE_URL is not set')
const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString, max: 10 }) })
await prisma.$executeRaw`create table if not exists account (id serial primary key, owner text unique)`
const { store, openAccount } = accounts(prisma)
await store.admin.migrate()
const operation = { scope: 'shop', key: randomUUID(), fingerprints: ['open'] as const }
const owner = `ada-${operation.key}`
console.log(await openAccount(operation, owner))
console.log(await openAccount(operation, owner))
console.log(await prisma.account.count({ where: { owner } }), 'account')
await store[Symbol.asyncDispose]()
await prisma.$disconnect()
