/** The table as code: what `admin.migrate()` creates, and what the templates in docs/how-to/dynamodb.md have to say too. */

export const DEFINITION = {
  AttributeDefinitions: [{ AttributeName: 'k', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'k', KeyType: 'HASH' }],
  // Nobody has to guess the traffic of duplicates.
  BillingMode: 'PAY_PER_REQUEST',
} as const

export const TTL_ATTRIBUTE = 'ttl'
export const DEFAULT_TABLE = 'oncekey'
