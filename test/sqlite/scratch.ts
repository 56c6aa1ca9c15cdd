/** What the tests of this folder share: files of their own, and libsql with a clock that they move. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import { afterAll } from 'vitest'
import type { SqliteDriver } from '../../packages/oncekey/src/stores/sqlite/driver.ts'

export type Libsql = InstanceType<typeof Database>

let files = 0

/** Answers with the path of a file that does not exist yet, each time another; all are removed after the tests. */
export function scratch(): () => string {
  const folder = mkdtempSync(join(tmpdir(), 'oncekey-sqlite-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return () => join(folder, `${++files}.db`)
}

/** SQLite's clock cannot be set and libsql takes no functions: the one place that asks for the time is given the answer. */
export function movedClock(now: () => number): SqliteDriver<Libsql> {
  class Moved extends Database {
    // @ts-expect-error: the type of `prepare` has a case for statements without parameters, which ours have too.
    override prepare(sql: string) {
      const prepare = super.prepare.bind(this)
      if (!sql.includes(CLOCK)) return prepare(sql)
      const fresh = () => prepare(sql.replaceAll(CLOCK, (now() / 1_000).toFixed(3)))
      return {
        run: (...params: unknown[]) => fresh().run(...params),
        get: (...params: unknown[]) => fresh().get(...params),
        all: (...params: unknown[]) => fresh().all(...params),
      } as unknown as ReturnType<typeof prepare>
    }
  }
  return Moved as unknown as SqliteDriver<Libsql>
}

const CLOCK = "unixepoch('subsec')"
