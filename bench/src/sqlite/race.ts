// The first article's race on one SQLite file: the same request 50 and 100 times at once, with 50 ms of work, for each strategy.
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'libsql'
import { answerOf, bodyOf, ours } from '../ours.ts'
import { race as raceAll, type Strategy } from '../race.ts'
import type { Section } from '../report.ts'
import type { Settings } from '../settings.ts'
import { type ArticleStore, articleStore } from './article.ts'
import { folder } from './ground.ts'
import { charge, storesIn } from './stores.ts'

export async function race({ quick }: Settings): Promise<readonly Section[]> {
  using files = folder()
  await using stores = await storesIn(files.file, 'full')
  const article = articleStore(files.file('article.db'))
  const strategies: readonly Strategy[] = [
    { name: 'check, then insert', unsafe: true, once: (key, workMs) => checkThenInsert(article, key, workMs) },
    { name: "the article's store", once: (key, workMs) => operation(article, key, workMs) },
    {
      name: 'T',
      once: (key, workMs) =>
        ours(stores.transaction, key, async ({ tx }) => {
          await sleep(workMs)
          return answerOf(charge(tx, key))
        }),
    },
    {
      name: 'L',
      once: (key, workMs) =>
        ours(stores.lease, key, async ({ begin }) => {
          await sleep(workMs)
          return answerOf(charge(await begin(), key))
        }),
    },
  ]
  const names = ['article.db', 't.db', 'l.db'].map(files.file)
  return await raceAll(strategies, {
    title: 'SQLite',
    runs: quick ? 2 : 20,
    charges: async (key) => names.reduce((sum, name) => sum + chargesIn(name, key), 0),
  })
}

async function checkThenInsert(article: ArticleStore, key: string, workMs: number): Promise<string> {
  if (article.read(key)) return 'replay'
  await sleep(workMs)
  const answer = bodyOf(article.charge(key))
  article.operation(key, () => answer)
  return 'new'
}

async function operation(article: ArticleStore, key: string, workMs: number): Promise<string> {
  const claimed = article.claim(key)
  if (claimed !== 'new') return claimed
  await sleep(workMs)
  article.complete(key, bodyOf(article.charge(key)))
  return 'new'
}

function chargesIn(path: string, account: string): number {
  const db = new Database(path)
  try {
    const { n } = db.prepare('select count(*) as n from charges where account = ?').get(account) as { n: number }
    return n
  } finally {
    db.close()
  }
}
