/** What makes two HTTP requests the same request: method, target, content type and body, as they came. */
import { type CanonicalOptions, canonicalJson } from '../core/canonical-json.ts'
import { canonicalValue } from '../core/canonical-value.ts'
import { OncekeyError } from '../core/errors.ts'
import { fingerprint, type Secret } from '../core/fingerprint.ts'
import { compilePointers } from '../core/json-pointer.ts'
import { decoded } from './content-coding.ts'
import { multipartParts } from './multipart.ts'

export type RequestBody =
  | { readonly kind: 'none' }
  /** As received. `coding` is the request's `Content-Encoding`, where the bytes still have it. */
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array; readonly coding?: string | null | undefined }
  /** What a body parser made of it: what the handler sees. JSON gives the same fingerprint as its bytes. */
  | { readonly kind: 'parsed'; readonly value: unknown }
  /** What the route's schema made of it, defaults filled in. */
  | { readonly kind: 'validated'; readonly value: unknown }

export interface ComparedRequest {
  readonly method: string
  /** The raw request target with its query, never a route's template; an absolute URL counts from its path on. */
  readonly target: string
  /** The value of `Content-Type`; only its essence counts. */
  readonly contentType?: string | null | undefined
  readonly body: RequestBody
}

/** What is compared, and since when. */
export interface Comparison extends CanonicalOptions {
  /** Counts up whenever `omit` changes: the fingerprint names it. Default `1`. */
  readonly version?: string
}

export interface RequestFingerprintOptions extends Comparison {
  /** See `FingerprintOptions`. */
  readonly secrets?: readonly Secret[]
  /** Comparisons that replicas of the release before, or the next, still write (I3). */
  readonly also?: readonly Comparison[]
}

/** For `key-reused`: what is compared, never its values. */
export const COMPARED_PARTS = ['method', 'target', 'content-type', 'body'] as const

/**
 * Fingerprints of a request, the one to write first. Taken from the request as it came, before any layer coerces it.
 *
 * @throws `INVALID_JSON` (a JSON body that is none, or names a member twice), `BODY_UNREADABLE` (a parsed body that is
 * not there: never the digest of nothing), `INVALID_OPTION`, `UNENCODABLE`.
 */
export function requestFingerprint(
  request: ComparedRequest,
  options: RequestFingerprintOptions = {},
): readonly [string, ...string[]] {
  const { secrets, also = [], ...first } = options
  const prints = [first, ...also].map((comparison) => {
    const { version = '1' } = comparison
    return fingerprint(partsOf(request, comparison), { version, ...(secrets ? { secrets } : {}) })
  })
  // Every comparison's own first secret is written by some replica: in front stands ours.
  return prints.flat() as unknown as readonly [string, ...string[]]
}

/** Judges `omit` when the route is set up rather than at its first request. Throws `INVALID_OPTION`. */
export function judgeComparison(comparison: RequestFingerprintOptions): void {
  for (const { omit = [] } of [comparison, ...(comparison.also ?? [])]) compilePointers(omit)
  fingerprint([], comparison.secrets ? { secrets: comparison.secrets } : {})
}

function partsOf(
  { method, target, contentType, body }: ComparedRequest,
  comparison: Comparison,
): (string | Uint8Array)[] {
  const essence = essenceOf(contentType)
  // fetch leaves `patch` as it was written (whatwg/fetch), every other sender has it in capitals.
  return [method.toUpperCase(), originForm(target), essence, ...bodyParts(body, { essence, contentType, comparison })]
}

/** `/path?query` of an absolute URL, so that adapters that only see a URL agree with those that see the target. */
function originForm(target: string): string {
  const path = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*([^#]*)/i.exec(target)?.[1] ?? target.replace(/#.*$/, '')
  return path.startsWith('?') || path === '' ? `/${path}` : path
}

function essenceOf(contentType: string | null | undefined): string {
  return (contentType ?? '').split(';', 1).join().trim().toLowerCase()
}

interface Reading {
  readonly essence: string
  readonly contentType: string | null | undefined
  readonly comparison: Comparison
}

const MULTIPART = 'multipart/form-data'

/** In front stands how the body was read, so that no body can pass for one of another kind. */
function bodyParts(body: RequestBody, reading: Reading): (string | Uint8Array)[] {
  switch (body.kind) {
    case 'none':
      return ['empty']
    case 'bytes':
      return bytesParts(body.bytes, body.coding, reading)
    case 'parsed':
      if (body.value === undefined) throw unreadableBody()
      // Parsers of forms put the files elsewhere, and two uploads would look the same.
      if (reading.essence === MULTIPART && !(body.value instanceof Uint8Array)) throw unreadableForm()
      if (body.value instanceof Uint8Array) return bytesParts(body.value, undefined, reading)
      return ['json', canonicalValue(body.value, reading.comparison)]
    case 'validated':
      return ['validated', canonicalValue(body.value, reading.comparison)]
    default:
      throw body satisfies never
  }
}

function bytesParts(
  bytes: Uint8Array,
  coding: string | null | undefined,
  { essence, contentType, comparison }: Reading,
): (string | Uint8Array)[] {
  if (bytes.length === 0) return ['empty']
  const plain = coding ? decoded(bytes, coding) : bytes
  if (plain === undefined) return ['coded', coding ?? '', bytes]
  if (/^(?:application|text)\/json$|\+json$/.test(essence)) return ['json', canonicalJson(plain, comparison)]
  const parts = essence === MULTIPART ? multipartParts(plain, contentType ?? '') : undefined
  return parts ? ['multipart', ...parts] : ['bytes', plain]
}

function unreadableBody(): OncekeyError {
  return new OncekeyError('BODY_UNREADABLE', {
    what: 'The body of a protected request can neither be read nor was it parsed.',
    where: 'requestFingerprint',
    why: 'The digest of nothing is the same for every request: a reused key would get another request’s answer.',
    fix: 'Mount the body parser before the protected route, or mount oncekey where the body has not been read yet.',
  })
}

function unreadableForm(): OncekeyError {
  return new OncekeyError('BODY_UNREADABLE', {
    what: 'A form with files was parsed before oncekey could read it.',
    where: 'requestFingerprint',
    why: 'What the parser left as the body does not show the files: another upload would get the answer of the first.',
    fix: 'Mount oncekey before the parser of forms, or let the route name what to compare (fields and digests of the files).',
  })
}
