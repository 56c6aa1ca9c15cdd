import { onTestFinished } from 'vitest'
import { type Arena, type Ground, unused } from '../charges/charging.ts'
import { redisClient, redisUrl, removeKeys } from '../redis.ts'

function arena(name: string, env: Readonly<Record<string, string>>): Arena {
  return { name, mode: 'lease', effect: 'outside', ground: () => ground(env) }
}

export const redisArena = arena('Redis by ioredis', {})
export const nodeRedisArena = arena('Redis by node-redis', { CLIENT: 'node-redis' })

async function ground(env: Readonly<Record<string, string>>): Promise<Ground> {
  const prefix = `${unused()}:`
  const client = redisClient()
  onTestFinished(async () => {
    await removeKeys(client, prefix)
    client.disconnect()
  })
  return {
    env: { STORE: redisUrl(), PREFIX: prefix, ...env },
    charges: () => client.scard(`${prefix}charges`),
    starts: async () => Number(await client.get(`${prefix}starts`)),
  }
}
