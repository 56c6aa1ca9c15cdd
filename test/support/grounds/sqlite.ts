import Database from 'libsql'
import { onTestFinished } from 'vitest'
import type { Arena, Ground } from '../charges/charging.ts'
import { temporaryFolder } from '../command.ts'

export const sqliteArenas: readonly Arena[] = (['transaction', 'lease'] as const).map((mode) => ({
  name: 'SQLite',
  mode,
  effect: 'inside',
  ground,
}))

async function ground(): Promise<Ground> {
  const path = `${temporaryFolder()}/charges.db`
  const db = new Database(path, { timeout: 5_000 })
  db.exec('pragma journal_mode = wal; create table charge (id integer primary key, amount integer not null)')
  onTestFinished(() => void db.close())
  return {
    env: { STORE: `sqlite:${path}` },
    charges: async () => (db.prepare('select count(*) as n from charge').get() as { n: number }).n,
    async starts() {
      const apart = new Database(`${path}-starts`, { timeout: 5_000 })
      try {
        return (apart.prepare('select count(*) as n from start').get() as { n: number }).n
      } finally {
        apart.close()
      }
    },
  }
}
