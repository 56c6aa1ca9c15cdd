/** The caller's half: keys that are made once, and retries that always send the same operation. */
export { type Id, keyFor, newKey } from './keys.ts'
export type { OneRequest } from './request.ts'
export { type AttemptReport, GaveUp, type SendOptions, send } from './send.ts'
