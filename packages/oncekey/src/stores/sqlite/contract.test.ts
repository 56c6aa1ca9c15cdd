/** The whole store contract in both modes, on files: as the factory makes them, with a moved clock, and with lost replies. */
import Database from 'libsql'
import { describe, it } from 'vitest'
import { type Libsql, movedClock, scratch } from '../../../../../test/sqlite/scratch.ts'
import { milliseconds } from '../../core/clock.ts'
import type { InTransaction, LeasedInDatabase } from '../../core/store.ts'
import { faulty } from '../../testing/faulty.ts'
import { STORE_RULES } from '../../testing/store-contract/rules.ts'
import type { Capabilities, Settings, Subject } from '../../testing/store-contract/subject.ts'
import { storeContract } from '../../testing/store-contract.ts'
import { leased } from '../leased.ts'
import { sqliteAdmin } from './admin.ts'
import type { SqliteDriver } from './driver.ts'
import { type FileOptions, sqliteFile } from './file.ts'
import { type SqliteStore, sqlite } from './index.ts'
import { sqliteLease } from './lease.ts'
import { tablesOf } from './tables.ts'

type Transaction = InTransaction<Libsql>
type Lease = LeasedInDatabase<Libsql>
type Grant = Transaction | Lease
type Open = (path: string, settings: Settings) => SqliteStore<Grant, Libsql>

const file = scratch()
const runner = { describe, it }
const shown = { several: true, reopen: true, effects: true, damage: true } as const

/** One writer at a time: what a rule wants done while a transaction of its own is open cannot be done on a file. */
const CANNOT_BE_SHOWN: Readonly<Record<Capabilities['mode'], readonly string[]>> = {
  transaction: ['a sweep removes what is past its end and nothing else, in batches, as often as one likes'],
  lease: ['an owner that was taken over loses its writes with its claim'],
}

for (const mode of ['transaction', 'lease'] as const) {
  const rules = STORE_RULES.filter(({ title }) => !CANNOT_BE_SHOWN[mode].includes(title))
  storeContract<Grant>(
    (settings) => subject(settings, (path, others) => openAs(mode, path, others, Database)),
    { ...shown, mode, clock: 'real', name: `SQLite, ${mode} mode` },
    { runner, rules },
  )
  storeContract<Grant>(
    (settings) => {
      let now = Date.now()
      const driver = movedClock(() => now)
      const made = subject(settings, (path, others) => openAs(mode, path, others, driver))
      return made.then((parts) => ({
        ...parts,
        advance(ms) {
          now += ms
        },
      }))
    },
    { ...shown, mode, clock: 'moved', name: `SQLite, ${mode} mode, its clock moved` },
    { runner, rules },
  )
}

storeContract<Lease>(
  async (settings) => {
    const path = file()
    const store = sqlite(path, { driver: Database, mode: 'lease', ...settings })
    await store.admin.migrate()
    const retainMs = milliseconds(settings.retain ?? '24h', 'retain')
    const opening: FileOptions<Libsql> = {
      ...{ path, driver: Database, durability: 'normal', setUp: () => {}, tables: tablesOf('oncekey_') },
      ...{ lockMs: 5_000, maxQueue: 1_000, migrations: 'manual' },
    }
    const opened = sqliteFile(opening)
    const { driver, faults } = faulty(sqliteLease(opened, sqliteAdmin(opened, { mode: 'lease', retainMs })))
    return { store: leased(driver, settings), faults, [Symbol.asyncDispose]: () => driver[Symbol.asyncDispose]() }
  },
  { mode: 'lease', clock: 'real', faults: true, name: 'SQLite, lease mode, replies lost' },
  { runner, rules: STORE_RULES.filter(({ needs }) => needs?.includes('faults')) },
)

function openAs(
  mode: Capabilities['mode'],
  path: string,
  settings: Settings,
  driver: SqliteDriver<Libsql>,
): SqliteStore<Grant, Libsql> {
  const options = { driver, ...settings, durability: 'normal', lockMs: 2_000 } as const
  return mode === 'lease' ? sqlite(path, { ...options, mode }) : sqlite(path, options)
}

async function subject(settings: Settings, open: Open): Promise<Subject<Grant>> {
  const path = file()
  let store = open(path, settings)
  await store.write((tx) => tx.exec('create table effect (mark text not null)'))
  const outside = new Database(path)
  return {
    store,
    another: (others) => open(path, others),
    async reopen() {
      await store[Symbol.asyncDispose]()
      store = open(path, settings)
      return store
    },
    effects: {
      async write(grant, mark) {
        const tx = 'tx' in grant ? grant.tx : await grant.begin()
        tx.prepare('insert into effect (mark) values (?)').run(mark)
      },
      async count(mark) {
        const row = outside.prepare('select count(*) as n from effect where mark = ?').get(mark)
        return (row as { n: number }).n
      },
    },
    damage(id) {
      outside.prepare('update oncekey_record set state = 42 where k = ?').run([Buffer.from(id, 'hex')])
    },
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]()
      outside.close()
    },
  }
}
