// What `npm run bench` can be told, and how much of everything is measured.
import { parseArgs } from 'node:util'

export const SECTIONS = ['postgres', 'sqlite', 'redis', 'http', 'race', 'bytes', 'purge'] as const
export type SectionName = (typeof SECTIONS)[number]

export interface Settings {
  /** The address of a PostgreSQL where databases may be made. */
  readonly postgres: string | undefined
  /** The address of a Redis; keys with a prefix are made in it and removed. */
  readonly redis: string | undefined
  readonly only: readonly SectionName[]
  readonly rounds: number
  /** A smoke run: everything is run, and nothing is measured well. */
  readonly quick: boolean
  /** Where the result goes as JSON. Without it: the last line of the output. */
  readonly json: string | undefined
}

export const USAGE = `npm run bench -- [--quick] [--only ${SECTIONS.join(',')}] [--rounds N] [--json FILE] [--store postgres://...]

Without --store (or ONCEKEY_TEST_POSTGRES) a PostgreSQL is started, and ended afterwards. Databases are made in it and dropped.
The same for a Redis and ONCEKEY_TEST_REDIS, where there is one on the machine.
Without --json the last line of the output is the result as JSON.`

/** Throws a `TypeError` for what it does not know. */
export function settingsFrom(args: readonly string[], env: NodeJS.ProcessEnv): Settings {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string', default: SECTIONS.join(',') },
      rounds: { type: 'string' },
      json: { type: 'string' },
      store: { type: 'string' },
    },
  })
  const { quick } = values
  const rounds = values.rounds === undefined ? (quick ? 2 : 8) : Number(values.rounds)
  if (!Number.isSafeInteger(rounds) || rounds < 1 || rounds > 100)
    throw new TypeError(`--rounds ${values.rounds} is not a number from 1 to 100`)
  return {
    postgres: values.store ?? (env.ONCEKEY_TEST_POSTGRES || undefined),
    redis: env.ONCEKEY_TEST_REDIS || undefined,
    only: values.only.split(',').map(known),
    rounds,
    quick,
    json: values.json,
  }
}

function known(name: string): SectionName {
  const found = SECTIONS.find((section) => section === name)
  if (found === undefined) throw new TypeError(`--only ${name}: there are ${SECTIONS.join(', ')}`)
  return found
}
