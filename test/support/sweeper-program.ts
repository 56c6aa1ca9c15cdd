// What `sweeper-process.ts` starts: one sweep with the given batch and rest.
import pg from 'pg'
import { fromPg } from '../../packages/oncekey/src/stores/database/pg.ts'
import { postgresAdmin } from '../../packages/oncekey/src/stores/postgres/admin.ts'

const [url, schema, batch, pauseMs] = process.argv.slice(2) as [string, string, string, string]
const pool = new pg.Pool({ connectionString: url, max: 2 })
pool.on('error', () => {})
const admin = postgresAdmin(fromPg(pool), { schema, retainMs: 86_400_000 })
await admin.sweep({ batch: Number(batch), pauseMs: Number(pauseMs) })
await pool.end()
