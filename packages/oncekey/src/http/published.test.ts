// The policy that a route publishes is the one that it follows.
import { describe, expect, it } from 'vitest'
import { downstreamDoesNot } from '../core/policy.ts'
import { memory } from '../stores/memory.ts'
import { idempotent } from './fetch.ts'
import { openApiFragment, policyHeader, publishedPolicy, wellKnownPolicy } from './published.ts'

const options = {
  store: memory(downstreamDoesNot),
  scope: () => 'alice',
  name: 'charge',
  policy: { retain: '48h' },
} as const

describe('a published policy', () => {
  it('says carrier, length, retention and what is kept (draft-ietf-httpapi-idempotency-key-header §2.3)', () => {
    expect(publishedPolicy(options)).toMatchObject({
      name: 'charge',
      carrier: { in: 'header', name: 'Idempotency-Key' },
      required: true,
      methods: ['POST', 'PATCH'],
      max_length: 255,
      retention_seconds: 172_800,
      mode: 'lease',
    })
    expect(publishedPolicy({ ...options, key: { body: '/id' } }).carrier).toEqual({ in: 'body', name: '/id' })
    expect(wellKnownPolicy({ '/charges': publishedPolicy(options) }).routes).toHaveProperty('/charges')
  })

  it('takes the retention of the store where the route says nothing', () => {
    const store = memory(downstreamDoesNot, { retain: '2h' })
    expect(policyHeader({ store, scope: () => 'alice' })).toBe('required=?1, max-length=255, retention=7200')
  })

  it('becomes a parameter and the problems of an OpenAPI operation', () => {
    const { parameters, responses } = openApiFragment(publishedPolicy(options))
    expect(parameters).toMatchObject([{ name: 'Idempotency-Key', in: 'header', required: true }])
    expect(Object.keys(responses)).toEqual(['400', '409', '422', '503'])
    expect(openApiFragment(publishedPolicy({ ...options, key: { body: '/id' } })).parameters).toEqual([])
  })

  it('goes out with every answer where the route asks for it', async () => {
    const handler = idempotent({ ...options, publish: true }, () => new Response('x'))
    const answer = await handler(new Request('http://x/', { method: 'POST', body: '{}' }))
    expect([answer.status, answer.headers.get('idempotency-policy')]).toEqual([
      400,
      'required=?1, max-length=255, retention=172800',
    ])
  })
})
