/** SHA-256 wherever we run: Node's own where there is one, the same function in JavaScript in a browser. */
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 as portable } from '@noble/hashes/sha2.js'

type NodeCrypto = {
  createHash(name: string): { update(data: Uint8Array): { digest(): Uint8Array } }
  createHmac(name: string, secret: Uint8Array): { update(data: Uint8Array): { digest(): Uint8Array } }
}
type Builtins = { getBuiltinModule?: (name: string) => unknown }

// `process.getBuiltinModule` reaches Node's crypto without an import that a bundler for the browser would stumble over.
const node = (globalThis as { process?: Builtins }).process?.getBuiltinModule?.('node:crypto') as NodeCrypto | undefined
const utf8 = new TextEncoder()

export function sha256(bytes: Uint8Array): Uint8Array {
  return node ? node.createHash('sha256').update(bytes).digest() : portable(bytes)
}

export function hmacSha256(secret: Uint8Array, bytes: Uint8Array): Uint8Array {
  return node ? node.createHmac('sha256', secret).update(bytes).digest() : hmac(portable, secret, bytes)
}

/**
 * One byte string for a list of parts, in which no part can pretend to be two: every part stands behind its length
 * in bytes. The domain keeps digests that serve different ends apart.
 */
export function lengthPrefixed(domain: string, parts: readonly (string | Uint8Array)[]): Uint8Array {
  const pieces: Uint8Array[] = []
  // Runs of ASCII texts are encoded at once: a call to the encoder costs more than a hundred letters.
  let text = ''
  for (const part of [domain, ...parts]) {
    if (typeof part === 'string' && ASCII.test(part)) {
      text += `${part.length}:${part}`
      continue
    }
    const bytes = typeof part === 'string' ? utf8.encode(part) : part
    pieces.push(utf8.encode(`${text}${bytes.length}:`), bytes)
    text = ''
  }
  pieces.push(utf8.encode(text))
  const [only] = pieces
  return pieces.length === 1 && only ? only : joined(pieces)
}

// Every ASCII character is one byte in UTF-8.
const ASCII = /^[\0-\x7f]*$/

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

export function hex(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += HEX[byte]
  return text
}

export function randomHex(bytes: number): string {
  return hex(crypto.getRandomValues(new Uint8Array(bytes)))
}
