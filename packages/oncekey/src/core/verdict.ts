/** What the store is told to do when the work has ended: keep its answer, or what little there can be of it, or none. */
import { tell } from './events.ts'
import type { Label } from './operation.ts'
import type { End, Judgement, Policy } from './policy.ts'
import type { Codec } from './receipt.ts'
import type { Receipt } from './record.ts'
import type { SpentWhy, Verdict } from './store.ts'

export interface Keeping<T> {
  readonly codec: Codec<T>
  readonly policy: Policy<T>
  readonly operation: Label
  readonly tombstone: boolean
  readonly maxBytes: number
}

/** Once the work has returned, trouble with its answer is no failure of the work: the effect stands and the record says `spent`. */
export async function verdictOf<T>(end: End<T>, judgement: Judgement, keeping: Keeping<T>): Promise<Verdict> {
  const { policy } = keeping
  const why = end.kind === 'threw' ? 'the work threw' : 'the policy asked for it'
  switch (judgement) {
    case 'free':
      return { kind: 'free' }
    case 'retry':
      return { kind: 'retry', why }
    case 'hold':
      return { kind: 'hold', why }
    case 'spend':
      return end.kind === 'threw' ? { kind: 'spend', why: 'not-kept' } : spendAsked(end.value, keeping)
    case 'keep':
    case 'keep-undone': {
      if (end.kind === 'threw' && !policy.fromError) return { kind: 'spend', why: 'not-kept' }
      const writes = judgement === 'keep' ? 'commit' : 'undo'
      const value = end.kind === 'threw' ? () => policy.fromError?.(end.error) as T : () => end.value
      return encode(() => redacted(value(), policy), writes, keeping)
    }
    default:
      throw judgement satisfies never
  }
}

async function encode<T>(
  value: () => T,
  writes: 'commit' | 'undo',
  { codec, maxBytes, operation, tombstone }: Keeping<T>,
): Promise<Verdict> {
  try {
    const kept = value()
    const refused = codec.refuses?.(kept)
    if (refused) return spend(kept, refused, codec)
    const receipt = await codec.encode(kept, operation)
    if (receipt.length > maxBytes) return spend(kept, 'too-large', codec)
    const head = tombstone ? headOf(kept, codec) : undefined
    return { kind: 'keep', receipt, writes, ...(head ? { head } : {}) }
  } catch (error) {
    tell('unreadable', { why: 'unencodable', error })
    return { kind: 'spend', why: 'unencodable' }
  }
}

/** The answer was not to be kept; its head is, where the policy lets it out. */
function spendAsked<T>(value: T, { codec, policy }: Keeping<T>): Verdict {
  try {
    return spend(redacted(value, policy), 'not-kept', codec)
  } catch (error) {
    tell('unreadable', { why: 'unencodable', error })
    return { kind: 'spend', why: 'not-kept' }
  }
}

/** What is kept of a value is never more than its policy lets out. */
function redacted<T>(value: T, { redact }: Policy<T>): T {
  return redact ? redact(value) : value
}

function spend<T>(value: T, why: SpentWhy, codec: Codec<T>): Verdict {
  const head = headOf(value, codec)
  return { kind: 'spend', why, ...(head ? { head } : {}) }
}

function headOf<T>(value: T, codec: Codec<T>): Receipt | undefined {
  try {
    return codec.head?.(value)
  } catch (error) {
    tell('unreadable', { why: 'unencodable', error })
    return undefined
  }
}
