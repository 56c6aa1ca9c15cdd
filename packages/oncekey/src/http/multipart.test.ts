import { describe, expect, it } from 'vitest'
import { multipartParts } from './multipart.ts'

const NAME = 'Content-Disposition: form-data; name="a"'

describe('multipart/form-data', () => {
  it('is the same for every boundary (BlindPay ignores keys on it, since boundaries are random)', async () => {
    const form = new FormData()
    form.set('amount', '10')
    form.set('file', new File([new Uint8Array([0, 13, 10, 255, 128])], 'a "b" é.bin', { type: 'image/png' }))
    const [one, other] = [await sent(form), await sent(form)]
    expect(one.contentType).not.toBe(other.contentType)
    const parts = multipartParts(one.bytes, one.contentType)
    expect(parts).toEqual(multipartParts(other.bytes, other.contentType))
    expect(parts?.[0]).toBe('2')
    expect(parts?.slice(1, 4)).toEqual(['amount', '[]', ''])
    expect(parts?.[8]).toBe('image/png')
  })

  const first = parsed([NAME, 'Content-Type: text/plain'], 'x')
  it.each<[string, string[] | undefined]>([
    ['the name', parsed(['Content-Disposition: form-data; name="b"', 'Content-Type: text/plain'], 'x')],
    ['the file name', parsed([`${NAME}; filename="f"`, 'Content-Type: text/plain'], 'x')],
    ['an encoded file name', parsed([`${NAME}; filename*=utf-8''f`, 'Content-Type: text/plain'], 'x')],
    ['the type', parsed([NAME, 'Content-Type: text/html'], 'x')],
    ['no type', parsed([NAME], 'x')],
    ['another header', parsed([NAME, 'Content-Type: text/plain', 'Content-Transfer-Encoding: base64'], 'x')],
    ['the content', parsed([NAME, 'Content-Type: text/plain'], 'y')],
    ['no content', parsed([NAME, 'Content-Type: text/plain'], '')],
    ['a line end more', parsed([NAME, 'Content-Type: text/plain'], 'x\r\n')],
  ])('counts %s', (_, other) => {
    expect(other).toBeDefined()
    expect(other).not.toEqual(first)
  })

  it('counts the order of parts, and how many there are', () => {
    const part = (name: string, content: string): string =>
      `--b\r\n${NAME.replace('"a"', `"${name}"`)}\r\n\r\n${content}\r\n`
    const [one, other] = [part('a', '1'), part('b', '2')]
    expect(read(`${one}${other}--b--\r\n`)).not.toEqual(read(`${other}${one}--b--\r\n`))
    expect(read(`${one}${one}--b--\r\n`)).not.toEqual(read(`${one}--b--\r\n`))
    expect(read('--b--\r\n')).toEqual(['0'])
  })

  it('takes header names and parameters in any case, quoted or bare', () => {
    expect(parsed(['content-disposition:form-data;NAME=a', 'CONTENT-TYPE: text/plain '], 'x')).toEqual(first)
  })

  it('does not count the order of headers and parameters', () => {
    const one = parsed([`${NAME}; filename="f"; filename*=utf-8''f`, 'X-A: 1', 'X-B: 2'], 'x')
    const other = parsed(
      ['X-B: 2', 'X-A: 1', `Content-Disposition: form-data; filename*=utf-8''f; filename="f"; name="a"`],
      'x',
    )
    expect(one).toBeDefined()
    expect(other).toEqual(one)
  })

  it('reads a quoted boundary', () => {
    const bytes = new TextEncoder().encode(`--b c\r\n${NAME}\r\n\r\nx\r\n--b c--`)
    expect(multipartParts(bytes, 'multipart/form-data; charset=utf-8; boundary="b c"')).toBeDefined()
  })

  it.each([
    ['no final boundary', `--b\r\n${NAME}\r\n\r\nx\r\n`],
    ['no boundary at all', 'x'],
    ['nothing', ''],
    ['a preamble', `hello\r\n--b\r\n${NAME}\r\n\r\nx\r\n--b--\r\n`],
    ['an epilogue', `--b\r\n${NAME}\r\n\r\nx\r\n--b--\r\nhidden`],
    ['a boundary that goes on', `--b\r\n${NAME}\r\n\r\nx\r\n--bee\r\ny\r\n--b--\r\n`],
    ['bare line feeds', `--b\n${NAME}\n\nx\n--b--\n`],
    ['no name', '--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--\r\n'],
    ['no disposition', '--b\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--\r\n'],
    ['two dispositions', `--b\r\n${NAME}\r\n${NAME}\r\n\r\nx\r\n--b--\r\n`],
    ['two names', `--b\r\n${NAME}; name="c"\r\n\r\nx\r\n--b--\r\n`],
    ['an unfinished quote', '--b\r\nContent-Disposition: form-data; name="a\r\n\r\nx\r\n--b--\r\n'],
    ['a folded header', `--b\r\n${NAME}\r\n X: y\r\n\r\nx\r\n--b--\r\n`],
    ['a header without a colon', `--b\r\n${NAME}\r\nX\r\n\r\nx\r\n--b--\r\n`],
    ['an endless head', `--b\r\n${NAME}; filename="${'f'.repeat(1_000_000)}"\r\n\r\nx\r\n--b--\r\n`],
    ['headers that never end', `--b\r\n${NAME}\r\nx\r\n--b--\r\n`],
  ])('leaves a body that is not strictly well-formed to its bytes: %s', (_, body) => {
    expect(read(body)).toBeUndefined()
  })

  it.each([
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary="a\u00e9"',
    `multipart/form-data; boundary=${'b'.repeat(71)}`,
  ])('leaves a body without a usable boundary to its bytes: %s', (contentType) => {
    expect(multipartParts(new TextEncoder().encode('--b--\r\n'), contentType)).toBeUndefined()
  })
})

function parsed(head: readonly string[], content: string): string[] | undefined {
  return read(`--b\r\n${head.join('\r\n')}\r\n\r\n${content}\r\n--b--\r\n`)
}

function read(body: string): string[] | undefined {
  return multipartParts(new TextEncoder().encode(body), 'multipart/form-data; boundary=b')
}

async function sent(form: FormData): Promise<{ readonly bytes: Uint8Array; readonly contentType: string }> {
  const request = new Request('http://127.0.0.1/', { method: 'POST', body: form })
  return { bytes: new Uint8Array(await request.arrayBuffer()), contentType: request.headers.get('content-type') ?? '' }
}
