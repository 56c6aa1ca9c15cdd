// What a completed key takes of a SQLite file.
import { randomUUID } from 'node:crypto'
import Database from 'libsql'
import type { Grant, Store } from 'oncekey'
import { filled } from '../fill.ts'
import { answerOf, bodyOf, ours } from '../ours.ts'
import type { Section } from '../report.ts'
import type { Settings } from '../settings.ts'
import { articleStore } from './article.ts'
import { folder } from './ground.ts'
import { storesIn } from './stores.ts'

/** As many as do not wait for one another's turn in vain. */
const CALLERS = 4

export async function bytes({ quick }: Settings): Promise<readonly Section[]> {
  const keys = quick ? 500 : 100_000
  using files = folder()
  await using stores = await storesIn(files.file, 'normal')
  const article = articleStore(files.file('article.db'))
  const fill = <G extends Grant>(store: Store<G>) =>
    filled((at) => ours(store, randomUUID(), async () => answerOf(at), 'ran'), keys, CALLERS)
  const must = quick ? {} : { must: 140 }
  const perKey = async (name: string, filling: () => Promise<void>) => {
    const empty = sizeOf(files.file(name))
    await filling()
    return (sizeOf(files.file(name)) - empty) / keys
  }
  const findings = [
    {
      what: 'bytes per key, the article',
      value: await perKey('article.db', async () => {
        for (let at = 0; at < keys; at++) article.operation(randomUUID(), () => bodyOf(at))
      }),
    },
    { what: 'bytes per key, T', value: await perKey('t.db', () => fill(stores.transaction)), ...must },
    { what: 'bytes per key, L', value: await perKey('l.db', () => fill(stores.lease)), ...must },
  ].map((finding) => ({ ...finding, note: 'SQLite' }))
  return [
    {
      title: `SQLite, bytes per completed key, ${keys.toLocaleString('en')} keys, 201 and 45 bytes of JSON`,
      rows: [],
      findings,
    },
  ]
}

function sizeOf(path: string): number {
  const db = new Database(path)
  try {
    const one = (pragma: string) =>
      Object.values(db.prepare(`pragma ${pragma}`).get() as Record<string, number>)[0] ?? 0
    return (one('page_count') - one('freelist_count')) * one('page_size')
  } finally {
    db.close()
  }
}
