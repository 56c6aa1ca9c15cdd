// What a hundred operations at once share must not look like a leak.
import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { drain } from './drain.ts'
import { runWork } from './work.ts'

it('a hundred works at once listen for the end of the store without a warning', async () => {
  const warnings: unknown[] = []
  const warned = (warning: unknown) => void warnings.push(warning)
  process.on('warning', warned)
  const { over } = drain(1_000)
  let end: () => void = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const works = Array.from({ length: 100 }, () =>
    runWork(
      async () => {
        await ended
        return { kind: 'free' }
      },
      { workMs: 5_000, gone: new AbortController().signal, closing: over },
    ),
  )
  await turn()
  end()
  await Promise.all(works)
  process.off('warning', warned)
  expect(warnings).toEqual([])
})
