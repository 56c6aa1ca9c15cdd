/** What DynamoDB's errors mean to the store. */
import type { CancellationReason } from '@aws-sdk/client-dynamodb'
import type { Attributes } from './client.ts'

interface Failure {
  readonly name?: string
  readonly Item?: Attributes
  readonly CancellationReasons?: readonly CancellationReason[]
  readonly $response?: { readonly statusCode?: number }
  readonly $metadata?: { readonly httpStatusCode?: number }
}

/** A condition was not met; `item` is what stands there, where the service said it. */
export function refusedBy(error: unknown): { readonly item?: Attributes } | undefined {
  const { name, Item } = failureOf(error)
  if (name !== 'ConditionalCheckFailedException') return undefined
  return Item ? { item: Item } : {}
}

/** Why a transaction was cancelled, part by part; nothing where it was not. */
export function cancelledBy(error: unknown): readonly CancellationReason[] | undefined {
  const { name, CancellationReasons } = failureOf(error)
  return name === 'TransactionCanceledException' ? (CancellationReasons ?? []) : undefined
}

/** Another transaction is at the item in this moment: nothing was written, and in a moment it can be. */
export function isConflict(error: unknown): boolean {
  return failureOf(error).name === 'TransactionConflictException'
}

export function isMissingTable(error: unknown): boolean {
  return failureOf(error).name === 'ResourceNotFoundException'
}

/** The service understood the request and will not do it: sent again it would say the same. */
export function isDefinite(error: unknown): boolean {
  const { name = '', $metadata, $response } = failureOf(error)
  const status = $metadata?.httpStatusCode ?? $response?.statusCode
  return status !== undefined && status >= 400 && status < 500 && !PASSING.has(name)
}

/** Refusals of the moment. An idempotent resend that meets its first send is one, too. */
const PASSING = new Set([
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ThrottlingException',
  'TransactionInProgressException',
  'TransactionConflictException',
  'RequestTimeout',
  'RequestTimeoutException',
  'RequestExpired',
])

function failureOf(error: unknown): Failure {
  return typeof error === 'object' && error !== null ? (error as Failure) : {}
}
