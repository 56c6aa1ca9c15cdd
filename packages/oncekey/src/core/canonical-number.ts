/** One spelling for each decimal value, however many digits it has: 1, 1.0, 1e0 and 10e-1 are one number. */

/** Exponents of more digits than this name no number that anybody could mean, and adding to one takes time. */
const MOST_EXPONENT_DIGITS = 1_000

/** Up to here a sum with the length of a text is exact without BigInt, which costs more than all the rest. */
const EXACT_EXPONENT_DIGITS = 14

/** Takes a number of JSON; gives its significant digits and a power of ten, or nothing where the exponent is absurd. */
export function canonicalNumber(text: string): string | undefined {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(text) ?? []
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  if (digits === '') return '0'
  if (exponent.length > MOST_EXPONENT_DIGITS) return undefined
  let end = digits.length
  while (digits[end - 1] === '0') end--
  const shift = digits.length - end - fraction.length
  // Never turned into the number itself: 1e999999999 stays a handful of characters.
  const power =
    exponent.length <= EXACT_EXPONENT_DIGITS
      ? Number(exponent) + shift
      : BigInt(exponent.replace('+', '')) + BigInt(shift)
  return `${sign}${digits.slice(0, end)}${power.toString() === '0' ? '' : `e${power}`}`
}
