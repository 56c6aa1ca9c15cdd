import { afterEach, describe, expect, it } from 'vitest'
import { pulse, whenSilent } from './pulse.ts'

const SILENT = 60
const off: (() => void)[] = []
afterEach(() => {
  for (const one of off.splice(0)) one()
})

/** Resolves with how long it took until the claim was given up, or nothing where it was not within `limit`. */
function givenUp(limit: number, beats = pulse()): Promise<number | undefined> {
  const started = performance.now()
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, limit, undefined)
    off.push(
      whenSilent(beats, SILENT, () => {
        clearTimeout(timer)
        resolve(performance.now() - started)
      }),
    )
  })
}

describe('a claim', () => {
  it('is given up when the store has said nothing to anybody', async () => {
    expect(await givenUp(5_000)).toBeGreaterThanOrEqual(SILENT - 2)
  })

  it('goes on while the store answers others, and not for ever', async () => {
    const beats = pulse()
    const beating = setInterval(beats.beat, 5)
    const took = await givenUp(10_000, beats)
    clearInterval(beating)
    expect(took).toBeGreaterThanOrEqual(5 * SILENT - 2)
  })

  it('counts the silence from the last answer', async () => {
    const beats = pulse()
    setTimeout(beats.beat, SILENT / 2)
    expect(await givenUp(10_000, beats)).toBeGreaterThanOrEqual(1.5 * SILENT - 2)
  })

  it('hears an answer that came while the loop was blocked', async () => {
    const beats = pulse()
    const answered = new Promise<void>((resolve) => {
      // In the turn after the block, as the answer of a socket would be.
      setTimeout(() => {
        const until = performance.now() + 3 * SILENT
        while (performance.now() < until);
        setImmediate(() => {
          beats.beat()
          resolve()
        })
      }, SILENT / 2)
    })
    const giving = givenUp(10_000, beats)
    await answered
    expect(await giving).toBeGreaterThanOrEqual(SILENT / 2 + 3 * SILENT + SILENT - 5)
  })

  it('that was answered is called off', async () => {
    let given = false
    whenSilent(pulse(), 10, () => {
      given = true
    })()
    await new Promise((resolve) => setTimeout(resolve, 40))
    expect(given).toBe(false)
  })
})
