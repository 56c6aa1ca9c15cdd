/** What a Redis says when it will not write, in our words: what will not go away by asking again is said at once. */
import { OncekeyError } from '../../core/errors.ts'

interface Fault {
  readonly says: RegExp
  readonly what: string
  readonly fix: string
}

/**
 * Of another kind, and asked again until the claim's time is over: LOADING, READONLY, MASTERDOWN, CLUSTERDOWN,
 * TRYAGAIN, NOREPLICAS, BUSY, MOVED that never ends, and every lost connection.
 */
const FAULTS: readonly Fault[] = [
  {
    says: /^OOM /,
    what: 'The memory of the server is full.',
    fix: 'Raise `maxmemory`, or keep answers for a shorter time. Keep `maxmemory-policy noeviction`: what is evicted runs again.',
  },
  {
    says: /^MISCONF /,
    what: 'The server cannot save to its disk and takes no writes.',
    fix: 'See its log; a full disk is the usual reason.',
  },
  {
    says: /^(NOAUTH|NOPERM|WRONGPASS) /,
    what: 'The server does not let this client in, or not that far.',
    fix: 'Let its user run EVALSHA and EVAL, and what scripts call, on keys with the store’s prefix.',
  },
  {
    says: /^WRONGTYPE /,
    what: 'A key with the prefix of the store holds something else than a record.',
    fix: 'Give the store a `prefix` that nothing else uses.',
  },
  {
    says: /^ERR (unknown command|Error compiling script|Unsupported option)/i,
    what: 'The server is older than Redis 7, or no Redis.',
    fix: 'Use Redis 7 or newer, or Valkey.',
  },
]

export function definite(error: unknown): unknown {
  const says = error instanceof Error ? error.message : ''
  const fault = FAULTS.find((candidate) => candidate.says.test(says))
  if (!fault) return error
  return new OncekeyError('STORE_UNAVAILABLE', {
    what: fault.what,
    where: 'redis',
    why: 'Without a claim that is kept nothing may run; the work did not run and will not.',
    fix: fault.fix,
    cause: error,
  })
}
