/** The conditions a caller may be told of: status, title and advice for each; the codes are part of the public contract. */

export interface ConditionEntry {
  readonly status: number
  /** RFC 9457 §3.1.3: the same for every occurrence. */
  readonly title: string
  readonly detail: string
  /** Seconds for `Retry-After`, where waiting helps and no record says how long. */
  readonly retryAfter?: number
}

export const CONDITIONS = {
  'missing-key': {
    status: 400,
    title: '{header} is missing',
    detail: 'This operation needs the header {header}: one unique value for the operation, the same on every attempt.',
  },
  'invalid-key': {
    status: 400,
    title: '{header} is not valid',
    detail: 'The header {header} was sent, and its value cannot be used as a key. Nothing was done.',
  },
  'missing-scope': {
    status: 401,
    title: 'The caller of a protected operation is not known',
    detail: 'A key belongs to a caller. Authenticate, and send the request again with the same key.',
  },
  'key-reused': {
    status: 422,
    title: '{header} is already used',
    detail:
      'This key was used with another request. Send the request as it was, or a new key if this is another operation.',
  },
  'in-progress': {
    status: 409,
    title: 'A request is outstanding for this {header}',
    detail: 'The first request with this key is still running. Send the same request with the same key a little later.',
  },
  'outcome-unknown': {
    status: 409,
    title: 'The outcome of the request with this {header} is not known',
    detail:
      'The operation may or may not have happened, and will not run again by itself. Look it up; the same key stays safe.',
  },
  'commit-unknown': {
    status: 503,
    title: 'It is not known yet whether the operation was saved',
    detail: 'The database did not confirm. Send the same request with the same key: it is answered, or runs once.',
    retryAfter: 1,
  },
  'try-again': {
    status: 503,
    title: 'The operation was undone',
    detail: 'Nothing happened, and the key is free. Send the same request again.',
    retryAfter: 1,
  },
  'key-too-old': {
    status: 422,
    title: '{header} is too old',
    detail:
      'The key is older than answers are kept here. The operation was not run now; look up what happened earlier, and use a new key only for a new operation.',
  },
  'replay-unavailable': {
    status: 409,
    title: 'The answer to this {header} was not kept',
    detail: 'The operation has run, and will not run again. Its answer cannot be repeated; look at its result instead.',
  },
  'store-unavailable': {
    status: 503,
    title: 'Requests with {header} cannot be protected at the moment',
    detail: 'The operation did not run and will not. Send the same request with the same key later.',
    retryAfter: 1,
  },
  'invalid-json': {
    status: 400,
    title: 'The body is not JSON that can be compared',
    detail: 'Send one JSON value in UTF-8 with each member named once. Nothing was done, and the key is not used.',
  },
  'request-too-large': {
    status: 413,
    title: 'The body is larger than a protected request may be',
    detail: 'It was not read to its end. Nothing was done, and the key is not used.',
  },
  'replay-forbidden': {
    status: 403,
    title: 'The answer to this {header} is not yours to see',
    detail: 'The operation has run. Whether its answer may be seen was judged for this request, and it may not.',
  },
  'stream-refused': {
    status: 406,
    title: 'A protected operation does not answer with a stream here',
    detail: 'Send the same request without asking for an event stream or an upgrade. Nothing was done.',
  },
  'answer-too-large': {
    status: 500,
    title: 'The answer was too large to be kept',
    detail: 'Everything was undone, and the key is free.',
  },
} as const satisfies Readonly<Record<string, ConditionEntry>>

export type ConditionKind = keyof typeof CONDITIONS
