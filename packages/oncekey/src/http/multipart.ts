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
  let at = delimiter.length
  while (text.startsWith('\r\n', at)) {
    const headEnd = text.startsWith('\r\n\r\n', at) ? at : text.indexOf('\r\n\r\n', at + 2)
    const next = headEnd < 0 ? -1 : text.indexOf(delimiter, headEnd + 2)
    if (next < 0) return undefined
    const head = headOf(text.slice(at + 2, Math.max(headEnd, at + 2)))
    if (head === undefined || next < headEnd + 4) return undefined
    // The text stands two characters behind the bytes.
    parts.push(...head, hex(sha256(bytes.subarray(headEnd + 4 - 2, next - 2))))
    at = next + delimiter.length
  }
  return /^--(?:\r\n)?$/.test(text.slice(at)) ? [String(parts.length / HEAD_AND_CONTENT), ...parts] : undefined
}

const HEAD_AND_CONTENT = 5

/** RFC 2046 §5.1.1: 1 to 70 characters of a small alphabet, not ending in a space. */
function boundaryOf(contentType: string): string | undefined {
  const [, quoted, bare] = /;\s*boundary=(?:"([^"\\]*)"|([^\s;"]+))/i.exec(contentType) ?? []
  const boundary = quoted ?? bare ?? ''
  return /^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/.test(boundary) ? boundary : undefined
}

/** Name, file name, type, the other lines; a part that is not `form-data` with a name is none. */
function headOf(head: string): [string, string, string, string] | undefined {
  const lines = head.split('\r\n').map((line) => /^([^\s:]+):[ \t]*(.*?)[ \t]*$/.exec(line))
  let disposition: { readonly name: string; readonly file: string } | undefined
  let type = ''
  const others: string[] = []
  for (const line of lines) {
    if (line === null) return undefined
    const [, name = '', value = ''] = line
    if (/^content-disposition$/i.test(name)) {
      if (disposition) return undefined
      disposition = dispositionOf(value)
    } else if (/^content-type$/i.test(name)) type += `${value};`
    else others.push(`${name.toLowerCase()}:${value}`)
  }
  return disposition && [disposition.name, disposition.file, type, others.sort().join('\r\n')]
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
  return { name, file: JSON.stringify([...parameters].sort()) }
}
