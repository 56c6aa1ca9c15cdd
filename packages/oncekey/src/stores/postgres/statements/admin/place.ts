/** Where a sweep is: a row's place in the table, in numbers and as the database writes it. */

export interface Place {
  readonly block: number
  readonly offset: number
}

export const START: Place = { block: 0, offset: 0 }

/** From numbers, the only thing that goes into a statement of ours beside digests and bytes; null where they are. */
export function placeText(block: string, offset: string): string {
  return `'(' || ${block}::bigint || ',' || ${offset}::integer || ')'`
}

/** The beginning, where nothing is written. */
export function placeFrom(place: unknown): Place {
  if (typeof place !== 'string') return START
  const [block = 0, offset = 0] = place.replace(/[()]/g, '').split(',').map(Number)
  return { block, offset }
}
