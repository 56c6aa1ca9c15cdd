// What a new key and a repeat cost on SQLite, beside a plain INSERT and a lookup on one connection.
import { randomUUID } from 'node:crypto'
import { type Contender, type Measured, sideBySide } from '../measure.ts'
import { bodyOf, expect, ours } from '../ours.ts'
import { ratio, rowsOf, type Section } from '../report.ts'
import type { Settings } from '../settings.ts'
import { articleStore } from './article.ts'
import { type Durability, floor, folder } from './ground.ts'
import { inLease, inTransaction, storesIn } from './stores.ts'

export const ARTICLE = "the article's store"
export const T = 'T'
export const L = 'L'
const STORED = 500

export async function cost(settings: Settings): Promise<readonly Section[]> {
  return [...(await costAt('full', settings)), ...(await costAt('normal', settings))]
}

async function costAt(durability: Durability, { rounds, quick }: Settings): Promise<readonly Section[]> {
  using files = folder()
  using base = floor(files.file('floor.db'), durability)
  await using stores = await storesIn(files.file, durability)
  const article = articleStore(files.file('article.db'))
  const fresh: readonly Contender[] = [
    { name: 'INSERT alone', once: async () => base.insert() },
    { name: ARTICLE, once: async () => article.operation(randomUUID(), () => bodyOf(article.charge())) },
    { name: T, once: () => ours(stores.transaction, randomUUID(), inTransaction, 'ran') },
    { name: L, once: () => ours(stores.lease, randomUUID(), inLease, 'ran') },
  ]
  const newKey = await sideBySide(fresh, { rounds, operations: quick ? 30 : 300 })

  const keys = Array.from({ length: STORED }, () => randomUUID())
  const answer = base.db.prepare('insert into answers (key, body) values (?, ?)')
  for (const key of keys) {
    answer.run(key, bodyOf(1))
    article.operation(key, () => bodyOf(article.charge()))
    await ours(stores.transaction, key, inTransaction, 'ran')
    await ours(stores.lease, key, inLease, 'ran')
  }
  const any = () => keys[Math.floor(Math.random() * STORED)] as string
  const repeats: readonly Contender[] = [
    { name: 'SELECT by primary key', once: async () => base.select(any()) },
    { name: ARTICLE, once: async () => expect(article.claim(any()), 'replay') },
    { name: T, once: () => ours(stores.transaction, any(), inTransaction, 'replayed') },
    { name: L, once: () => ours(stores.lease, any(), inLease, 'replayed') },
  ]
  const repeat = await sideBySide(repeats, { rounds, operations: quick ? 100 : 1_000 })
  return [
    { title: `SQLite, WAL, ${durability}, a new key`, rows: rowsOf(newKey), findings: asked(newKey, durability) },
    {
      title: `SQLite, WAL, ${durability}, a repeat`,
      rows: rowsOf(repeat),
      findings: [ratio(repeat, { name: T, to: ARTICLE }), ratio(repeat, { name: L, to: ARTICLE })],
    },
  ]
}

function asked(newKey: readonly Measured[], durability: Durability): Section['findings'] {
  const note = `SQLite, ${durability}`
  const full = durability === 'full'
  return [
    ratio(newKey, { name: T, note, ...(full ? { must: 1.8, aim: 1.4 } : { must: 3.5, aim: 2.8 }) }),
    ratio(newKey, { name: L, note, ...(full ? { must: 3.3, aim: 2.7 } : { must: 5, aim: 4 }) }),
    ratio(newKey, { name: T, to: ARTICLE, note }),
  ]
}
