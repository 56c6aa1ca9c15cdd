/** node-redis, a client or a cluster, by shape. */
import type { Connection, Server } from './connection.ts'

/** Its name for a bulk string in RESP (`RESP_TYPES.BLOB_STRING`): the character `$`. */
const BULK = 36

interface CommandOptions {
  readonly typeMapping?: { readonly [BULK]?: BufferConstructor }
  readonly timeout?: number
}
interface Emitter {
  // biome-ignore lint/suspicious/noExplicitAny: whatever the library's listeners take.
  on(event: string, listener: (...args: any[]) => void): unknown
  // biome-ignore lint/suspicious/noExplicitAny: the same.
  off(event: string, listener: (...args: any[]) => void): unknown
  listenerCount(event: string): number
}
export interface NodeRedisClient extends Emitter {
  readonly isOpen: boolean
  readonly isReady: boolean
  sendCommand(args: readonly (string | Buffer)[], options?: CommandOptions): Promise<unknown>
}
export interface NodeRedisCluster extends Emitter {
  readonly isOpen: boolean
  readonly masters: readonly { readonly address: string }[]
  // The node is handed back to the library that it came from.
  // biome-ignore lint/suspicious/noExplicitAny: its type is the library's own.
  nodeClient(node: any): Promise<Pick<NodeRedisClient, 'sendCommand'>>
  sendCommand(
    firstKey: string | undefined,
    isReadonly: boolean | undefined,
    args: (string | Buffer)[],
    options?: CommandOptions,
  ): Promise<unknown>
}

/** A command that the library has not written after this long is taken out of its queue; nobody waits for it any more. */
const UNSENT_MS = 1_000

const BYTES: CommandOptions = { typeMapping: { [BULK]: Buffer }, timeout: UNSENT_MS }
const TEXTS: CommandOptions = { typeMapping: {} }

export function overNodeRedis(client: NodeRedisClient): Connection {
  return {
    ...common(client),
    evaluate: (command, script, key, args) => client.sendCommand([command, script, '1', key, ...args], BYTES),
    isReady: () => client.isReady,
    primaries: async () => [serverOf('', client)],
  }
}

export function overNodeRedisCluster(cluster: NodeRedisCluster): Connection {
  return {
    ...common(cluster),
    evaluate: (command, script, key, args) =>
      cluster.sendCommand(key, false, [command, script, '1', key, ...args], BYTES),
    isReady: () => cluster.isOpen,
    primaries: () =>
      Promise.all(cluster.masters.map(async (node) => serverOf(node.address, await cluster.nodeClient(node)))),
  }
}

function common(client: NodeRedisClient | NodeRedisCluster) {
  return {
    // Commands given as lists are sent as they are.
    keyPrefix: '',
    isEnded: () => !client.isOpen,
    onReady(listener: () => void) {
      client.on('ready', listener)
      return () => client.off('ready', listener)
    },
    onError(listener: (error: unknown, others: number) => void) {
      const listen = (error: unknown) => listener(error, client.listenerCount('error') - 1)
      client.on('error', listen)
      return () => client.off('error', listen)
    },
  }
}

function serverOf(name: string, client: Pick<NodeRedisClient, 'sendCommand'>): Server {
  return { name, command: (command, ...args) => client.sendCommand([command, ...args], TEXTS) }
}
