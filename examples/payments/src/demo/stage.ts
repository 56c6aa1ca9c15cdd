// Where the stories play: a database of their own, on SQLite files or on a Postgres server, gone when the demo ends.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { type Bank, startBank } from '../bank/bank.ts'
import { type Launched, launch } from './launch.ts'

export interface Stage extends AsyncDisposable {
  readonly kind: 'sqlite' | 'postgres'
  /** A new, empty database, as a value of `STORE`. */
  database(): Promise<string>
}

/** `sqlite`, or the URL of a Postgres server on which databases may be created. */
export async function stageOn(store: string): Promise<Stage> {
  return store === 'sqlite' ? onSqlite() : onPostgres(store)
}

async function onSqlite(): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'oncekey-demo-'))
  let count = 0
  return {
    kind: 'sqlite',
    async database() {
      count += 1
      return `sqlite:${join(folder, `payments-${count}.db`)}`
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

async function onPostgres(url: string): Promise<Stage> {
  const admin = new pg.Pool({ connectionString: url, max: 1 })
  admin.on('error', () => {})
  const names: string[] = []
  return {
    kind: 'postgres',
    async database() {
      const name = `oncekey_demo_${process.pid}_${names.length + 1}`
      names.push(name)
      await admin.query(`create database ${name}`)
      const address = new URL(url)
      address.pathname = `/${name}`
      return address.href
    },
    async [Symbol.asyncDispose]() {
      for (const name of names) await admin.query(`drop database if exists ${name} with (force)`)
      await admin.end()
    },
  }
}

/** One API on a database of its own, and a bank beside it, for as long as the story takes. */
export async function withApi<T>(
  stage: Stage,
  settings: Readonly<Record<string, string>>,
  play: (scene: { readonly api: Launched; readonly bank: Bank; readonly store: string }) => Promise<T>,
): Promise<T> {
  const store = await stage.database()
  const bank = await startBank()
  try {
    const api = await launch('api', { STORE: store, BANK_URL: bank.url, ...settings })
    try {
      return await play({ api, bank, store })
    } finally {
      await api[Symbol.asyncDispose]()
    }
  } finally {
    await bank[Symbol.asyncDispose]()
  }
}
