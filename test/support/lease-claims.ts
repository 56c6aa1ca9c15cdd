// Claims as tests make them: fresh keys, and other callers of the same operation.
import { randomUUID } from 'node:crypto'
import { randomHex } from '../../packages/oncekey/src/core/digest.ts'
import { identify } from '../../packages/oncekey/src/core/operation.ts'
import { databaseOnly, downstreamDedupes, fillPolicy, type Policy } from '../../packages/oncekey/src/core/policy.ts'
import type { Owned } from '../../packages/oncekey/src/core/store.ts'

export const dedupes = downstreamDedupes({ for: '24h' })

export interface Wanting {
  readonly key?: string
  readonly fingerprints?: readonly [string, ...string[]]
  readonly policy?: Policy<unknown>
}

/** A claim of a fresh key, or of the given one, with a fresh token. Nothing bounds what is tried again, unless the policy says so. */
export function wanted({ key = randomUUID(), fingerprints = ['body'], policy = {} }: Wanting = {}): Owned {
  const identity = identify({ scope: ['tenant', 'á\u0000"'], key, fingerprints, name: 'charge' })
  return { ...identity, token: randomHex(16), policy: fillPolicy({ after: databaseOnly, ...policy }, {}) }
}

/** Another caller of the same operation. */
export function repeat(owned: Owned, policy?: Policy<unknown>): Owned {
  return {
    ...owned,
    token: randomHex(16),
    ...(policy ? { policy: fillPolicy({ after: databaseOnly, ...policy }, {}) } : {}),
  }
}
