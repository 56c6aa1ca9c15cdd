/** T13: who may hold a connection, and who waits for that. */
import { expect, it } from 'vitest'
import { permits, winnersOf } from './permits.ts'

it.each([
  [1, 1],
  [2, 1],
  [4, 3],
  [5, 4],
  [10, 8],
  [100, 80],
])('of a pool of %d, %d may win', (pool, winners) => expect(winnersOf(pool)).toBe(winners))

it('gives out as many as there are, and passes them on in turn', async () => {
  const { take, queue } = permits(1, 10)
  const first = take()
  expect(take()).toBeUndefined()
  const order: number[] = []
  const waiting = [1, 2, 3].map(async (each) => {
    const permit = await queue(10_000)
    order.push(each)
    permit?.release()
  })
  first?.release()
  first?.release()
  await Promise.all(waiting)
  expect(order).toEqual([1, 2, 3])
  expect(take()).toBeDefined()
  expect(take()).toBeUndefined()
})

it('nobody jumps the queue', async () => {
  const { take, queue } = permits(1, 10)
  const first = take()
  const second = queue(10_000)
  first?.release()
  expect(take()).toBeUndefined()
  expect(await second).toBeDefined()
})

it('goes empty-handed when the queue is full, the wait is over, it is told to stop, or the store closes', async () => {
  const { take, queue, close } = permits(1, 1)
  const held = take()
  expect(await queue(1)).toBeUndefined()
  const stopped = new AbortController()
  const waiting = queue(10_000, stopped.signal)
  expect(await queue(10_000)).toBeUndefined()
  stopped.abort()
  expect(await waiting).toBeUndefined()
  const closing = queue(10_000)
  close()
  expect(await closing).toBeUndefined()
  held?.release()
  expect(take()).toBeDefined()
})
