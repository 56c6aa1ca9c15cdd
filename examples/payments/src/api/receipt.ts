// The receipt of a charge as a small bitmap: a binary answer of a few kB, made by hand so that the example needs no image library.
import { createHash } from 'node:crypto'
import type { Charge } from '../books/books.ts'

const SIDE = 32

/** A BMP of 32 × 32 pixels whose pattern is a digest of the charge: the same charge always gives the same bytes. */
export function receiptOf(charge: Charge): Uint8Array {
  const pixels = SIDE * SIDE * 3
  const bytes = new Uint8Array(54 + pixels)
  const view = new DataView(bytes.buffer)
  bytes.set([0x42, 0x4d])
  view.setUint32(2, bytes.length, true)
  view.setUint32(10, 54, true)
  view.setUint32(14, 40, true)
  view.setInt32(18, SIDE, true)
  view.setInt32(22, SIDE, true)
  view.setUint16(26, 1, true)
  view.setUint16(28, 24, true)
  view.setUint32(34, pixels, true)
  const digest = createHash('sha256').update(`${charge.id} ${charge.amount} ${charge.currency}`).digest()
  for (let at = 0; at < pixels; at++) bytes[54 + at] = (digest[at % digest.length] as number) ^ (at >> 4)
  return bytes
}
