// The first article's store, statement for statement: a connection for every call, BEGIN IMMEDIATE around the claim.
import { createHash } from 'node:crypto'
import Database from 'libsql'
import { REQUEST_BODY } from '../ours.ts'
import { CHARGES, INSERT } from './ground.ts'

const TTL = 24 * 3_600
const LOCK_TIMEOUT = 30

const TABLE = `create table if not exists idempotency_keys (
  account text not null, key text not null, request_hash text not null, status_code integer, body text,
  locked_at real not null, created_at real not null, primary key (account, key))`
const DELETE = 'delete from idempotency_keys where account = ? and key = ? and created_at < ?'
const CLAIM =
  'insert or ignore into idempotency_keys (account, key, request_hash, locked_at, created_at) values (?, ?, ?, ?, ?)'
const READ = 'select request_hash, status_code, body, locked_at from idempotency_keys where account = ? and key = ?'
const TAKE_OVER = 'update idempotency_keys set locked_at = ? where account = ? and key = ?'
const COMPLETE = 'update idempotency_keys set status_code = ?, body = ? where account = ? and key = ?'

interface Row {
  readonly request_hash: string
  readonly status_code: number | null
  readonly body: string
  readonly locked_at: number
}
export type ArticleClaim = 'new' | 'replay' | 'in_progress' | 'mismatch'

export interface ArticleStore {
  claim(key: string): ArticleClaim
  read(key: string): Row | undefined
  complete(key: string, body: string): void
  charge(account?: string): number
  /** Claim, work, complete. */
  operation(key: string, work: () => string): ArticleClaim
}

export function articleStore(path: string): ArticleStore {
  function connected<T>(use: (db: Database.Database) => T): T {
    const db = new Database(path, { timeout: 10_000 })
    try {
      return use(db)
    } finally {
      db.close()
    }
  }
  connected((db) => {
    db.exec('pragma journal_mode = wal')
    db.exec(`${TABLE}; ${CHARGES}`)
  })

  function claim(key: string): ArticleClaim {
    const now = Date.now() / 1_000
    const hash = createHash('sha256').update(REQUEST_BODY).digest('hex')
    return connected((db) => {
      db.exec('begin immediate')
      db.prepare(DELETE).run('acct', key, now - TTL)
      const isNew = db.prepare(CLAIM).run('acct', key, hash, now, now).changes === 1
      const claimed = isNew ? 'new' : found(db, key, { hash, now })
      db.exec('commit')
      return claimed
    })
  }
  function found(db: Database.Database, key: string, { hash, now }: { hash: string; now: number }): ArticleClaim {
    const row = db.prepare(READ).get('acct', key) as Row
    if (row.request_hash !== hash) return 'mismatch'
    if (row.status_code !== null) {
      JSON.parse(row.body)
      return 'replay'
    }
    if (now - row.locked_at <= LOCK_TIMEOUT) return 'in_progress'
    db.prepare(TAKE_OVER).run(now, 'acct', key)
    return 'new'
  }
  function complete(key: string, body: string): void {
    connected((db) => db.prepare(COMPLETE).run(201, body, 'acct', key))
  }
  return {
    claim,
    complete,
    read: (key) => connected((db) => db.prepare(READ).get('acct', key) as Row | undefined),
    charge: (account = 'acct') =>
      connected((db) => Number(db.prepare(INSERT).run(account, 2500, 'usd', Date.now() / 1_000).lastInsertRowid)),
    operation(key, work) {
      const claimed = claim(key)
      if (claimed === 'new') complete(key, work())
      return claimed
    },
  }
}
