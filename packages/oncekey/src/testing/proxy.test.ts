/** The proxy against a tiny server: what each fault does to a client, and what the server still gets. */
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type FaultProxy, faultProxy } from './proxy.ts'

describe('the fault proxy in front of an echo server', () => {
  let server: Server
  let received: string[]
  let proxy: FaultProxy
  const clients: Socket[] = []

  beforeAll(async () => {
    server = createServer((socket) => {
      socket.on('error', () => {})
      socket.on('data', (bytes) => {
        received.push(bytes.toString())
        socket.write(`<${bytes.toString()}>`)
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  beforeEach(async () => {
    received = []
    proxy = await faultProxy({ to: `tcp://127.0.0.1:${(server.address() as { port: number }).port}` })
  })
  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy()
    await proxy[Symbol.asyncDispose]()
  })
  afterAll(async () => {
    server.close()
    await once(server, 'close')
  })

  it('passes both directions on where nothing is armed', async () => {
    const client = await open()
    expect(await ask(client, 'one')).toBe('<one>')
    expect(await ask(client, 'two')).toBe('<two>')
  })

  it('cuts before the server gets the message', async () => {
    const client = await open()
    const armed = proxy.next('commit', { kind: 'cut', at: 'request' })
    expect(await ask(client, 'insert')).toBe('<insert>')
    expect(await ask(client, 'COMMIT')).toBe('ECONNRESET')
    await armed.struck
    expect(received).toEqual(['insert'])
  })

  it('cuts after the server has answered, and the client never sees the answer', async () => {
    const client = await open()
    const armed = proxy.next(/^commit$/, { kind: 'cut', at: 'answer' })
    expect(await ask(client, 'commit')).toBe('ECONNRESET')
    await armed.struck
    expect(received).toEqual(['commit'])
  })

  it('can end a connection politely too', async () => {
    const client = await open()
    proxy.next('x', { kind: 'cut', at: 'request', by: 'end' })
    expect(await ask(client, 'x')).toBe('end')
  })

  it('strikes once', async () => {
    proxy.next('x', { kind: 'cut', at: 'request' })
    expect(await ask(await open(), 'x')).toBe('ECONNRESET')
    expect(await ask(await open(), 'x')).toBe('<x>')
  })

  it('does not strike once it is disarmed', async () => {
    proxy.next('x', { kind: 'cut', at: 'request' }).disarm()
    expect(await ask(await open(), 'x')).toBe('<x>')
  })

  it('drops one answer and lets the connection live', async () => {
    const client = await open()
    const armed = proxy.next('lost', { kind: 'drop' })
    client.write('lost')
    await armed.struck
    expect(await ask(client, 'next')).toBe('<next>')
    expect(received).toEqual(['lost', 'next'])
  })

  it('delays a message and its answer', async () => {
    const client = await open()
    const armed = proxy.next('slow', { kind: 'delay', requestMs: 60, answerMs: 60 })
    const asked = ask(client, 'slow')
    expect(await Promise.race([asked, sleep(30, 'nothing yet')])).toBe('nothing yet')
    expect(received).toEqual([])
    expect(await asked).toBe('<slow>')
    await armed.struck
  })

  it('silences one connection and leaves the others alone', async () => {
    const [silenced, other] = [await open(), await open()]
    const armed = proxy.next('x', { kind: 'silence', at: 'answer' })
    const asked = ask(silenced, 'x')
    await armed.struck
    expect(received).toEqual(['x'])
    expect(await ask(other, 'y')).toBe('<y>')
    expect(await Promise.race([asked, sleep(30, 'nothing')])).toBe('nothing')
  })

  it('refuses new connections while the server is down, and takes them again', async () => {
    const before = await open()
    proxy.down()
    expect(await once(before, 'error').then(([error]) => error.code)).toBe('ECONNRESET')
    await expect(open()).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    await proxy.up()
    expect(await ask(await open(), 'x')).toBe('<x>')
  })

  it('takes the whole server down with one message', async () => {
    const [client, other] = [await open(), await open()]
    const gone = once(other, 'error')
    proxy.next('x', { kind: 'cut', at: 'answer', reach: 'server' })
    expect(await ask(client, 'x')).toBe('ECONNRESET')
    await gone
    await expect(open()).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

  it('hangs: connections are accepted and nothing is said', async () => {
    proxy.silence()
    const client = await open()
    expect(await Promise.race([ask(client, 'x'), sleep(50, 'nothing')])).toBe('nothing')
    expect(received).toEqual([])
    await proxy.up()
    expect(await ask(await open(), 'x')).toBe('<x>')
  })

  it('counts flights: what is sent before an answer came is one', async () => {
    await using slow = await faultProxy({ to: proxy.url, latencyMs: 15 })
    const client = await open(slow.port)
    client.write('a')
    await sleep(2)
    expect(await ask(client, 'b')).toMatch(/^<a/)
    await sleep(40)
    await ask(client, 'c')
    client.write('not waited for')
    await sleep(25)
    expect(slow.flights).toEqual({ sent: 3, answered: 2 })
  })

  it('leaves no connection open when it is disposed', async () => {
    const client = await open()
    await ask(client, 'x')
    const gone = once(client, 'error')
    await proxy[Symbol.asyncDispose]()
    await gone
    expect(proxy.connections).toBe(0)
  })

  async function open(port = proxy.port): Promise<Socket> {
    const client = connect(port, '127.0.0.1')
    clients.push(client)
    await once(client, 'connect')
    client.on('error', () => {})
    return client
  }

  function ask(client: Socket, message: string): Promise<string> {
    const answer = new Promise<string>((resolve) => {
      client.once('data', (bytes) => resolve(bytes.toString()))
      client.once('error', (error: NodeJS.ErrnoException) => resolve(String(error.code)))
      client.once('end', () => resolve('end'))
    })
    client.write(message)
    return answer
  }
})
