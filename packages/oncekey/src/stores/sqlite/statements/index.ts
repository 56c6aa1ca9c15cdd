/** Every statement on records, made once for the tables of one store. */
import type { Tables } from '../tables.ts'
import { abandon } from './abandon.ts'
import { claim } from './claim.ts'
import { finish } from './finish.ts'
import { hold } from './hold.ts'
import { nextFence } from './next-fence.ts'
import { read } from './read.ts'
import { releaseFree } from './release-free.ts'
import { releaseRetry } from './release-retry.ts'
import { renew } from './renew.ts'

export type Statements = ReturnType<typeof statementsOn>

export function statementsOn({ record, meta }: Tables) {
  return {
    read: read(record),
    claim: claim(record),
    nextFence: nextFence(meta),
    renew: renew(record),
    finish: finish(record),
    hold: hold(record),
    abandon: abandon(record),
    releaseFree: releaseFree(record),
    releaseRetry: releaseRetry(record),
  }
}
