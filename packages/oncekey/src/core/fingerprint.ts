/** The digest of what was asked: SHA-256 over length-prefixed parts, or HMAC-SHA-256 for each secret of a keyring. */
import { hex, hmacSha256, lengthPrefixed, sha256 } from './digest.ts'
import { OncekeyError } from './errors.ts'

/** At least 16 bytes; `null` stands for no secret at all, so that a first one can be rotated in and a last one out. */
export type Secret = string | Uint8Array | null

export interface FingerprintOptions {
  /** Names how the parts were made: whoever changes what is compared counts it up. Default `1`. */
  readonly version?: string
  /**
   * The first makes what is written, the others still match (I3). A new secret enters at a later place and moves to
   * the front one release later, so that no replica writes what another cannot match. Default: no secret.
   */
  readonly secrets?: readonly Secret[]
}

/** One fingerprint for each secret, the one to write first. Throws `INVALID_OPTION` for a keyring that protects nothing. */
export function fingerprint(
  parts: readonly (string | Uint8Array)[],
  options: FingerprintOptions = {},
): readonly [string, ...string[]] {
  const { version = '1', secrets = [null] } = options
  const digests = secrets.map((secret) => digest(parts, version, secret))
  const [first, ...rest] = digests
  if (first === undefined) throw emptyKeyring('has no secret in it')
  return [first, ...rest]
}

function digest(parts: readonly (string | Uint8Array)[], version: string, secret: Secret): string {
  const algorithm = secret === null ? 'sha256' : 'hmac-sha256'
  // The number of parts stands before them, as a list of parts in the last place could otherwise be two.
  const text = lengthPrefixed('oncekey/fingerprint/1', [algorithm, version, String(parts.length), ...parts])
  return hex(secret === null ? sha256(text) : hmacSha256(bytesOf(secret), text))
}

/** Shorter ones can be guessed from one known request and its fingerprint. */
const LEAST_SECRET_BYTES = 16

function bytesOf(secret: string | Uint8Array): Uint8Array {
  const bytes = typeof secret === 'string' ? new TextEncoder().encode(secret) : secret
  if (bytes.length < LEAST_SECRET_BYTES) throw emptyKeyring(`has a secret of ${bytes.length} bytes`)
  return bytes
}

function emptyKeyring(fault: string): OncekeyError {
  return new OncekeyError('INVALID_OPTION', {
    what: `The keyring ${fault}.`,
    where: 'secrets',
    why: 'Fingerprints made with it could be guessed by whoever reads the store, or could not be made at all.',
    fix: `Give random secrets of ${LEAST_SECRET_BYTES} bytes or more, the one to write with first; leave the option out to use none.`,
  })
}
