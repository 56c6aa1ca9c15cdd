/** How large DynamoDB counts an item, so that its limits are known before a call: names and values in UTF-8, a few bytes for structure. */
import type { AttributeValue } from '@aws-sdk/client-dynamodb'

const utf8 = new TextEncoder()
/** A list or map costs this much, and one byte for each element. */
const NESTING = 3

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html; numbers are estimated. */
export function sizeOf(attributes: Readonly<Record<string, AttributeValue | undefined>> = {}): number {
  return Object.entries(attributes).reduce(
    (sum, [name, value]) => sum + length(name) + (value ? sizeOfValue(value) : 0),
    0,
  )
}

function sizeOfValue({ S, N, B, SS, NS, BS, M, L }: AttributeValue): number {
  if (S !== undefined) return length(S)
  if (N !== undefined) return sizeOfNumber(N)
  if (B !== undefined) return B.byteLength
  if (SS !== undefined) return sum(SS.map(length))
  if (NS !== undefined) return sum(NS.map(sizeOfNumber))
  if (BS !== undefined) return sum(BS.map((bytes) => bytes.byteLength))
  if (M !== undefined) return NESTING + Object.keys(M).length + sizeOf(M)
  if (L !== undefined) return NESTING + L.length + sum(L.map(sizeOfValue))
  return 1
}

/** A byte for two significant digits, and one more. */
function sizeOfNumber(digits: string): number {
  return Math.ceil(digits.replace(/[-+.]/g, '').length / 2) + 1
}

function length(text: string): number {
  return utf8.encode(text).length
}

function sum(sizes: readonly number[]): number {
  return sizes.reduce((total, size) => total + size, 0)
}
