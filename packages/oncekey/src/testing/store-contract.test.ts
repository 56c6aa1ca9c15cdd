/** The store in memory, and the lease bracket over it, hold the whole contract. */
import { describe, it } from 'vitest'
import { leased } from '../stores/leased.ts'
import { memoryDriver } from '../stores/memory/driver.ts'
import { faulty } from './faulty.ts'
import type { Make } from './store-contract/subject.ts'
import { storeContract } from './store-contract.ts'

/** The store's clock stands still until a rule moves it. */
const withMovedClock: Make = (settings) => {
  let now = 1_700_000_000_000
  const clock = () => now
  const { driver, faults } = faulty(memoryDriver({ clock }))
  // The driver is shared, and outlives each of the stores over it.
  const shared = Object.assign(Object.create(driver), { [Symbol.asyncDispose]: async () => {} })
  return {
    store: leased(driver, settings),
    faults,
    advance(ms) {
      now += ms
    },
    another: (others) => leased(shared, others),
    [Symbol.asyncDispose]: () => driver[Symbol.asyncDispose](),
  }
}
const withRealClock: Make = (settings) => {
  const { driver, faults } = faulty(memoryDriver())
  return {
    store: leased(driver, settings),
    faults,
    [Symbol.asyncDispose]: () => driver[Symbol.asyncDispose](),
  }
}

const runner = { describe, it }
storeContract(
  withMovedClock,
  { name: 'memory, its clock moved', mode: 'lease', clock: 'moved', several: true, faults: true },
  { runner },
)
storeContract(withRealClock, { name: 'memory, by the clock', mode: 'lease', clock: 'real', faults: true }, { runner })
