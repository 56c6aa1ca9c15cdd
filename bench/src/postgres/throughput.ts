// How many new keys a second go through, with 16 and with 64 callers: here the number of messages decides, not the fsync.
import { sideBySide } from '../measure.ts'
import { ratio, rowsOf, type Section } from '../report.ts'
import type { Settings } from '../settings.ts'
import { ARTICLE, newKeys, T_PIPELINED, T_STOCK } from './contenders.ts'
import { ground } from './ground.ts'
import { storesOn } from './stores.ts'

export async function throughput(server: string, { rounds, quick }: Settings): Promise<readonly Section[]> {
  const sections: Section[] = []
  for (const callers of [16, 64]) {
    await using base = await ground(server, callers)
    await using stores = await storesOn(base, callers)
    const operations = quick ? callers * 4 : callers * 60
    const measured = await sideBySide(newKeys(base, stores), { rounds, operations, callers })
    sections.push({
      title: `PostgreSQL, new keys, ${callers} callers`,
      rows: rowsOf(measured),
      findings: [
        ...[T_STOCK, T_PIPELINED].map((name) =>
          ratio(measured, { name, to: ARTICLE, must: 1.2, aim: 1.5, bound: 'least' }),
        ),
        ratio(measured, { name: T_STOCK }),
      ],
    })
  }
  return sections
}
