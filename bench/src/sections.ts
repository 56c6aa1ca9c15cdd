// The sections by name, in the order in which they are run.
import { http } from './http/http.ts'
import { bytes as postgresBytes } from './postgres/bytes.ts'
import { oneCaller } from './postgres/one-caller.ts'
import { pileUp } from './postgres/pile-up.ts'
import { postgresJs } from './postgres/postgres-js.ts'
import { purge } from './postgres/purge.ts'
import { race } from './postgres/race.ts'
import { throughput } from './postgres/throughput.ts'
import { cost as redisCost } from './redis/cost.ts'
import type { Section } from './report.ts'
import type { SectionName, Settings } from './settings.ts'
import { bytes as sqliteBytes } from './sqlite/bytes.ts'
import { cost } from './sqlite/cost.ts'
import { race as sqliteRace } from './sqlite/race.ts'

type OnServer = (server: string, settings: Settings) => Promise<readonly Section[]>
interface Parts {
  readonly postgres: readonly OnServer[]
  readonly redis?: readonly OnServer[]
  readonly sqlite: readonly ((settings: Settings) => Promise<readonly Section[]>)[]
}

const PARTS: Readonly<Record<SectionName, Parts>> = {
  postgres: { postgres: [oneCaller, postgresJs, throughput], sqlite: [] },
  sqlite: { postgres: [], sqlite: [cost] },
  redis: { postgres: [], redis: [redisCost], sqlite: [] },
  http: { postgres: [http], sqlite: [] },
  race: { postgres: [race, pileUp], sqlite: [sqliteRace] },
  bytes: { postgres: [postgresBytes], sqlite: [sqliteBytes] },
  purge: { postgres: [purge], sqlite: [] },
}

export async function* run(name: SectionName, settings: Settings): AsyncGenerator<Section> {
  const { postgres, redis = [], sqlite } = PARTS[name]
  for (const part of postgres) {
    if (settings.postgres === undefined) throw new Error(`${name} needs a PostgreSQL: --store postgres://...`)
    yield* await part(settings.postgres, settings)
  }
  for (const part of redis) {
    if (settings.redis === undefined) yield { title: 'Redis: there is none on this machine', rows: [], findings: [] }
    else yield* await part(settings.redis, settings)
  }
  for (const part of sqlite) yield* await part(settings)
}
