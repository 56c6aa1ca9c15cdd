/** An HTTP/1.1 client on a bare socket: it sends what no client library would (two lines of one field, half a request), and sees what none shows. */
import { connect, type Socket } from 'node:net'

export interface WireRequest {
  readonly method?: string
  readonly path: string
  /** One entry per line; `Host` and framing are added. */
  readonly headers?: readonly (readonly [name: string, value: string])[]
  readonly body?: string | Uint8Array
}

export interface WireAnswer {
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** All lines of a field, joined. */
  header(name: string): string | undefined
  lines(name: string): readonly string[]
  readonly body: Buffer
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: the body is whatever the server sent
  readonly json: any
}

export interface Wire extends Disposable {
  /** Sends one request on this connection and reads its answer. Rejects when the connection ends before the answer does. */
  send(request: WireRequest): Promise<WireAnswer>
  /** Hangs up, whatever is under way. */
  hangUp(): void
}

/** A hang is a failure, not a wait: longer than any rule needs. */
const PATIENCE_MS = 15_000

export async function openWire(port: number, patienceMs = PATIENCE_MS): Promise<Wire> {
  const socket = connect({ port, host: '127.0.0.1' })
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  // Reads tell of errors; a socket without a listener would end the process.
  socket.on('error', () => {})
  const read = reader(socket, patienceMs)
  return {
    async send(request) {
      socket.write(requestBytes(request))
      return readAnswer(read)
    },
    hangUp: () => socket.destroy(),
    [Symbol.dispose]: () => socket.destroy(),
  }
}

/** One request on a connection of its own. */
export async function sendOnce(port: number, request: WireRequest, patienceMs?: number): Promise<WireAnswer> {
  using wire = await openWire(port, patienceMs)
  return await wire.send(request)
}

function requestBytes({ method = 'POST', path, headers = [], body }: WireRequest): Buffer {
  const bytes = body === undefined ? Buffer.alloc(0) : Buffer.from(body as string)
  const framing = body === undefined ? [] : [`content-length: ${bytes.length}`]
  const lines = headers.map(([name, value]) => `${name}: ${value}`)
  const head = [`${method} ${path} HTTP/1.1`, 'host: 127.0.0.1', ...framing, ...lines, '', ''].join('\r\n')
  return Buffer.concat([Buffer.from(head, 'latin1'), bytes])
}

/** Gives bytes as they come: up to a mark, or a number of them. */
interface Reading {
  until(mark: string): Promise<Buffer>
  exactly(length: number): Promise<Buffer>
  rest(): Promise<Buffer>
}

function reader(socket: Socket, patienceMs: number): Reading {
  let buffered: Buffer = Buffer.alloc(0)
  let ended = false
  let late = false
  let wake: (() => void) | undefined
  socket.on('data', (chunk: Buffer) => {
    buffered = Buffer.concat([buffered, chunk])
    wake?.()
  })
  socket.on('close', () => {
    ended = true
    wake?.()
  })
  async function more(): Promise<void> {
    if (ended) throw new Error(late ? `no answer in ${patienceMs} ms` : 'the connection ended before the answer did')
    const timer = setTimeout(() => {
      late = true
      socket.destroy()
    }, patienceMs)
    await new Promise<void>((resolve) => {
      wake = resolve
    })
    clearTimeout(timer)
  }
  function take(length: number): Buffer {
    const taken = buffered.subarray(0, length)
    buffered = buffered.subarray(length)
    return taken
  }
  return {
    async until(mark) {
      for (let at = buffered.indexOf(mark); ; at = buffered.indexOf(mark)) {
        if (at >= 0) return take(at + mark.length)
        await more()
      }
    },
    async exactly(length) {
      while (buffered.length < length) await more()
      return take(length)
    },
    async rest() {
      while (!ended) await more().catch(() => {})
      return take(buffered.length)
    },
  }
}

async function readAnswer(read: Reading): Promise<WireAnswer> {
  const head = (await read.until('\r\n\r\n')).toString('latin1').split('\r\n')
  const status = Number(head[0]?.split(' ')[1])
  const headers = head.slice(1, -2).map((line): [string, string] => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
  })
  const lines = (name: string): string[] =>
    headers.filter(([one]) => one === name.toLowerCase()).map(([, value]) => value)
  if (status === 100) return readAnswer(read)
  const body = await readBody(read, { status, chunked: lines('transfer-encoding')[0], length: lines('content-length') })
  return {
    status,
    headers,
    lines,
    header: (name) => (lines(name).length === 0 ? undefined : lines(name).join(', ')),
    body,
    get text() {
      return body.toString('utf8')
    },
    get json() {
      return JSON.parse(body.toString('utf8'))
    },
  }
}

interface Framing {
  readonly status: number
  readonly chunked: string | undefined
  readonly length: readonly string[]
}

/** RFC 9112 §6.3, and its MUST NOTs: what is framed twice, or framed and bodiless, is an error here. */
async function readBody(read: Reading, { status, chunked, length }: Framing): Promise<Buffer> {
  if (chunked !== undefined && length.length > 0) throw new Error('both Transfer-Encoding and Content-Length')
  if (status === 204 && (chunked !== undefined || length.length > 0)) throw new Error('a 204 with framing headers')
  if (status === 204 || status === 304) return Buffer.alloc(0)
  if (length[0] !== undefined) return read.exactly(Number(length[0]))
  if (chunked === undefined) return read.rest()
  const chunks: Buffer[] = []
  for (;;) {
    const size = Number.parseInt((await read.until('\r\n')).toString('latin1'), 16)
    if (size === 0) break
    chunks.push(await read.exactly(size))
    await read.exactly(2)
  }
  // Trailers, then the empty line.
  while ((await read.until('\r\n')).length > 2);
  return Buffer.concat(chunks)
}
