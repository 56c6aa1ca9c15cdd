/** Writes a claim over whatever was judged to be in nobody's way. */
import { writeLabel } from '../../../core/label.ts'
import type { Statement } from '../../database/database.ts'
import { STATE } from '../../row.ts'
import { bytes } from '../sql.ts'
import { DEDUPES_UNTIL, IS_OVER, NOW } from './columns.ts'
import type { Mine } from './mine.ts'

/**
 * No condition is repeated here: the judgement was made under the write lock that this is written under. Until when
 * the downstream deduplicates counts from the first claim, so it is carried over from a record that is still there.
 */
export function claim(record: string): (mine: Mine) => Statement {
  const text = `
  insert into ${record} (k, fingerprint, expires_at, lease_end, fence, token, state, body)
  values (?1, ?4, ${NOW} + ?5, ${NOW} + ?6, ?3, ?2, ?7, ?8)
      on conflict (k) do update
     set (fingerprint, lease_end, fence, token, state, body, expires_at) =
         (excluded.fingerprint, excluded.lease_end, excluded.fence, excluded.token, excluded.state, excluded.body,
          case when ${IS_OVER} then excluded.expires_at
               else coalesce(${DEDUPES_UNTIL}, excluded.expires_at)
          end)`
  return ({ id, token, fence, prints, policy, label }) => ({
    text,
    params: [
      bytes(id),
      bytes(token),
      fence,
      bytes(prints[0]),
      policy.dedupesForMs ?? null,
      policy.leaseMs,
      STATE[policy.onAbandoned],
      writeLabel({ ...label, retainMs: policy.retainMs }),
    ],
  })
}
