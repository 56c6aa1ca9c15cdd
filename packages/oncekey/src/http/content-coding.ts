/** Bytes and their content coding are one thing: decoded together with their label, or left together. */
import type { HeaderLine } from './kept-headers.ts'

/** What an answer and its coding are made of. */
export interface Coded {
  readonly headers: readonly HeaderLine[]
  readonly body: Uint8Array | null
}

type Decode = (bytes: Uint8Array, limits: { readonly maxOutputLength: number }) => Uint8Array
type Zlib = Partial<Readonly<Record<`${'gunzip' | 'inflate' | 'brotliDecompress' | 'zstdDecompress'}Sync`, Decode>>>
type Builtins = { getBuiltinModule?: (name: string) => unknown }
const zlib: Zlib =
  ((globalThis as { process?: Builtins }).process?.getBuiltinModule?.('node:zlib') as Zlib | undefined) ?? {}

const DECODERS: ReadonlyMap<string, Decode | undefined> = new Map([
  ['gzip', zlib.gunzipSync],
  ['x-gzip', zlib.gunzipSync],
  ['deflate', zlib.inflateSync],
  ['br', zlib.brotliDecompressSync],
  ['zstd', zlib.zstdDecompressSync],
])

/** More than this from one body is a bomb or not worth holding; the bytes then stay coded. */
const MOST_DECODED = 16_777_216

/** Digests of the coded bytes (RFC 9530) are wrong for the decoded ones. */
const OF_CODED_BYTES = new Set(['content-encoding', 'content-digest', 'repr-digest', 'digest', 'content-md5'])

/** The bytes without their codings, or nothing where one is unknown here, is damaged, or swells beyond measure. */
export function decoded(bytes: Uint8Array, contentEncoding: string): Uint8Array | undefined {
  const codings = codingsOf(contentEncoding)
  let content = bytes
  try {
    // RFC 9110 §8.4: listed in the order in which they were applied.
    for (const coding of codings.reverse()) {
      const decode = DECODERS.get(coding)
      if (!decode) return undefined
      content = decode(content, { maxOutputLength: MOST_DECODED })
    }
    return content
  } catch {
    return undefined
  }
}

/** The same answer without content coding where that can be done, else as it is. */
export function decodedAnswer<A extends Coded>(answer: A): A {
  const contentEncoding = fieldOf(answer, 'content-encoding')
  if (contentEncoding === undefined) return answer
  const body = answer.body && answer.body.length > 0 ? decoded(answer.body, contentEncoding) : answer.body
  if (body === undefined) return answer
  return { ...answer, headers: answer.headers.filter(([name]) => !OF_CODED_BYTES.has(name.toLowerCase())), body }
}

/** A kept answer as this request takes it: coded only where its `Accept-Encoding` admits that, or nothing here can decode it. */
export function acceptableAnswer<A extends Coded>(answer: A, acceptEncoding: string | null | undefined): A {
  const contentEncoding = fieldOf(answer, 'content-encoding')
  if (contentEncoding === undefined || codingsOf(contentEncoding).every((coding) => accepts(acceptEncoding, coding)))
    return answer
  return decodedAnswer(answer)
}

function codingsOf(contentEncoding: string): string[] {
  const codings = contentEncoding.split(',').map((coding) => coding.trim().toLowerCase())
  return codings.filter((coding) => coding !== '' && coding !== 'identity')
}

/** RFC 9110 §12.5.3. A request without the field takes any coding; we stay on the safe side and send none. */
function accepts(acceptEncoding: string | null | undefined, coding: string): boolean {
  const weights = new Map<string, number>()
  for (const member of (acceptEncoding ?? '').toLowerCase().split(',')) {
    const [name = '', ...parameters] = member.split(';').map((text) => text.trim())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
    weights.set(name, weight === undefined ? 1 : Number(weight) || 0)
  }
  return (weights.get(coding) ?? weights.get('*') ?? 0) > 0
}

function fieldOf({ headers }: Coded, name: string): string | undefined {
  const lines = headers.filter(([line]) => line.toLowerCase() === name)
  return lines.length === 0 ? undefined : lines.map(([, value]) => value).join(', ')
}
