/** Settles an operation by hand: nothing happened, the key is free. */
import type { KeyRecord } from '../../../../core/record.ts'
import type { Audit } from '../../../../core/store.ts'
import type { Statement } from '../../../database/database.ts'
import type { Names } from '../../names.ts'
import { clock, fenceOf } from '../ends.ts'
import { noted, removed, seenOf } from './seen.ts'

export function settleFree(names: Names): (seen: KeyRecord, audit: Audit) => Statement {
  const text = `
with ${clock}, ${removed(names.record, fenceOf('t'))}${noted(names, 'free')}`
  return (seen, audit) => ({ text, params: seenOf(seen, audit) })
}
