// `npm run demo`: plays the stories and says, for each, what the client saw and what the bank and the table hold.
import { parseArgs } from 'node:util'
import { terminalReport } from './demo/report.ts'
import { stageOn } from './demo/stage.ts'
import { declined } from './demo/stories/declined.ts'
import { doubleTap } from './demo/stories/double-tap.ts'
import { killed, killedInTransaction } from './demo/stories/killed.ts'
import { lostReply } from './demo/stories/lost-reply.ts'
import { reusedKey } from './demo/stories/reused-key.ts'
import { slowBank } from './demo/stories/slow-bank.ts'
import { stampede } from './demo/stories/stampede.ts'
import { twoAccounts } from './demo/stories/two-accounts.ts'
import type { Told } from './demo/story.ts'

const STORIES = [
  doubleTap,
  slowBank,
  lostReply,
  declined,
  reusedKey,
  twoAccounts,
  killed,
  killedInTransaction,
  stampede,
]

const { values } = parseArgs({
  options: { store: { type: 'string', default: 'sqlite' }, json: { type: 'boolean', default: false } },
})
const started = performance.now()
const stage = await stageOn(values.store)
const report = terminalReport(
  (line) => console.log(line),
  process.stdout.isTTY === true && process.env.NO_COLOR === undefined,
)
const told: (Told & { readonly title: string })[] = []
try {
  if (!values.json) report.opening(stage.kind === 'sqlite' ? 'SQLite' : 'Postgres')
  for (const [index, story] of STORIES.entries()) {
    const end = await story.play(stage)
    told.push({ title: story.title, ...end })
    if (!values.json) report.story(story, index + 1, end)
  }
} finally {
  await stage[Symbol.asyncDispose]()
}
const wrong = told.filter(({ charges, expected }) => charges !== expected).length
const seconds = (performance.now() - started) / 1_000
if (values.json) console.log(JSON.stringify({ store: stage.kind, seconds, wrong, stories: told }, null, 2))
else report.closing(told.length - wrong, wrong, seconds)
process.exitCode = wrong === 0 ? 0 : 1
