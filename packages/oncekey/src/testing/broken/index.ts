/** Every broken store there is, in lease mode. */
import type { BrokenStore } from './broken-store.ts'
import { bytesAsText } from './bytes-as-text.ts'
import { callersClock } from './callers-clock.ts'
import { checkThenInsert } from './check-then-insert.ts'
import { failsOpen } from './fails-open.ts'
import { fenceRestarts } from './fence-restarts.ts'
import { forgetsWithTheAnswer } from './forgets-with-the-answer.ts'
import { freesWhatItCannotSave } from './frees-what-it-cannot-save.ts'
import { freesWhatItErases } from './frees-what-it-erases.ts'
import { leaseAsTimeToLive } from './lease-as-time-to-live.ts'
import { mismatchSkippedOnLostRace } from './mismatch-skipped-on-lost-race.ts'
import { noTokenOnComplete } from './no-token-on-complete.ts'
import { ownTokenNotRecognised } from './own-token-not-recognised.ts'
import { releaseByKey } from './release-by-key.ts'
import { restoredUnawares } from './restored-unawares.ts'
import { settlesWithoutComparing } from './settles-without-comparing.ts'
import { sweepsSideBySide } from './sweeps-side-by-side.ts'
import { sweepsTooMuch } from './sweeps-too-much.ts'
import { takeoverWithoutTheEnd } from './takeover-without-the-end.ts'
import { takersLease } from './takers-lease.ts'

export const BROKEN_STORES: readonly BrokenStore[] = [
  checkThenInsert,
  mismatchSkippedOnLostRace,
  noTokenOnComplete,
  releaseByKey,
  fenceRestarts,
  ownTokenNotRecognised,
  callersClock,
  takersLease,
  takeoverWithoutTheEnd,
  leaseAsTimeToLive,
  failsOpen,
  freesWhatItCannotSave,
  bytesAsText,
  settlesWithoutComparing,
  sweepsTooMuch,
  sweepsSideBySide,
  forgetsWithTheAnswer,
  freesWhatItErases,
  restoredUnawares,
]
