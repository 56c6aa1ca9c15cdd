/** Another process that sweeps a file, to be killed while it does. */
import Database from 'libsql'
import { sqlite } from '../../packages/oncekey/src/stores/sqlite/index.ts'

const [path = '', batch, pauseMs] = process.argv.slice(2)
const store = sqlite(path, { driver: Database, durability: 'normal' })
await store.admin.sweep({ batch: Number(batch), pauseMs: Number(pauseMs) })
await store[Symbol.asyncDispose]()
