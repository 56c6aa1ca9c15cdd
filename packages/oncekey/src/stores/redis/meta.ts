/** Keeps a store from records that this build must not touch, and from a server that is not the one it started on (I4). */
import { monotonic, sleep } from '../../core/clock.ts'
import { randomHex } from '../../core/digest.ts'
import { isOncekeyError, OncekeyError } from '../../core/errors.ts'
import type { Restored } from '../../core/store.ts'
import { TOO_LATE, within } from '../leased/patience.ts'
import type { Keys } from './keys.ts'
import type { Scripts } from './scripts/index.ts'
import type { Send } from './send.ts'
import { word } from './word.ts'

/** How identities are made of scope and key, and which layouts of records this build reads. */
const IDENTITY_SCHEME = 1
const READER = 1

export interface Meta {
  /** Once for the store's life; a check that failed is made again by the next caller. */
  start(): Promise<void>
  /** Now: what another process did shows here. Creates nothing, since records that are gone are a reason to refuse. */
  again(): Promise<void>
  /** Makes what is missing, and refuses what is not ours. */
  create(): Promise<void>
  /** The last restore, as it was known at the last look. */
  restored(): Restored | undefined
  /** This process began a new epoch itself, or is about to. */
  enter(epoch: string | undefined): void
}

export interface MetaOptions {
  readonly send: Send
  readonly keys: Keys
  readonly scripts: Scripts
  readonly patienceMs: number
  /** Called once, when the store has been found to be ours. */
  readonly opened: () => void
}

export function metaOf({ send, keys, scripts, patienceMs, opened }: MetaOptions): Meta {
  let started: Promise<void> | undefined
  let known: string | undefined
  let restored: Restored | undefined

  async function look(create: boolean): Promise<void> {
    const args = [String(IDENTITY_SCHEME), String(READER), randomHex(16), create ? 'create' : '']
    const [scheme, reader, epoch, at, onEpochChange] = (await send(scripts.openMeta, keys.meta, args)).map(word)
    if (Number(reader) > READER) throw tooNew(Number(reader))
    if (epoch !== '' && Number(scheme) !== IDENTITY_SCHEME) throw otherScheme(Number(scheme))
    known ??= epoch
    if (epoch !== known) throw otherEpoch()
    restored = at
      ? { at: new Date(Number(at)), onEpochChange: onEpochChange === 'refuse' ? 'refuse' : 'run' }
      : undefined
  }

  async function start(): Promise<void> {
    for (const until = monotonic() + patienceMs; ; await sleep(20)) {
      try {
        // A server that says nothing must not keep those who come after it was replaced.
        const answer = await within(look(true), until - monotonic())
        if (answer === TOO_LATE) throw new Error(`no answer within ${patienceMs} ms`)
        return opened()
      } catch (error) {
        // The client may be connecting yet.
        if (isOncekeyError(error) || monotonic() >= until) throw error
      }
    }
  }

  function once(): Promise<void> {
    started ??= start().catch((error: unknown) => {
      started = undefined
      throw error
    })
    return started
  }

  return {
    start: once,
    again: () => (known === undefined ? once() : look(false)),
    create: () => look(true),
    restored: () => restored,
    enter(epoch) {
      known = epoch
    },
  }
}

function tooNew(minReader: number): OncekeyError {
  return new OncekeyError('SCHEMA_TOO_NEW', {
    what: `The records are for releases that can read format ${minReader}; this one reads ${READER}.`,
    where: 'redis',
    why: 'It would misread records and could run an operation twice.',
    fix: 'Deploy a newer release of oncekey.',
    details: { minReader, reader: READER },
  })
}

function otherScheme(scheme: number): OncekeyError {
  return new OncekeyError('SCHEMA_MISMATCH', {
    what: `The records are named by identity scheme ${scheme}, not ${IDENTITY_SCHEME}.`,
    where: 'redis',
    why: 'No record would be found, and everything would run again.',
    fix: 'Use the release that wrote them, or another `prefix`.',
    details: { scheme },
  })
}

function otherEpoch(): OncekeyError {
  return new OncekeyError('SCHEMA_MISMATCH', {
    what: 'The records are not the ones that this process started on: they were restored, replaced or flushed.',
    where: 'redis',
    why: 'What this process knows of them may never have happened there, and what is gone would run again.',
    fix: 'Say so with `admin.restored`, reconcile what was lost, and start the processes again.',
  })
}
