import { describe, vi } from 'vitest'
import { crashes } from './support/crashes.ts'
import { postgresArenas } from './support/grounds/postgres.ts'
import { sqliteArenas } from './support/grounds/sqlite.ts'
import { describePostgres } from './support/postgres.ts'

// Each test starts servers of its own, from source.
vi.setConfig({ testTimeout: 120_000 })

describe('a process killed with SIGKILL', () => {
  describe.each(sqliteArenas)('$name, $mode mode', crashes)
  describePostgres.each(postgresArenas)('$name, $mode mode', crashes)
})
