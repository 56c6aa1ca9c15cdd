/** The contract is worth what it notices: each broken store breaks exactly the rules that its fault is about. */
import { expect, test } from 'vitest'
import { memoryCapabilities, memorySubject } from '../memory-subject.ts'
import { STORE_RULES } from '../store-contract/rules.ts'
import { checkStore } from '../store-contract.ts'
import type { BrokenStore } from './broken-store.ts'
import { BROKEN_STORES } from './index.ts'

async function broken(vary?: BrokenStore['vary']): Promise<string[]> {
  const results = await checkStore(memorySubject(vary), memoryCapabilities, { limitMs: 8_000 })
  return results.filter(({ error }) => error !== undefined).map(({ title }) => title)
}

test('the correct store breaks nothing', async () => {
  expect(await broken()).toEqual([])
}, 60_000)

// The rule about clocks turns this process's clock, which this one store goes by: it runs alone.
const alone = BROKEN_STORES.filter(({ name }) => name === 'callers-clock')
const together = BROKEN_STORES.filter((store) => !alone.includes(store))

const title = '$name breaks what it is about, and nothing else'
test.each(alone)(title, breaksExactly, 60_000)
test.concurrent.each(together)(title, breaksExactly, 60_000)

async function breaksExactly({ vary, breaks }: BrokenStore): Promise<void> {
  const titles = STORE_RULES.map(({ title }) => title)
  for (const broken of breaks) expect(titles).toContain(broken)
  expect(breaks).not.toHaveLength(0)
  expect((await broken(vary)).sort()).toEqual([...breaks].sort())
}
