// The second article's protocol, statement for statement: claim and commit, work and complete in a transaction, read on a conflict.
import { createHash } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'

export const ARTICLE_SCHEMA = `
  create table article_keys (
    client_id text not null, idem_key text not null, fingerprint text not null,
    status text not null default 'in_progress' check (status in ('in_progress', 'completed')),
    response_code int, response_body jsonb,
    locked_at timestamptz not null default now(), created_at timestamptz not null default now(),
    primary key (client_id, idem_key));
  create index on article_keys (created_at)`

// A timestamptz read as a Date loses its microseconds, so the lease travels as text.
const CLAIM = {
  name: 'article-claim',
  text: `insert into article_keys (client_id, idem_key, fingerprint) values ($1, $2, $3)
    on conflict (client_id, idem_key) do update set locked_at = now()
      where article_keys.status = 'in_progress' and article_keys.fingerprint = excluded.fingerprint
        and article_keys.locked_at < now() - interval '30 seconds'
    returning locked_at::text`,
}
const READ = {
  name: 'article-read',
  text: 'select fingerprint, status, response_code, response_body from article_keys where client_id = $1 and idem_key = $2',
}
const COMPLETE = {
  name: 'article-complete',
  text: `update article_keys set status = 'completed', response_code = $4, response_body = $5::text::jsonb
    where client_id = $1 and idem_key = $2 and locked_at = $3::text::timestamptz`,
}

export async function claimOnly(db: Pool | PoolClient, key: string, body: string): Promise<string | undefined> {
  const { rows } = await db.query({ ...CLAIM, values: ['client', key, print(body)] })
  return (rows[0] as { locked_at: string } | undefined)?.locked_at
}

/** `new`, `replay` or `in_progress`. */
export async function articleOnce(
  pool: Pool,
  key: string,
  body: string,
  work: (client: PoolClient) => Promise<string>,
): Promise<string> {
  const client = await pool.connect()
  try {
    const token = await claimOnly(client, key, body)
    if (token === undefined) {
      const { rows } = await client.query({ ...READ, values: ['client', key] })
      return (rows[0] as { status: string }).status === 'completed' ? 'replay' : 'in_progress'
    }
    await client.query('begin')
    const answer = await work(client)
    const { rowCount } = await client.query({ ...COMPLETE, values: ['client', key, token, 201, answer] })
    if (rowCount !== 1) throw new Error('lease lost')
    await client.query('commit')
    return 'new'
  } finally {
    client.release()
  }
}

export async function checkThenInsert(
  pool: Pool,
  key: string,
  body: string,
  work: (client: PoolClient) => Promise<string>,
): Promise<string> {
  const client = await pool.connect()
  try {
    const { rows } = await client.query({ ...READ, values: ['client', key] })
    if (rows.length > 0) return 'replay'
    const answer = await work(client)
    await client.query(
      `insert into article_keys (client_id, idem_key, fingerprint, status, response_code, response_body)
       values ('client', $1, $2, 'completed', 201, $3::text::jsonb)`,
      [key, print(body), answer],
    )
    return 'new'
  } finally {
    client.release()
  }
}

function print(body: string): string {
  return createHash('sha256').update(`POST /charges ${body}`).digest('hex')
}
