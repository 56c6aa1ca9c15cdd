/** multipart/form-data by its parts, so that a retry with another random boundary is the same request. */
import { hex, sha256 } from '../core/digest.ts'

/**
 * Name, file name, type, other header lines and the digest of the content, for each part in order. Nothing for a body
 * that is not strictly well-formed: it is then compared by its bytes, which never takes two requests for one.
 */
export function multipartParts(bytes: Uint8Array, contentType: string): string[] | undefined {
  const boundary = boundaryOf(contentType)
  if (boundary === undefined) return undefined
  // windows-1252 (as `latin1` is read) gives one character for each byte: places in the text are places in the bytes.
  const text = `\r\n${new TextDecoder('latin1').decode(bytes)}`
  const delimiter = `\r\n--${boundary}`
  if (!text.startsWith(delimiter)) return undefined
  const parts: string[] = []
  let count = 0
  let at = delimiter.length
  while (text.startsWith('\r\n', at)) {
    const headEnd = text.indexOf('\r\n\r\n', at + 2)
    const content = headEnd + 4
    const next = headEnd < 0 ? -1 : text.indexOf(delimiter, content)
    const head = next < 0 ? undefined : headOf(text.slice(at + 2, headEnd))
    if (head === undefined) return undefined
    // The text stands two characters behind the bytes.
    parts.push(...head, hex(sha256(bytes.subarray(content - 2, next - 2))))
    count++
    at = next + delimiter.length
  }
  return /^--(?:\r\n)?$/.test(text.slice(at, at + 5)) ? [String(count), ...parts] : undefined
}

/** RFC 2046 §5.1.1: 1 to 70 characters of a small alphabet, not ending in a space. */
function boundaryOf(contentType: string): string | undefined {
  const [, quoted, bare] = /;\s*boundary=(?:"([^"\\]*)"|([^\s;"]+))/i.exec(contentType) ?? []
  const boundary = quoted ?? bare ?? ''
  return /^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/.test(boundary) ? boundary : undefined
}

/** More than a name and a file name take; nobody's part heads are as long. */
const MOST_HEAD = 8_192

/** Name, file name, type, the other lines; a part that is not `form-data` with a name is none. */
function headOf(head: string): [string, string, string, string] | undefined {
  if (head.length > MOST_HEAD) return undefined
  const fields = new Map<string, string>()
  for (const line of head.split('\r\n')) {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase()
    if (!/^[\w-]+$/.test(name) || fields.has(name)) return undefined
    fields.set(name, line.slice(colon + 1).trim())
  }
  const disposition = dispositionOf(fields.get('content-disposition') ?? '')
  const type = fields.get('content-type') ?? ''
  fields.delete('content-disposition')
  fields.delete('content-type')
  return disposition && [disposition.name, disposition.file, type, sorted(fields)]
}

/** Quoted as browsers write it (whatwg/html: `%22` for a quote), with or without a file name in front or behind. */
function dispositionOf(value: string): { readonly name: string; readonly file: string } | undefined {
  const parameters = new Map<string, string>()
  const [kind = '', ...rest] = value.split(/;[ \t]*(?=[\w*-]+=)/)
  for (const parameter of rest) {
    const [, key = '', quoted, bare] = /^([\w*-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))$/s.exec(parameter) ?? []
    if (key === '' || parameters.has(key.toLowerCase())) return undefined
    parameters.set(key.toLowerCase(), quoted ?? bare ?? '')
  }
  const name = parameters.get('name')
  if (name === undefined || !/^form-data$/i.test(kind.trim())) return undefined
  parameters.delete('name')
  return { name, file: sorted(parameters) }
}

/** Their order means nothing; names are distinct. */
function sorted(fields: ReadonlyMap<string, string>): string {
  return JSON.stringify([...fields].sort(([one], [other]) => (one < other ? -1 : 1)))
}
