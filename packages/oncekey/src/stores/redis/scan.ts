/** Goes through the records, primary after primary, in bounded steps. */
import type { Connection, Server } from './connection.ts'
import type { Keys } from './keys.ts'

/** Where a scan is: SCAN keeps nothing in the server, so that anybody can go on from here. */
export interface Place {
  readonly server: string
  readonly cursor: string
}
export interface Page {
  readonly ids: readonly string[]
  /** Where to go on; nothing at the end. */
  readonly next?: Place
}

/** A step of SCAN holds the server up for a moment: about a millisecond for so many keys. */
const MOST = 1_000

/**
 * The keys that were there from the first page to the last are all found, some of them twice where the server's table
 * grows meanwhile. A primary that is gone is passed over for the next in the order of their names.
 */
export async function pageAt(
  connection: Connection,
  keys: Keys,
  place: Place | undefined,
  wanted: number,
): Promise<Page> {
  const servers = [...(await connection.primaries())].sort((a, b) => (a.name < b.name ? -1 : 1))
  const at = place === undefined ? 0 : servers.findIndex(({ name }) => name >= place.server)
  const server = servers[at]
  if (!server) return { ids: [] }
  const from = place?.server === server.name ? place.cursor : '0'
  const { cursor, ids } = await ours(server, keys, from, Math.max(1, Math.min(wanted, MOST)))
  if (cursor !== '0') return { ids, next: { server: server.name, cursor } }
  const following = servers[at + 1]
  return following ? { ids, next: { server: following.name, cursor: '0' } } : { ids }
}

/** Goes on, in wider steps, over keys that are not ours, until there is one of ours or a step was as wide as it may be. */
async function ours(server: Server, keys: Keys, from: string, wanted: number) {
  for (let cursor = from, count = wanted; ; count = Math.min(2 * count, MOST)) {
    const page = await scan(server, keys.pattern, cursor, count)
    const ids = page.found.map(keys.idIn).filter((id) => id !== undefined)
    cursor = page.cursor
    if (ids.length > 0 || cursor === '0' || count === MOST) return { cursor, ids }
  }
}

async function scan(server: Server, pattern: string, cursor: string, count: number) {
  const [next, found] = (await server.command('SCAN', cursor, 'MATCH', pattern, 'COUNT', String(count))) as [
    unknown,
    unknown[],
  ]
  return { cursor: String(next), found: found.map(String) }
}

export async function* allIds(connection: Connection, keys: Keys): AsyncGenerator<readonly string[]> {
  for (let place: Place | undefined; ; ) {
    const { ids, next }: Page = await pageAt(connection, keys, place, MOST)
    yield ids
    if (!next) return
    place = next
  }
}

export function writePlace(place: Place | undefined): string {
  return place ? `${place.cursor} ${place.server}` : ''
}

export function readPlace(text: string): Place | undefined {
  const [, cursor, server] = /^(\d+) (.*)$/.exec(text) ?? []
  return cursor === undefined || server === undefined ? undefined : { cursor, server }
}
