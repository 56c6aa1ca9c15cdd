/** A request frozen before its first attempt: one key, one header that carries it, the same bytes each time. */
import { OncekeyError } from '../core/errors.ts'
import { newKey } from './keys.ts'

export interface OneRequest {
  /** The operation's key. Without it the key header in `headers` counts, in any casing; without that, a new one is made. */
  readonly key?: string
  /** Default `POST`. */
  readonly method?: string
  readonly headers?: ConstructorParameters<typeof Headers>[0]
  /** Anything that can be sent twice; a stream cannot. */
  readonly body?: string | Uint8Array | ArrayBuffer | URLSearchParams | FormData | Blob
  /** Serialised once, with `content-type: application/json`. */
  readonly json?: unknown
}

export interface Frozen {
  readonly key: string
  readonly method: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Uint8Array | undefined
}

export async function freeze(request: OneRequest, headerName: string): Promise<Frozen> {
  const { body, json, method = 'POST' } = request
  if (body !== undefined && json !== undefined) refuse('Both body and json are given.', 'Give one of them.')
  if (body instanceof ReadableStream)
    refuse('The body is a stream, which can be sent only once.', 'Read it into bytes first.')
  const headers = new Headers(request.headers)
  const given = headers.get(headerName) ?? undefined
  const key = request.key ?? (given === undefined ? newKey() : bare(given))
  if (given !== undefined && bare(given) !== key)
    refuse(`The request has two keys: one as key, one in its ${headerName} header.`, 'Give one of them.')
  headers.set(headerName, onTheWire(key))
  if (json !== undefined && !headers.has('content-type')) headers.set('content-type', 'application/json')
  const bytes = await bytesOf(json === undefined ? body : JSON.stringify(json), headers)
  return { key, method: method.toUpperCase(), headers: [...headers], body: bytes }
}

/** `Response` knows how every kind of body is written; a form's boundary is fixed here, once. */
async function bytesOf(
  body: Exclude<OneRequest['body'], undefined> | undefined,
  headers: Headers,
): Promise<Uint8Array | undefined> {
  if (body === undefined) return undefined
  const written = new Response(body as never)
  const type = written.headers.get('content-type')
  if (type !== null && !headers.has('content-type')) headers.set('content-type', type)
  return new Uint8Array(await written.arrayBuffer())
}

/** Bare where the providers' own clients would send it so; the draft's quoted string where the key needs it. Both are one key. */
function onTheWire(key: string): string {
  if (key === '' || key.length > 255) refuse(`The key has ${key.length} characters.`, 'Give 1 to 255.')
  if (/^[A-Za-z0-9\-_+/.~*][A-Za-z0-9!#$%&'*+\-.^_`|~:/=@]*$/.test(key)) return key
  if (!/^[\x20-\x7e]*$/.test(key))
    refuse(
      'The key has characters that no header can carry.',
      'Use printable ASCII, such as newKey() or keyFor() give.',
    )
  return `"${key.replace(/["\\]/g, '\\$&')}"`
}

function bare(value: string): string {
  return value.startsWith('"') && value.endsWith('"') && value.length > 1
    ? value.slice(1, -1).replace(/\\(["\\])/g, '$1')
    : value
}

function refuse(what: string, fix: string): never {
  const why =
    'Every attempt must carry the same key and the same bytes, or the server takes them for different operations.'
  throw new OncekeyError('INVALID_OPTION', { what, where: 'send', why, fix })
}
