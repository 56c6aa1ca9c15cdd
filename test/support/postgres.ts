// A real PostgreSQL for test files: each file gets a schema or a database of its own, dropped when the file ends.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { describeWith, serviceUrl } from './service.ts'

/** `describe`, where a PostgreSQL is there; skipped with a printed reason where not, a failure with CI=true. */
export const describePostgres = describeWith('ONCEKEY_TEST_POSTGRES')

export function postgresUrl(): string {
  return serviceUrl('ONCEKEY_TEST_POSTGRES')
}

export interface FreshSchema {
  readonly url: string
  readonly schema: string
}

/** Call it inside `describePostgres`. Costs about a millisecond. */
export function freshSchema(): FreshSchema {
  const schema = unused()
  around(`create schema ${schema}`, `drop schema if exists ${schema} cascade`)
  return {
    schema,
    get url() {
      return postgresUrl()
    },
  }
}

/** For tests of what a whole database sees, such as the default schema name. Costs about 50 ms. */
export function freshDatabase(): { readonly url: string } {
  const database = unused()
  around(`create database ${database}`, `drop database if exists ${database} with (force)`)
  return {
    get url() {
      const url = new URL(postgresUrl())
      url.pathname = `/${database}`
      return url.href
    },
  }
}

/** Runs one statement on a connection of its own. */
export async function onPostgres(statement: string, url: string = postgresUrl()): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url })
  // A server that stops must fail the query, not the process.
  client.on('error', () => {})
  await client.connect()
  try {
    return await client.query(statement)
  } finally {
    await client.end()
  }
}

function around(before: string, after: string): void {
  beforeAll(async () => {
    await onPostgres(before)
  })
  afterAll(async () => {
    await onPostgres(after)
  })
}

function unused(): string {
  return `t_${randomBytes(6).toString('hex')}`
}
