// What a new key and a repeat cost on Redis, beside a plain SET and GET over the same connection.
import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { type Contender, type Measured, sideBySide } from '../measure.ts'
import { answerOf, expect, ours } from '../ours.ts'
import { ratio, rowsOf, type Section } from '../report.ts'
import type { Settings } from '../settings.ts'
import { type Bench, byIoredis, byNodeRedis } from './clients.ts'

const ARTICLE = "the article's protocol"
const L = 'L'
const STORED = 500

export async function cost(server: string, settings: Settings): Promise<readonly Section[]> {
  const durability = await durabilityOf(server)
  const sections: Section[] = []
  for (const open of [byIoredis, byNodeRedis]) {
    await using bench = await open(server)
    sections.push(...(await costBy(bench, durability, settings)))
  }
  return sections
}

async function costBy(bench: Bench, durability: string, { rounds, quick }: Settings): Promise<readonly Section[]> {
  const { name, store, article } = bench
  const work = async () => answerOf(1)
  const fresh: readonly Contender[] = [
    { name: 'SET alone', once: () => bench.set(randomUUID()) },
    { name: ARTICLE, once: async () => expect(await article(randomUUID()), 'new') },
    { name: L, once: () => ours(store, randomUUID(), work, 'ran') },
  ]
  const newKey = await sideBySide(fresh, { rounds, operations: quick ? 50 : 1_000 })

  const keys = Array.from({ length: STORED }, () => randomUUID())
  for (const key of keys) {
    await bench.set(key)
    await article(key)
    await ours(store, key, work, 'ran')
  }
  const any = () => keys[Math.floor(Math.random() * STORED)] as string
  const repeats: readonly Contender[] = [
    { name: 'GET alone', once: () => bench.get(any()) },
    { name: ARTICLE, once: async () => expect(await article(any()), 'replay') },
    { name: L, once: () => ours(store, any(), work, 'replayed') },
  ]
  const repeat = await sideBySide(repeats, { rounds, operations: quick ? 100 : 2_000 })
  return [
    { title: `Redis by ${name}, ${durability}, a new key`, rows: rowsOf(newKey), findings: newFindings(newKey, name) },
    {
      title: `Redis by ${name}, ${durability}, a repeat`,
      rows: rowsOf(repeat),
      findings: repeatFindings(repeat, name),
    },
  ]
}

function newFindings(newKey: readonly Measured[], note: string): Section['findings'] {
  return [ratio(newKey, { name: L, note, must: 2.4, aim: 2 }), ratio(newKey, { name: L, to: ARTICLE, note })]
}

function repeatFindings(repeat: readonly Measured[], note: string): Section['findings'] {
  return [ratio(repeat, { name: L, note, must: 1.6, aim: 1.3 }), ratio(repeat, { name: L, to: ARTICLE, note })]
}

/** Whether a write waits for the disk decides what a ratio means. */
async function durabilityOf(server: string): Promise<string> {
  const client = new Redis(server)
  try {
    const [, only] = (await client.config('GET', 'appendonly')) as string[]
    const [, fsync] = (await client.config('GET', 'appendfsync')) as string[]
    return only === 'yes' ? `appendfsync ${fsync}` : 'appendonly no'
  } finally {
    client.disconnect()
  }
}
