// The store contract over a store of one's own, without a test runner.
import { databaseOnly } from 'oncekey'
import { memory } from 'oncekey/memory'
import { checkStore } from 'oncekey/testing'

export async function prove() {
  // #region prove
  let now = Date.now()
  const results = await checkStore(
    (settings) => {
      const store = memory({ ...databaseOnly, ...settings }, { ...settings, clock: () => now })
      return {
        store,
        advance(ms) {
          now += ms
        },
        [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
      }
    },
    { mode: 'lease', clock: 'moved' },
  )
  const broken = results.filter(({ error }) => error !== undefined)
  // #endregion
  return { results, broken }
}
