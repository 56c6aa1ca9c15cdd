/** The store in memory, and the lease bracket over it, hold the whole contract. */
import { describe, expect, it, test } from 'vitest'
import { leased } from '../stores/leased.ts'
import { memoryDriver } from '../stores/memory/driver.ts'
import { faulty } from './faulty.ts'
import { memoryCapabilities, memorySubject } from './memory-subject.ts'
import { STORE_RULES } from './store-contract/rules.ts'
import type { Make } from './store-contract/subject.ts'
import { storeContract } from './store-contract.ts'

const byTheClock: Make = (settings) => {
  const { driver, faults } = faulty(memoryDriver())
  const store = leased(driver, settings)
  return { store, faults, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() }
}

const runner = { describe, it }
storeContract(memorySubject(), { ...memoryCapabilities, name: 'memory, its clock moved' }, { runner })
storeContract(
  byTheClock,
  { name: 'memory, by the clock', mode: 'lease', clock: 'real', callersClock: true, faults: true },
  { runner },
)

test('every rule has a title of its own', () => {
  const titles = STORE_RULES.map(({ title }) => title)
  expect(new Set(titles).size).toBe(titles.length)
})

test('every rule that cannot be shown says why', () => {
  const skipped: string[] = []
  const it = Object.assign(() => {}, { skip: (name: string) => skipped.push(name) })
  const describe = (_: string, body: () => void) => body()
  storeContract(memorySubject(), { mode: 'transaction', clock: 'real' }, { runner: { describe, it } })
  expect(skipped.length).toBeGreaterThan(10)
  for (const name of skipped)
    expect(name).toMatch(/\[skipped: (it is about lease mode|this store's subject has no .+)\]$/)
})
