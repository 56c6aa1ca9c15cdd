/** A script as it travels: by its digest, and as text where the server has lost it. */
import { createHash } from 'node:crypto'

export interface Script {
  readonly text: string
  readonly sha: string
}

export function scriptOf(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') }
}
