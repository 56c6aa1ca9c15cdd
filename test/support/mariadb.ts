// A real MariaDB for test files: each file gets a database of its own, dropped when the file ends.
import { randomBytes } from 'node:crypto'
import { createConnection, createPool, type Pool, type PoolOptions, type RowDataPacket } from 'mysql2/promise'
import { afterAll, beforeAll } from 'vitest'
import { describeWith, serviceUrl } from './service.ts'

/** `describe`, where a MariaDB is there; skipped with a printed reason where not, a failure with CI=true. */
export const describeMariadb = describeWith('ONCEKEY_TEST_MARIADB')

export function mariadbUrl(): string {
  return serviceUrl('ONCEKEY_TEST_MARIADB')
}

/** Call it inside `describeMariadb`. Costs about 10 ms. */
export function freshMariadb(): { readonly url: string } {
  const database = `t_${randomBytes(6).toString('hex')}`
  beforeAll(async () => {
    await onMariadb(`create database ${database}`)
  })
  afterAll(async () => {
    await onMariadb(`drop database if exists ${database}`)
  })
  return {
    get url() {
      const url = new URL(mariadbUrl())
      url.pathname = `/${database}`
      return url.href
    },
  }
}

export function poolAt(uri: string, options: PoolOptions = {}): Pool {
  return createPool({ uri, connectionLimit: 10, ...options })
}

/** Runs one statement on a connection of its own. */
export async function onMariadb(sql: string, url: string = mariadbUrl()): Promise<readonly RowDataPacket[]> {
  const connection = await createConnection({ uri: url })
  // A server that stops must fail the query, not the process.
  connection.on('error', () => {})
  try {
    const [rows] = await connection.query<RowDataPacket[]>(sql)
    return rows
  } finally {
    connection.destroy()
  }
}
