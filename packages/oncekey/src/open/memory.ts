/** `memory:`, for tests and for one process. */
import { afterOf, durationsOf, type Opener } from './opener.ts'

export const openMemory: Opener = {
  modes: ['lease'],
  async open(_url, options) {
    const { memory } = await import('../stores/memory.ts')
    return memory(afterOf(options), durationsOf(options))
  },
}
