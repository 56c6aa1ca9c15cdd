/** Where records lie: one key each, so that every step is one script on one server of a cluster. */
import { Buffer } from 'node:buffer'
import { OncekeyError } from '../../core/errors.ts'

export interface Keys {
  record(id: string): string
  /** The id of a record, from its key as SCAN shows it; nothing where it is none of ours. */
  idIn(key: string): string | undefined
  /** What SCAN is to look for. */
  readonly pattern: string
  readonly meta: string
  readonly audit: string
}

/** 22 letters for 128 bits: with the default prefix as few bytes in the server as the 16 bare ones, and people can type them. */
const ID = /^[A-Za-z0-9_-]{22}$/

/** `added`: what the client library puts in front of every key; SCAN shows it, and everything else does not. */
export function keysUnder(prefix: string, added: string): Keys {
  if (typeof prefix !== 'string' || prefix === '' || /[{}]/.test(prefix))
    throw new OncekeyError('INVALID_OPTION', {
      what: 'The prefix is empty, or has a brace in it.',
      where: 'redis',
      why: 'Records have to be told from other keys; a part in braces would put them all on one server of a cluster.',
      fix: 'Give a text such as "shop:".',
    })
  const whole = `${added}${prefix}`
  return {
    record: (id) => `${prefix}${Buffer.from(id, 'hex').toString('base64url')}`,
    idIn(key) {
      const rest = key.startsWith(whole) ? key.slice(whole.length) : ''
      return ID.test(rest) ? Buffer.from(rest, 'base64url').toString('hex') : undefined
    },
    pattern: `${whole.replace(/[\\*?[\]^-]/g, '\\$&')}*`,
    meta: `${prefix}meta`,
    audit: `${prefix}audit`,
  }
}
