/** Opens one account twice under one key: `DATABASE_URL=postgres://… npm start`. */
import { randomUUID } from 'node:crypto'
import { DataSource } from 'typeorm'
import { account } from './account.ts'
import { accounts } from './open-account.ts'

const url = process.env.DATABASE_URL
if (url === undefined) throw new Error('DATABASE_URL is not set')
const dataSource = await new DataSource({ type: 'postgres', url, entities: [account], synchronize: true }).initialize()
const { store, openAccount } = accounts(dataSource)
await store.admin.migrate()
const operation = { scope: 'shop', key: randomUUID(), fingerprints: ['open'] as const }
const owner = `ada-${operation.key}`
console.log(await openAccount(operation, owner))
console.log(await openAccount(operation, owner))
console.log(await dataSource.getRepository(account).countBy({ owner }), 'account')
await store[Symbol.asyncDispose]()
await dataSource.destroy()
