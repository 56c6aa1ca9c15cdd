/** Asks who has the key, where the row was refused. */
import type { Identity } from '../../../core/operation.ts'
import type { Statement } from '../../database/database.ts'
import { STATE } from '../../row.ts'
import type { Names } from '../names.ts'
import { bytes } from '../values.ts'

/** A transaction of ours is at work: no other record that is `unknown` has a token and no fence. */
export const IS_AT_WORK = `(state = ${STATE.unknown} and token is not null and fence is null)`

/**
 * MariaDB: reads the uncommitted row, for this one statement, and sees there for which request its owner works. What it
 * says is true at that instant, and is believed without a second look.
 */
export function holder(names: Names, asked: Pick<Identity, 'id' | 'prints'>): Statement {
  const { text, params } = question(names, asked)
  return { text: `begin not atomic\nset transaction isolation level read uncommitted;\n${text};\nend`, params }
}

/** MySQL has no such block: its library is asked to say so first. One that cannot sees nobody, and a caller is told `busy` after a while. */
export function holderApart(names: Names, asked: Pick<Identity, 'id' | 'prints'>): Statement {
  return { ...question(names, asked), uncommitted: true }
}

function question(names: Names, { id, prints }: Pick<Identity, 'id' | 'prints'>): Statement {
  return {
    text: `select ${IS_AT_WORK} as at_work,
       fingerprint in (${prints.map(() => '?').join(', ')}) as same,
       lower(hex(fingerprint)) as print
  from ${names.record}
 where k = ?`,
    params: [...prints.map(bytes), bytes(id)],
  }
}
