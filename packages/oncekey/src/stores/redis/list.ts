/** Lists and counts: Redis has no order, so every page goes through all keys and keeps the first of what is left. */
import type { KeyRecord } from '../../core/record.ts'
import type { Admin } from '../../core/store.ts'
import type { Connection } from './connection.ts'
import { type Parts, standing } from './driver.ts'
import { allIds } from './scan.ts'

/** Records read at once while a page is given out. */
const AT_ONCE = 100

export interface Lister {
  records: Admin['list']
  stats: Admin['stats']
}

export function lister({
  connection,
  send,
  keys,
  scripts,
  ready,
}: Parts & { readonly connection: Connection }): Lister {
  async function peek(id: string): Promise<KeyRecord | undefined> {
    const seen = standing(id, await send(scripts.peek, keys.record(id)))
    return seen.kind === 'absent' || seen.over ? undefined : seen.record
  }
  async function read(id: string): Promise<KeyRecord | undefined> {
    const seen = standing(id, await send(scripts.read, keys.record(id)))
    return seen.kind === 'absent' || seen.over ? undefined : seen.record
  }

  /** The first `limit` ids behind `after`, of that state. */
  async function first(limit: number, after: string, state: KeyRecord['state'] | undefined): Promise<string[]> {
    let best: string[] = []
    for await (const ids of allIds(connection, keys)) {
      const bar = best.length >= limit ? best[limit - 1] : undefined
      const candidates = ids.filter((id) => id > after && (bar === undefined || id < bar))
      const found = await Promise.all(candidates.map(peek))
      const chosen = found.filter((record) => record && (state === undefined || record.state === state))
      best = [...new Set([...best, ...chosen.map((record) => record?.id ?? '')])].sort().slice(0, limit)
    }
    return best
  }

  return {
    async *records({ state, after = '', limit = 100 } = {}) {
      await ready()
      const ids = await first(limit, after, state)
      for (let at = 0; at < ids.length; at += AT_ONCE) {
        for (const record of await Promise.all(ids.slice(at, at + AT_ONCE).map(read)))
          if (record && (state === undefined || record.state === state)) yield record
      }
    },
    async stats() {
      await ready()
      const counts = { running: 0, open: 0, finished: 0, unknown: 0 }
      const counted = new Set<string>()
      for await (const ids of allIds(connection, keys)) {
        // SCAN may show a key twice.
        const fresh = [...new Set(ids)].filter((id) => !counted.has(id))
        for (const id of fresh) counted.add(id)
        for (const record of await Promise.all(fresh.map(peek))) if (record) counts[record.state]++
      }
      return counts
    },
  }
}
