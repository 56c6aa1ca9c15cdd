/** ioredis and its namesakes (iovalkey), a single server or a cluster, by shape. */
import type { Connection, Server } from './connection.ts'

export interface IoredisNode {
  readonly status: string
  readonly options: { readonly host?: string | undefined; readonly port?: number | undefined }
  call(command: string, ...args: string[]): Promise<unknown>
}
export interface IoredisClient {
  readonly status: string
  readonly options: { readonly keyPrefix?: unknown }
  evalsha(sha: string, keys: number, ...args: (string | Buffer)[]): Promise<unknown>
  connect(): Promise<unknown>
  // biome-ignore lint/suspicious/noExplicitAny: whatever the library's listeners take.
  on(event: string, listener: (...args: any[]) => void): unknown
  // biome-ignore lint/suspicious/noExplicitAny: the same.
  off(event: string, listener: (...args: any[]) => void): unknown
  /** Only a cluster has it. */
  nodes?(role: 'master'): readonly IoredisNode[]
}

/** What ioredis has for every command, and declares for those alone whose replies it knows. */
interface InBytes {
  evalshaBuffer: IoredisClient['evalsha']
  evalBuffer: IoredisClient['evalsha']
}

export function overIoredis(client: IoredisClient): Connection {
  const { keyPrefix = '' } = client.options
  const inBytes = client as IoredisClient & InBytes
  return {
    keyPrefix: String(keyPrefix),
    // Not `callBuffer`: with automatic pipelining ioredis 6 loses the command's name there.
    evaluate: (command, script, key, args) =>
      inBytes[command === 'EVALSHA' ? 'evalshaBuffer' : 'evalBuffer'](script, 1, key, ...args),
    isReady: () => client.status === 'ready',
    isEnded: () => client.status === 'end' || client.status === 'disconnecting',
    onReady(listener) {
      // `lazyConnect`: a command would connect, and none is sent before there is a connection.
      if (client.status === 'wait') client.connect().catch(() => {})
      client.on('ready', listener)
      return () => client.off('ready', listener)
    },
    // An error that nobody listens to is logged by the library, and ends nothing.
    async primaries() {
      const nodes = client.nodes ? client.nodes('master') : [client as unknown as IoredisNode]
      return nodes.map(serverOf)
    },
  }
}

function serverOf(node: IoredisNode): Server {
  const { host = '', port = 0 } = node.options
  return { name: `${host}:${port}`, command: (name, ...args) => node.call(name, ...args) }
}
