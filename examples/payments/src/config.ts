// What the server is told by flags and environment; a wish that cannot be met ends the process with 2 and says why.
import { parseArgs } from 'node:util'
import type { Duration } from 'oncekey'

export interface Config {
  readonly port: number
  /** `sqlite:payments.db`, `postgres://…`, `memory:`. */
  readonly store: string
  readonly kind: 'sqlite' | 'postgres' | 'memory'
  readonly mode: 'transaction' | 'lease'
  readonly lease: Duration
  readonly retain: Duration
  readonly framework: 'hono' | 'express'
  readonly bankUrl: string | undefined
}

export class Unmeetable extends Error {}

const NAMES = ['port', 'store', 'mode', 'lease', 'retain', 'framework', 'bank-url'] as const

/** Flags (`--mode lease`) win over environment (`MODE=lease`). */
export function readConfig(argv: readonly string[], env: Readonly<Record<string, string | undefined>>): Config {
  const options = Object.fromEntries(NAMES.map((name) => [name, { type: 'string' as const }]))
  let flags: Readonly<Record<string, unknown>>
  try {
    flags = parseArgs({ args: [...argv], options }).values
  } catch (error) {
    throw new Unmeetable(`${(error as Error).message}. The flags are ${NAMES.map((name) => `--${name}`).join(', ')}.`)
  }
  const told = (name: (typeof NAMES)[number]) => {
    const value = flags[name] ?? env[name.toUpperCase().replace('-', '_')]
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const store = told('store') ?? 'sqlite:payments.db'
  const kind = /^(sqlite|postgres|memory):/.exec(store.replace(/^postgresql:/, 'postgres:'))?.[1] as
    | Config['kind']
    | undefined
  if (!kind)
    throw new Unmeetable(`STORE=${store} names no store that this example has: sqlite:FILE, postgres://… or memory:`)
  const mode = oneOf('MODE', told('mode') ?? (kind === 'memory' ? 'lease' : 'transaction'), ['transaction', 'lease'])
  if (kind === 'memory' && mode === 'transaction') {
    throw new Unmeetable(
      'STORE=memory: cannot do MODE=transaction: memory has no transaction that a charge could share. Use MODE=lease, or a database.',
    )
  }
  return {
    port: portOf(told('port') ?? '8000'),
    store,
    kind,
    mode,
    lease: durationOf('LEASE', told('lease') ?? '30s'),
    retain: durationOf('RETAIN', told('retain') ?? '24h'),
    framework: oneOf('FRAMEWORK', told('framework') ?? 'hono', ['hono', 'express']),
    bankUrl: told('bank-url')?.replace(/\/$/, ''),
  }
}

function oneOf<const T extends string>(name: string, value: string, allowed: readonly T[]): T {
  if ((allowed as readonly string[]).includes(value)) return value as T
  throw new Unmeetable(`${name}=${value} is not one of ${allowed.join(', ')}.`)
}

function portOf(value: string): number {
  if (/^\d{1,5}$/.test(value) && Number(value) <= 65_535) return Number(value)
  throw new Unmeetable(`PORT=${value} is not a port (0 to 65535; 0 takes a free one).`)
}

function durationOf(name: string, value: string): Duration {
  if (/^\d+(\.\d+)?(ms|s|m|h|d)$/.test(value)) return value as Duration
  throw new Unmeetable(`${name}=${value} is not a duration such as 500ms, 2s, 30s, 5m, 24h or 30d.`)
}
