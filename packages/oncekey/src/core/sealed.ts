/** Receipts that only holders of a key can read, bound to the operation that they belong to. */
import { lengthPrefixed } from './digest.ts'
import { OncekeyError } from './errors.ts'
import type { Label } from './operation.ts'
import { type Codec, FORMATS, unreadable } from './receipt.ts'
import type { Receipt } from './record.ts'

/** The keys of sealed receipts: what is written is sealed with `current`, what is read with the key that it names. */
export interface Keyring {
  /** The name of the key that seals from now on: 1 to 255 bytes, kept in clear in every receipt. */
  readonly current: string
  /**
   * 32 bytes by name; or whatever looks them up, in a key service say. A name that is not there makes its answers
   * unavailable, never executed again.
   */
  readonly keys: Readonly<Record<string, Uint8Array>> | ((name: string) => Promise<Uint8Array | undefined>)
}

type Subtle = typeof crypto.subtle
type Key = Awaited<ReturnType<Subtle['importKey']>>

/** NIST SP 800-38D §8.2.2: 96 random bits; one key seals up to 2^32 receipts. */
const NONCE_BYTES = 12
const KEY_BYTES = 32

/**
 * Seals what `codec` writes with AES-256-GCM. Scope and key of the operation are authenticated with it, so that a row
 * cannot be put in another's place. Format byte, length and name of the key, nonce, ciphertext with its tag (16 bytes):
 * `name + 30` bytes more than the receipt, which was deflated before. Nothing of the answer stays in clear: of one that
 * is spent or past its retention, status and `Location` are not kept.
 *
 * To rotate, add the new key to every process, then make it `current`, and take the old one away a retention later.
 *
 * @throws `INVALID_OPTION` for a current key that is not there or has another length than 32 bytes.
 */
export function sealed<T>(codec: Codec<T>, keyring: Keyring): Codec<T> {
  const { current, keys } = keyring
  const name = nameOf(current)
  const imported = new Map<string, Promise<Key | undefined>>()
  if (typeof keys !== 'function') for (const each of Object.keys(keys)) judgeKey(each, keys[each])
  if (typeof keys !== 'function' && !Object.hasOwn(keys, current)) throw unusable(`the key ${current} is not there`)

  async function keyNamed(wanted: string): Promise<Key | undefined> {
    const known = imported.get(wanted) ?? load(wanted)
    imported.set(wanted, known)
    try {
      const key = await known
      if (!key) imported.delete(wanted)
      return key
    } catch (error) {
      // Asked again next time: a key service that did not answer is no lost key.
      imported.delete(wanted)
      throw error
    }
  }
  async function load(wanted: string): Promise<Key | undefined> {
    const bytes =
      typeof keys === 'function' ? await keys(wanted) : Object.hasOwn(keys, wanted) ? keys[wanted] : undefined
    if (!bytes) return undefined
    judgeKey(wanted, bytes)
    return crypto.subtle.importKey('raw', own(bytes), 'AES-GCM', false, ['encrypt', 'decrypt'])
  }

  return {
    ...(codec.refuses ? { refuses: (value: T) => codec.refuses?.(value) } : {}),
    async encode(value, operation) {
      const [key, receipt] = await Promise.all([keyNamed(current), codec.encode(value, operation)])
      if (!key) throw unusable(`the key ${current} is not there`)
      const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES))
      const cipher = await crypto.subtle.encrypt(algorithm(nonce, operation), key, own(receipt))
      return joined(Uint8Array.of(FORMATS.sealed, name.length), name, nonce, new Uint8Array(cipher))
    },
    async decode(receipt, operation) {
      const [format, length = 0] = receipt
      if (format !== FORMATS.sealed)
        throw unreadable(`its first byte is ${format ?? 'missing'}, and not a sealed one's`)
      const content = receipt.subarray(2 + length)
      const wanted = new TextDecoder().decode(receipt.subarray(2, 2 + length))
      const key = await keyNamed(wanted)
      if (!key) throw unreadable(`the key ${JSON.stringify(wanted)} that sealed it is not in the keyring`)
      const nonce = own(content.subarray(0, NONCE_BYTES))
      let opened: ArrayBuffer
      try {
        opened = await crypto.subtle.decrypt(algorithm(nonce, operation), key, own(content.subarray(NONCE_BYTES)))
      } catch (cause) {
        throw unreadable(
          'its seal is broken: other bytes, another key of that name, or the row of another operation',
          cause,
        )
      }
      return codec.decode(new Uint8Array(opened), operation)
    },
  }
}

function algorithm(iv: Uint8Array<ArrayBuffer>, { scope, key }: Label): Parameters<Subtle['encrypt']>[0] {
  const additionalData = own(lengthPrefixed('oncekey/sealed/1', [String(scope.length), ...scope, key]))
  return { name: 'AES-GCM', iv, additionalData }
}

/** WebCrypto takes no bytes that may be shared with other threads. */
function own(bytes: Receipt): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes)
}

function joined(...pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}

function nameOf(current: string): Uint8Array {
  const name = new TextEncoder().encode(current)
  if (name.length === 0 || name.length > 255) throw unusable(`its name has ${name.length} bytes`)
  return name
}

function judgeKey(name: string, key: Uint8Array | undefined): void {
  if (key?.length !== KEY_BYTES) throw unusable(`the key ${name} has ${key?.length} bytes`)
}

function unusable(fault: string): OncekeyError {
  return new OncekeyError('INVALID_OPTION', {
    what: `The keyring cannot be used: ${fault}.`,
    where: 'sealed',
    why: 'Answers would be kept in a form that nobody can read, and repeats would not get them.',
    fix: `Give a name of 1 to 255 bytes as \`current\`, and ${KEY_BYTES} random bytes under it in \`keys\`.`,
  })
}
