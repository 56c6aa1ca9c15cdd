/** T17: an operation inside itself is refused while the outer one is unsettled, and only then. */
import { expect, test } from 'vitest'
import { sleep } from './clock.ts'
import { unnested } from './nesting.ts'

const store = {}
const refused = expect.objectContaining({ code: 'NESTED_OPERATION' })

test('the same operation inside itself is refused, however deep', async () => {
  const inner = () => unnested(store, 'a', async () => 'inner')
  await expect(unnested(store, 'a', inner)).rejects.toEqual(refused)
  await expect(unnested(store, 'a', () => unnested(store, 'b', inner))).rejects.toEqual(refused)
})

test('another operation, or another store, is nested at will', async () => {
  await expect(unnested(store, 'a', () => unnested(store, 'b', async () => 1))).resolves.toBe(1)
  await expect(unnested(store, 'a', () => unnested({}, 'a', async () => 1))).resolves.toBe(1)
})

test('one after the other is not one inside the other', async () => {
  await unnested(store, 'a', async () => {})
  await expect(unnested(store, 'a', async () => 2)).resolves.toBe(2)
})

test('side by side is not inside', async () => {
  const both = [1, 2].map((n) => unnested(store, 'a', () => sleep(5).then(() => n)))
  await expect(Promise.all(both)).resolves.toEqual([1, 2])
})

test('what an operation left running may start it again once it has settled', async () => {
  let later: Promise<string> | undefined
  await unnested(store, 'a', async () => {
    later = sleep(20).then(() => unnested(store, 'a', async () => 'after'))
  })
  await expect(later).resolves.toBe('after')
})
