/** Loses requests and replies of any lease driver, so that what a store does about it can be shown. */
import type { LeaseDriver } from '../core/store.ts'
import { deferred } from './store-contract/deferred.ts'
import type { Fault, Faults, Step } from './store-contract/subject.ts'

const STEPS = ['claim', 'renew', 'complete', 'release', 'hold', 'read'] as const satisfies readonly Step[]

/** The same driver, and the faults that may befall it. */
export function faulty<D extends LeaseDriver<unknown>>(driver: D): { readonly driver: D; readonly faults: Faults } {
  const waiting = new Map<Step, Fault[]>()
  let mended = deferred<void>()

  function befallen<A extends readonly unknown[], R>(step: Step, call: (...args: A) => Promise<R>) {
    return async (...args: A): Promise<R> => {
      const fault = waiting.get(step)?.shift()
      switch (fault) {
        case undefined:
          return call(...args)
        case 'refuse':
          throw new Error(`planted: ${step} never arrived`)
        case 'lose':
          await call(...args)
          throw new Error(`planted: the reply to ${step} was lost`)
        case 'hang':
          await mended.promise
          return call(...args)
        default:
          throw fault satisfies never
      }
    }
  }

  const steps = Object.fromEntries(
    STEPS.map((step) => [
      step,
      befallen(step, (driver[step] as (...args: unknown[]) => Promise<unknown>).bind(driver)),
    ]),
  )
  return {
    driver: Object.assign(Object.create(driver) as D, steps),
    faults: {
      befall(step, fault, times = 1) {
        waiting.set(step, [...(waiting.get(step) ?? []), ...Array.from({ length: times }, () => fault)])
      },
      mend() {
        waiting.clear()
        mended.resolve()
        mended = deferred<void>()
      },
    },
  }
}
