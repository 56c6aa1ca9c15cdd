// The store contract on Redis as people use it: the factory, a client of theirs, real time.
import { describe, it } from 'vitest'
import { milliseconds } from '../../packages/oncekey/src/core/clock.ts'
import type { Forgetful, Store } from '../../packages/oncekey/src/core/store.ts'
import { leased } from '../../packages/oncekey/src/stores/leased.ts'
import { connectionOf } from '../../packages/oncekey/src/stores/redis/client.ts'
import { type RedisClient, redis } from '../../packages/oncekey/src/stores/redis/index.ts'
import { keysUnder } from '../../packages/oncekey/src/stores/redis/keys.ts'
import { openDriver } from '../../packages/oncekey/src/stores/redis/open-driver.ts'
import { faulty } from '../../packages/oncekey/src/testing/faulty.ts'
import type { Settings, Subject } from '../../packages/oncekey/src/testing/store-contract/subject.ts'
import { storeContract } from '../../packages/oncekey/src/testing/store-contract.ts'

export interface ContractOn {
  readonly name: string
  readonly prefix: string
  readonly client: () => RedisClient
  /** Removes every key with the prefix. */
  readonly empty: () => Promise<void>
  /** Overwrites a byte of a key. */
  readonly setFirstByte: (key: string, byte: string) => Promise<unknown>
  /** Ends the connections of the client. */
  readonly sever?: () => Promise<unknown>
  /** Replies are lost, which takes the factory's parts instead of the factory. */
  readonly faults?: boolean
}

export function redisContract({ name, prefix, client, empty, setFirstByte, sever, faults = false }: ContractOn): void {
  const keys = keysUnder(prefix, '')

  /** The factory's own parts, with faults between bracket and port. */
  function withFaults(settings: Settings) {
    const retainMs = milliseconds(settings.retain ?? '24h', 'retain')
    // What is enough for a store in memory is too little for a server that shares two cores with these tests.
    const claimMs = Math.max(1_000, milliseconds(settings.claimMs ?? 0, 'claimMs'))
    const opened = openDriver(connectionOf(client()), { prefix, retainMs, patienceMs: claimMs })
    const { driver, faults: befall } = faulty(opened)
    return { store: leased(driver, { ...settings, claimMs }), faults: befall }
  }
  function open(settings: Settings): Store<Forgetful> {
    return faults ? withFaults(settings).store : redis(client(), { prefix, ...settings })
  }

  async function make(settings: Settings): Promise<Subject<Forgetful>> {
    await empty()
    const made = faults ? withFaults(settings) : { store: open(settings) }
    let current = made.store
    return {
      ...made,
      another: (others) => open(others),
      async reopen() {
        await current[Symbol.asyncDispose]()
        current = open(settings)
        return current
      },
      async damage(id) {
        await setFirstByte(keys.record(id), '*')
      },
      ...(sever
        ? {
            async sever() {
              await sever()
            },
          }
        : {}),
      [Symbol.asyncDispose]: () => current[Symbol.asyncDispose](),
    }
  }

  storeContract(
    make,
    {
      name,
      mode: 'lease',
      clock: 'real',
      several: true,
      reopen: true,
      damage: true,
      ...(sever ? { sever: true } : {}),
      ...(faults ? { faults: true } : {}),
    },
    { runner: { describe, it } },
  )
}
