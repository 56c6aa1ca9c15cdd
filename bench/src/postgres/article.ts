// The second article's protocol, statement for statement: claim and commit, work and complete in a transaction, read on a conflict.
import { createHash } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import { REQUEST_BODY } from '../ours.ts'

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

export type ArticleAnswer = 'new' | 'replay' | 'in_progress'

export async function claimOnly(db: Pool | PoolClient, key: string): Promise<string | undefined> {
  const { rows } = await db.query({ ...CLAIM, values: ['client', key, print()] })
  return (rows[0] as { locked_at: string } | undefined)?.locked_at
}

export async function readOnly(db: Pool | PoolClient, key: string): Promise<string | undefined> {
  const { rows } = await db.query({ ...READ, values: ['client', key] })
  return (rows[0] as { status: string } | undefined)?.status
}

/** `work` answers with the body that is kept. */
export async function articleOnce(
  pool: Pool,
  key: string,
  work: (client: PoolClient) => Promise<string>,
): Promise<ArticleAnswer> {
  const client = await pool.connect()
  try {
    const token = await claimOnly(client, key)
    if (token === undefined) return (await readOnly(client, key)) === 'completed' ? 'replay' : 'in_progress'
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

/** What both articles warn of. */
export async function checkThenInsert(
  pool: Pool,
  key: string,
  work: (client: PoolClient) => Promise<string>,
): Promise<ArticleAnswer> {
  const client = await pool.connect()
  try {
    if ((await readOnly(client, key)) !== undefined) return 'replay'
    const answer = await work(client)
    await client.query(
      `insert into article_keys (client_id, idem_key, fingerprint, status, response_code, response_body)
       values ('client', $1, $2, 'completed', 201, $3::text::jsonb)`,
      [key, print(), answer],
    )
    return 'new'
  } finally {
    client.release()
  }
}

function print(): string {
  return createHash('sha256').update(`POST /charges ${REQUEST_BODY}`).digest('hex')
}
