// The first article's store, statement for statement: a connection for every call, BEGIN IMMEDIATE around the claim.
import { createHash } from 'node:crypto'
import Database from 'libsql'

const TTL = 24 * 3_600
const LOCK_TIMEOUT = 30

export const ARTICLE_TABLE = `create table if not exists idempotency_keys (
  account text not null, key text not null, request_hash text not null, status_code integer, body text,
  locked_at real not null, created_at real not null, primary key (account, key))`

/** `new`, `replay`, `in_progress` or `mismatch`. */
export function articleClaim(path: string, key: string, body: string): string {
  const now = Date.now() / 1_000
  const hash = createHash('sha256').update(body).digest('hex')
  const db = connect(path)
  try {
    db.exec('begin immediate')
    db.prepare('delete from idempotency_keys where account = ? and key = ? and created_at < ?').run(
      'acct',
      key,
      now - TTL,
    )
    const insert =
      'insert or ignore into idempotency_keys (account, key, request_hash, locked_at, created_at) values (?, ?, ?, ?, ?)'
    let kind = 'new'
    if (db.prepare(insert).run('acct', key, hash, now, now).changes === 0) {
      const select =
        'select request_hash, status_code, body, locked_at from idempotency_keys where account = ? and key = ?'
      const row = db.prepare(select).get('acct', key) as {
        request_hash: string
        status_code: number | null
        body: string
        locked_at: number
      }
      if (row.request_hash !== hash) kind = 'mismatch'
      else if (row.status_code !== null) kind = JSON.parse(row.body) && 'replay'
      else if (now - row.locked_at > LOCK_TIMEOUT)
        db.prepare('update idempotency_keys set locked_at = ? where account = ? and key = ?').run(now, 'acct', key)
      else kind = 'in_progress'
    }
    db.exec('commit')
    return kind
  } finally {
    db.close()
  }
}

export function articleComplete(path: string, key: string, body: string): void {
  const db = connect(path)
  try {
    db.prepare('update idempotency_keys set status_code = ?, body = ? where account = ? and key = ?').run(
      201,
      body,
      'acct',
      key,
    )
  } finally {
    db.close()
  }
}

function connect(path: string): Database.Database {
  return new Database(path, { timeout: 10_000 })
}
