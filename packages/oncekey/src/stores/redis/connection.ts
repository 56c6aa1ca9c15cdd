/** What the store asks of a client library; ioredis and node-redis, alone and in a cluster, each give it their way. */
import type { Buffer } from 'node:buffer'

export type Argument = string | Buffer

/** One server, asked directly: to scan it, and to see how it is set up. Replies are texts and lists of texts. */
export interface Server {
  /** The same for as long as the server has its address. */
  readonly name: string
  command(name: string, ...args: string[]): Promise<unknown>
}

export interface Connection {
  /** What the library itself puts in front of keys, where it does. */
  readonly keyPrefix: string
  /** EVALSHA or EVAL with one key, on the primary that has it. Replies are bytes and lists of bytes. */
  evaluate(command: 'EVALSHA' | 'EVAL', script: string, key: string, args: readonly Argument[]): Promise<unknown>
  /** Whether a command would be sent now. One that the library keeps for later would run after its caller was answered. */
  isReady(): boolean
  /** Whether waiting for it makes sense. */
  isEnded(): boolean
  /** Called when a connection may have become ready; returns what ends that. */
  onReady(listener: () => void): () => void
  /** Where an error that nobody listens to ends the process: listens. Returns what ends that. */
  onError?(listener: (error: unknown, others: number) => void): () => void
  primaries(): Promise<readonly Server[]>
}
