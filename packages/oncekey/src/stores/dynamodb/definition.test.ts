/** The templates in the docs describe the table that the store makes itself, and the rights that it needs are the calls that it makes. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { MAX_RECEIPT } from './changes.ts'
import { DEFAULT_TABLE, DEFINITION, TTL_ATTRIBUTE } from './definition.ts'

const PAGE = readFileSync(new URL('../../../../../docs/how-to/dynamodb.md', import.meta.url), 'utf8')

/** Where each template says it; one group each. */
const TEMPLATES = {
  yaml: {
    table: /^ +TableName: (\w+)$/m,
    key: /KeySchema:\n +- AttributeName: (\w+)\n +KeyType: HASH\n/,
    type: /AttributeDefinitions:\n +- AttributeName: k\n +AttributeType: (\w+)\n/,
    ttl: /TimeToLiveSpecification:\n +AttributeName: (\w+)\n +Enabled: true\n/,
    billing: /BillingMode: (\w+)/,
  },
  typescript: {
    table: /tableName: '(\w+)'/,
    key: /partitionKey: \{ name: '(\w+)'/,
    type: /type: AttributeType\.(\w+)/,
    ttl: /timeToLiveAttribute: '(\w+)'/,
    billing: /billing: Billing\.(\w+)\(\)/,
  },
  hcl: {
    table: /^ +name += "(\w+)"$/m,
    key: /hash_key += "(\w+)"/,
    type: /attribute \{\n +name = "k"\n +type = "(\w+)"\n +\}/,
    ttl: /ttl \{\n +attribute_name = "(\w+)"\n +enabled +=+ true\n +\}/,
    billing: /billing_mode = "(\w+)"/,
  },
} as const
const SAME: Readonly<Record<string, string>> = { STRING: 'S', onDemand: 'PAY_PER_REQUEST' }

describe.each(Object.keys(TEMPLATES) as (keyof typeof TEMPLATES)[])('the template in %s', (language) => {
  const [, text = ''] = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(PAGE) ?? []

  it('describes the same table', () => {
    const said = Object.fromEntries(
      Object.entries(TEMPLATES[language]).map(([what, pattern]) => {
        const [, word = 'is not said'] = pattern.exec(text) ?? []
        return [what, SAME[word] ?? word]
      }),
    )
    expect(said).toEqual({
      table: DEFAULT_TABLE,
      key: DEFINITION.KeySchema[0].AttributeName,
      type: DEFINITION.AttributeDefinitions[0].AttributeType,
      ttl: TTL_ATTRIBUTE,
      billing: DEFINITION.BillingMode,
    })
  })
  it('has no key and no index that the store does not know', () => {
    expect(text).not.toMatch(/RANGE|sortKey|range_key|SecondaryInd/i)
  })
})

it('the rights are named for every call that the store makes, and for no other', () => {
  const source = readFileSync(new URL('client.ts', import.meta.url), 'utf8')
  const calls = [...source.matchAll(/^ {2}(\w+): \[\w+Input, \w+Output\]$/gm)].map(([, name]) => name as string)
  expect(calls.length).toBeGreaterThan(8)
  // A transaction is allowed by the rights of its parts.
  const wanted = calls.filter((name) => name !== 'TransactWriteItems')
  const rights = /\| who \| actions \|[\s\S]*?\n\n/.exec(PAGE)?.[0] ?? ''
  const named = new Set([...rights.matchAll(/dynamodb:(\w+)/g)].map(([, name]) => name))
  expect(named).toEqual(new Set(wanted))
})

it('the largest answer is the one that the page names', () => {
  expect(PAGE).toContain(`more than ${MAX_RECEIPT / 1_024} kB`)
})
