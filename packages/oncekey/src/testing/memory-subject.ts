/** The store in memory as a subject of the contract: its clock moved by hand, its replies lost at will, its steps varied. */
import type { LeaseDriver } from '../core/store.ts'
import { leased } from '../stores/leased.ts'
import { memoryDriver } from '../stores/memory/driver.ts'
import { faulty } from './faulty.ts'
import type { Capabilities, Make } from './store-contract/subject.ts'

export const memoryCapabilities = {
  mode: 'lease',
  clock: 'moved',
  several: true,
  faults: true,
} as const satisfies Capabilities

/** `vary` replaces steps of the driver, above the place where replies are lost. */
export function memorySubject(vary: (driver: LeaseDriver) => Partial<LeaseDriver> = () => ({})): Make {
  return function makeMemorySubject(settings) {
    let passed = 0
    const started = Date.now()
    const { driver, faults } = faulty(memoryDriver({ clock: () => started + passed }) as LeaseDriver)
    // Several stores share the driver, so that none of them may dispose it.
    const shared = { ...steps(driver), ...vary(driver), [Symbol.asyncDispose]: async () => {} }
    const store = leased(shared, settings)
    return {
      store,
      faults,
      advance(ms) {
        passed += ms
      },
      another: (others) => leased(shared, others),
      async [Symbol.asyncDispose]() {
        await store[Symbol.asyncDispose]()
        await driver[Symbol.asyncDispose]()
      },
    }
  }
}

/** A class's or a prototype's methods do not survive a spread. */
function steps(driver: LeaseDriver): LeaseDriver {
  return {
    name: driver.name,
    claim: (wanted) => driver.claim(wanted),
    renew: (mine) => driver.renew(mine),
    complete: (mine, kept) => driver.complete(mine, kept),
    release: (mine, to) => driver.release(mine, to),
    hold: (mine, why) => driver.hold(mine, why),
    read: (id) => driver.read(id),
    admin: driver.admin,
    ...(driver.restored ? { restored: () => driver.restored?.() ?? Promise.resolve(undefined) } : {}),
    [Symbol.asyncDispose]: () => driver[Symbol.asyncDispose](),
  }
}
