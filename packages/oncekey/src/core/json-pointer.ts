/** JSON Pointers (RFC 6901) of what is left out of a comparison, as a tree that a reader walks along with the value. */
import { OncekeyError } from './errors.ts'

export interface Omitted extends ReadonlyMap<string, Omitted | 'all'> {}
interface Growing extends Map<string, Growing | 'all'> {}

/** Nothing where there are none. Throws `INVALID_OPTION` for a pointer that is malformed or points at the whole value. */
export function compilePointers(pointers: readonly string[]): Omitted | undefined {
  if (pointers.length === 0) return undefined
  const root: Growing = new Map()
  for (const pointer of pointers) plant(root, tokensOf(pointer))
  return root
}

function plant(root: Growing, tokens: readonly string[]): void {
  let at = root
  for (const [depth, token] of tokens.entries()) {
    const below = at.get(token)
    if (below === 'all') return
    if (depth === tokens.length - 1) {
      at.set(token, 'all')
      return
    }
    const next: Growing = below ?? new Map()
    at.set(token, next)
    at = next
  }
}

function tokensOf(pointer: string): string[] {
  if (pointer === '') throw invalidPointer(pointer, 'points at the whole body')
  if (!pointer.startsWith('/')) throw invalidPointer(pointer, 'does not begin with a slash')
  if (/~(?![01])/.test(pointer)) throw invalidPointer(pointer, 'has a tilde that is neither ~0 nor ~1')
  // RFC 6901 §4: ~1 first, so that ~01 is the text "~1".
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function invalidPointer(pointer: string, fault: string): OncekeyError {
  return new OncekeyError('INVALID_OPTION', {
    what: `The JSON Pointer ${JSON.stringify(pointer)} ${fault}.`,
    where: 'omit',
    why: 'Without the body in it a fingerprint takes every request with one key for the same, whatever it asks for.',
    fix: "Name members one by one, such as '/trace_id' or '/file/url'.",
  })
}
