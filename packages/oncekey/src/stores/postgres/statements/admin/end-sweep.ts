/** Gives sweeping back, with the place from which the next sweep goes on: none, where this one came to the end. */
import type { Statement } from '../../../database/database.ts'
import type { Names } from '../../names.ts'
import { type Place, placeText } from './place.ts'

export function endSweep({ meta }: Names): (sweeper: string, place: Place | undefined) => Statement {
  const text = `
update ${meta}
   set sweeper = null, sweeper_until = null, sweep_place = ${placeText('$2', '$3')}
 where sweeper = $1::uuid`
  return (sweeper, place) => ({ text, params: [sweeper, place?.block ?? null, place?.offset ?? null] })
}
