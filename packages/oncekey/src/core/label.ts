/** The clear text in a record that is not finished: what people need to see, and why things stand as they do. */
import type { Label } from './operation.ts'
import type { Receipt } from './record.ts'

export interface Labelled extends Partial<Label> {
  readonly why?: string
  readonly head?: Receipt
}
export interface Written extends Labelled {
  /** Running: what its writer would retain it for, so that a sweeper that ends it need not apply its own idea (S5). */
  readonly retainMs?: number
}

/** JSON in UTF-8; it goes into a column of bytes, never of text (I6). */
export function writeLabel({ scope, key, name, why, head, retainMs }: Written): Uint8Array {
  return new TextEncoder().encode(
    JSON.stringify({ scope, key, name, why, head: head && btoa(String.fromCharCode(...head)), retainMs }),
  )
}

/** Nothing where the bytes are not a label: a record without one is still a record. */
export function readLabel(bytes: Uint8Array | null | undefined): Partial<Labelled> {
  if (!bytes) return {}
  try {
    const {
      head,
      retainMs: _,
      ...label
    } = JSON.parse(new TextDecoder().decode(bytes)) as Omit<Written, 'head'> & {
      head?: string
    }
    return head === undefined
      ? label
      : { ...label, head: Uint8Array.from(atob(head), (letter) => letter.charCodeAt(0)) }
  } catch {
    return {}
  }
}
