/** Keeps the claim on sweeping, and the place that the sweep has come to. */
import type { Statement } from '../../../database/database.ts'
import type { Names } from '../../names.ts'
import { type Place, placeText } from './place.ts'

/** No row where somebody else has taken over, after a rest that was longer than the claim. */
export function keepSweep({ meta }: Names): (sweeper: string, forMs: number, place: Place) => Statement {
  const text = `
update ${meta}
   set sweeper_until = clock_timestamp() + $2::float8 * interval '1 millisecond', sweep_place = ${placeText('$3', '$4')}
 where sweeper = $1::uuid
returning true as ours`
  return (sweeper, forMs, { block, offset }) => ({ text, params: [sweeper, forMs, block, offset] })
}
