/** The numbers of the locks that make a transaction-mode answer quick and true (T4); the primary key is the guarantee. */
import { lengthPrefixed, sha256 } from '../../core/digest.ts'
import type { Identity } from '../../core/operation.ts'

export interface Locks {
  /** K: its holder may run. */
  readonly key: bigint
  /** F, one for each fingerprint in rotation: whoever shares one asks for the same. */
  readonly prints: readonly bigint[]
  /** O of each fingerprint; the first is the mark that we take as an owner. */
  readonly owners: readonly bigint[]
}

/** Hashed from the whole identity and salted: applications use the same space of numbers. A collision costs a false `busy`. */
export function locksOf({ id, prints }: Pick<Identity, 'id' | 'prints'>, salt: string): Locks {
  const key = number('oncekey/lock/key/1', [salt, id])
  const shared = prints.map((print) => number('oncekey/lock/print/1', [salt, id, print]))
  return { key, prints: shared, owners: shared.map((lock) => lock ^ 1n) }
}

function number(domain: string, parts: readonly string[]): bigint {
  const bytes = sha256(lengthPrefixed(domain, parts))
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getBigInt64(0)
}
