// What all contenders on SQLite share: files in a folder of their own, and one connection with prepared statements as the floor.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'

export type Durability = 'full' | 'normal'

export interface Folder extends Disposable {
  file(name: string): string
}

export function folder(): Folder {
  const path = mkdtempSync(join(tmpdir(), 'oncekey-bench-'))
  const remove = () => rmSync(path, { recursive: true, force: true, maxRetries: 5 })
  process.once('exit', remove)
  return {
    file: (name) => join(path, name),
    [Symbol.dispose]() {
      process.off('exit', remove)
      remove()
    },
  }
}

export const CHARGES = `create table if not exists charges (
  id integer primary key, account text not null, amount integer not null, currency text not null, created_at real not null)`
export const INSERT = 'insert into charges (account, amount, currency, created_at) values (?, ?, ?, ?)'

export interface Floor extends Disposable {
  readonly db: Database.Database
  insert(): unknown
  select(key: string): unknown
}

/** The fastest that a durable row can be written, and a kept answer read. */
export function floor(path: string, durability: Durability): Floor {
  const db = new Database(path)
  db.exec('pragma journal_mode = wal')
  db.exec(`pragma synchronous = ${durability}`)
  db.exec(CHARGES)
  db.exec('create table if not exists answers (key text primary key, body text not null) without rowid')
  const insert = db.prepare(INSERT)
  const select = db.prepare('select body from answers where key = ?')
  return {
    db,
    insert: () => insert.run('acct', 2500, 'usd', Date.now() / 1_000),
    select: (key) => select.get(key),
    [Symbol.dispose]() {
      db.close()
    },
  }
}
