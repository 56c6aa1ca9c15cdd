/** The one error class of the project: a stable code, and four parts that say what happened, where, why it matters and what to do. */

/** Every code there is. On the wire the same words stand in kebab-case (`KEY_REUSED` is `key-reused`). */
export type ErrorCode =
  // Answers that a caller may get over the wire.
  | 'MISSING_KEY'
  | 'INVALID_KEY'
  | 'MISSING_SCOPE'
  | 'KEY_REUSED'
  | 'IN_PROGRESS'
  | 'OUTCOME_UNKNOWN'
  | 'COMMIT_UNKNOWN'
  | 'TRY_AGAIN'
  | 'KEY_TOO_OLD'
  | 'REPLAY_UNAVAILABLE'
  | 'STORE_UNAVAILABLE'
  | 'REQUEST_TOO_LARGE'
  | 'REPLAY_FORBIDDEN'
  | 'STREAM_REFUSED'
  | 'ANSWER_TOO_LARGE'
  // Mistakes in the use of the library.
  | 'INVALID_SCOPE'
  | 'INVALID_FINGERPRINT'
  | 'INVALID_JSON'
  | 'INVALID_OPTION'
  | 'NESTED_OPERATION'
  | 'EXECUTION_LIVE'
  | 'LEASE_LAPSED'
  | 'TX_CLOSED'
  | 'TX_CONTROL'
  | 'TX_ABORTED'
  | 'TX_ISOLATION'
  | 'TX_LIMIT'
  | 'CHILD_KEY_UNSAFE'
  | 'STORE_CLOSED'
  | 'NOT_PROTECTED'
  | 'MOUNTED_TWICE'
  | 'BODY_UNREADABLE'
  // The store's shape and its content.
  | 'SCHEMA_MISSING'
  | 'SCHEMA_TOO_NEW'
  | 'SCHEMA_MISMATCH'
  | 'RECEIPT_UNREADABLE'
  | 'UNENCODABLE'
  // The caller's half.
  | 'GAVE_UP'

/** The four parts of an error; `where` names a function, route, file or server, never a raw key or a body. */
export interface ErrorParts {
  readonly what: string
  readonly where: string
  readonly why: string
  readonly fix: string
  readonly cause?: unknown
  /** Facts for programs: ids, limits, milliseconds. Never a raw key, a body or a credential. */
  readonly details?: Readonly<Record<string, unknown>>
}

const BRAND: unique symbol = Symbol.for('oncekey.error') as never

export class OncekeyError extends Error {
  readonly code: ErrorCode
  readonly what: string
  readonly where: string
  readonly why: string
  readonly fix: string
  readonly details: Readonly<Record<string, unknown>>
  readonly [BRAND] = true

  constructor(code: ErrorCode, parts: ErrorParts) {
    super(
      `${parts.what} [${code}, ${parts.where}] ${parts.why} ${parts.fix}`,
      'cause' in parts ? { cause: parts.cause } : undefined,
    )
    this.name = 'OncekeyError'
    this.code = code
    this.what = parts.what
    this.where = parts.where
    this.why = parts.why
    this.fix = parts.fix
    this.details = parts.details ?? {}
  }
}

/** True for our errors, also when they come from another copy of the package. */
export function isOncekeyError(error: unknown, code?: ErrorCode): error is OncekeyError {
  return (
    typeof error === 'object' &&
    error !== null &&
    (error as { [BRAND]?: unknown })[BRAND] === true &&
    (code === undefined || (error as OncekeyError).code === code)
  )
}
