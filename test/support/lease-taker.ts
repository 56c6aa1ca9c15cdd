// A process of its own that takes expired leases when it is told to: one line in, one line out per round.
import { createInterface } from 'node:readline'
import pg from 'pg'
import { fromPg } from '../../packages/oncekey/src/stores/database/pg.ts'
import { leaseDriver } from '../../packages/oncekey/src/stores/postgres/lease.ts'
import { repeat, wanted } from './lease-claims.ts'

const [url, schema, callers] = process.argv.slice(2) as [string, string, string]
const pool = new pg.Pool({ connectionString: url, max: 10 })
pool.on('error', () => {})
const driver = leaseDriver(fromPg(pool), { schema, admin: {} as never })
await pool.query('select 1')
console.log('ready')

for await (const key of createInterface({ input: process.stdin })) {
  const owned = wanted({ key })
  const claims = await Promise.all(Array.from({ length: Number(callers) }, () => driver.claim(repeat(owned))))
  console.log(claims.filter(({ kind }) => kind === 'won').length)
}
await pool.end()
