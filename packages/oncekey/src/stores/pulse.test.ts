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

  it('does not count the time in which this process did not run', async () => {
    const blocked = 3 * SILENT
    setTimeout(() => {
      const until = performance.now() + blocked
      while (performance.now() < until);
    }, SILENT / 4)
    // It listened for a quarter of the silence, and has to listen for most of it again; what the block cost it counts as two slices.
    expect(await givenUp(10_000)).toBeGreaterThanOrEqual(blocked + (SILENT * 3) / 4 - 2)
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
