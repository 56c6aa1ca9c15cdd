/** JSON values as a model, every way of spelling one, and equality as a person would define it: what canonical JSON is held against. */
import fc from 'fast-check'

export type Model =
  | { readonly kind: 'word'; readonly word: 'true' | 'false' | 'null' }
  | { readonly kind: 'text'; readonly text: string }
  /** digits × 10^power */
  | { readonly kind: 'number'; readonly digits: bigint; readonly power: number }
  | { readonly kind: 'array'; readonly items: readonly Model[] }
  | { readonly kind: 'object'; readonly members: readonly (readonly [string, Model])[] }

// Few letters and digits, so that two values drawn at random are often equal, or nearly so.
const text = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'b', '"', '\\', 'é', '\ud800', '😀', '/', '\n', '1'), maxLength: 3 }),
  fc.constantFrom('__proto__', 'null', '1e0'),
)
export const { value } = fc.letrec<{ value: Model }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('true', 'false', 'null').map((word): Model => ({ kind: 'word', word: word as 'true' })),
    text.map((drawn): Model => ({ kind: 'text', text: drawn })),
    fc
      .tuple(fc.oneof(fc.bigInt(-120n, 120n), fc.bigInt()), fc.integer({ min: -3, max: 3 }))
      .map(([digits, power]): Model => ({ kind: 'number', digits, power })),
    fc.array(tie('value'), { maxLength: 3 }).map((items): Model => ({ kind: 'array', items })),
    fc
      .uniqueArray(fc.tuple(text, tie('value')), { selector: ([name]) => name, maxLength: 3 })
      .map((members): Model => ({ kind: 'object', members })),
  ),
}))

/** Equality without canonical forms. */
export function sameValue(one: Model, other: Model): boolean {
  if (one.kind === 'word' && other.kind === 'word') return one.word === other.word
  if (one.kind === 'text' && other.kind === 'text') return one.text === other.text
  if (one.kind === 'number' && other.kind === 'number') {
    const least = Math.min(one.power, other.power)
    return one.digits * 10n ** BigInt(one.power - least) === other.digits * 10n ** BigInt(other.power - least)
  }
  if (one.kind === 'array' && other.kind === 'array')
    return (
      one.items.length === other.items.length &&
      one.items.every((item, at) => sameValue(item, other.items[at] as Model))
    )
  if (one.kind === 'object' && other.kind === 'object') {
    const members = new Map(other.members)
    return (
      one.members.length === members.size &&
      one.members.every(([name, member]) => {
        const twin = members.get(name)
        return twin !== undefined && sameValue(member, twin)
      })
    )
  }
  return false
}

/** One of its spellings, as the choices say. */
export function spelled(model: Model, choices: Iterator<number>): string {
  const choose = <T>(...options: T[]): T => options[choices.next().value % options.length] as T
  const gap = (): string => choose('', '', ' ', '\n\t', '\r ')
  const write = (at: Model): string => {
    switch (at.kind) {
      case 'word':
        return at.word
      case 'text':
        return writeText(at.text)
      case 'number':
        return writeNumber(at.digits, at.power)
      case 'array':
        return `[${gap()}${at.items.map((item) => `${write(item)}${gap()}`).join(`,${gap()}`)}]`
      case 'object':
        return `{${gap()}${shuffled(at.members)
          .map(([name, member]) => `${writeText(name)}${gap()}:${gap()}${write(member)}${gap()}`)
          .join(`,${gap()}`)}}`
      default:
        throw at satisfies never
    }
  }
  const writeText = (raw: string): string => {
    const units = Array.from({ length: raw.length }, (_, at) => {
      const code = raw.charCodeAt(at)
      const plain = JSON.stringify(raw[at]).slice(1, -1)
      // Half a pair cannot stand alone unescaped next to its other half without becoming a pair again: it does, and may.
      return choose(plain, `\\u${code.toString(16).padStart(4, choose('0'))}`, plain)
    })
    return `"${units.join('')}"`
  }
  const writeNumber = (digits: bigint, power: number): string => {
    const sign = digits < 0n ? '-' : ''
    const all = String(digits < 0n ? -digits : digits)
    const shift = choose(0, 1, 2)
    const zeros = choose('', '0', '000')
    const padded = all.padStart(shift + 1, '0')
    const whole = padded.slice(0, padded.length - shift)
    const fraction = `${padded.slice(padded.length - shift)}${zeros}`
    const exponent = power + shift
    const e = `${choose('e', 'E')}${exponent < 0 ? '-' : choose('', '+')}${choose('', '0')}${Math.abs(exponent)}`
    return `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}${exponent === 0 ? choose('', e) : e}`
  }
  const shuffled = <T>(list: readonly T[]): T[] => {
    const left = [...list]
    return Array.from(list, () => left.splice((choices.next().value as number) % left.length, 1)[0] as T)
  }
  return `${gap()}${write(model)}${gap()}`
}
