/** The key on the wire: which form it has, when it is judged, and what never needs one. */
import { notStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { assertProblem, assertReplay, type HttpRule, postOf } from '../rule.ts'

export const KEY_RULES: readonly HttpRule[] = [
  {
    rule: 'key/one-key',
    title: 'the quoted and the bare form are one key, in either order',
    source: 'ietf-wg-httpapi/idempotency#10, xavierjohn/Trellis#547',
    async run({ newKey, post, runs }) {
      const [one, other] = [newKey(), newKey()]
      for (const [first, second] of [
        [one, `"${one}"`],
        [`"${other}"`, other],
      ]) {
        const answer = await post('/charges', { key: first })
        assertReplay(await post('/charges', { key: second }), answer)
      }
      strictEqual(runs('/charges'), 2)
    },
  },
  {
    rule: 'key/case',
    title: 'the field name counts in any case, the key in its own',
    source: 'RFC 9110 §5.1; draft-ietf-httpapi-idempotency-key-header §2.1',
    async run({ newKey, post, runs }) {
      const key = newKey()
      const first = await post('/charges', { headers: [['IDEMPOTENCY-KEY', key]] })
      assertReplay(await post('/charges', { headers: [['idempotency-key', key]] }), first)
      strictEqual((await post('/charges', { key: key.toUpperCase() })).status, 201)
      strictEqual(runs('/charges'), 2)
    },
  },
  {
    rule: 'key/missing',
    title: 'a request without a key is refused where one is required, and none is made for it',
    source: 'draft-ietf-httpapi-idempotency-key-header §2.7',
    async run({ post, runs }) {
      const answer = await post('/charges')
      assertProblem(answer, 400, 'missing-key')
      strictEqual(answer.header('idempotency-key'), undefined)
      strictEqual(runs('/charges'), 0)
    },
  },
  {
    rule: 'key/optional',
    title: 'where it is optional, a request without a key runs unprotected, and one with an unusable key is refused',
    source: 'aws-powertools/powertools-lambda-python#2465',
    async run({ post, runs }) {
      strictEqual((await post('/optional')).status, 201)
      strictEqual((await post('/optional')).status, 201)
      assertProblem(await post('/optional', { key: '' }), 400, 'invalid-key')
      assertProblem(await post('/optional', { key: '"' }), 400, 'invalid-key')
      strictEqual(runs('/optional'), 2)
    },
  },
  {
    rule: 'key/unusable',
    title: 'an empty, blank, malformed or joined key is refused with a reason, before the work',
    source: 'RFC 9651 §4.2',
    async run({ post, runs }) {
      for (const [key, reason] of [
        ['', 'empty'],
        ['"   "', 'blank'],
        ['"a', 'malformed'],
        ['"a" "b"', 'trailing'],
        ['"a"b"', 'trailing'],
        ['a b', 'bare-illegal-char'],
        ['a,b', 'bare-illegal-char'],
        [':YWJj:', 'bare-illegal-char'],
      ] as const) {
        const answer = await post('/charges', { key })
        assertProblem(answer, 400, 'invalid-key')
        strictEqual(answer.json.reason, reason, key)
      }
      strictEqual(runs('/charges'), 0)
    },
  },
  {
    rule: 'key/length',
    title: '255 characters are a key, 256 are refused and never cut',
    source: 'granit-fx/granit-dotnet#1151, akira-io/laravel-sisp#229',
    async run({ newKey, post, runs }) {
      const key = newKey().padEnd(255, 'x')
      strictEqual((await post('/charges', { key })).status, 201)
      strictEqual((await post('/charges', { key: `"${key.slice(0, 254)}\\""` })).status, 201)
      const refused = await post('/charges', { key: `${key}x` })
      assertProblem(refused, 400, 'invalid-key')
      strictEqual(refused.json.max_length, 255)
      strictEqual(runs('/charges'), 2)
    },
  },
  {
    rule: 'key/two-lines',
    title: 'a key that is sent twice is refused, even where both lines say the same',
    source: 'RFC 9651 §4.2',
    async run({ newKey, post, runs }) {
      const key = newKey()
      for (const form of [key, `"${key}"`])
        assertProblem(
          await post('/charges', {
            headers: [
              ['idempotency-key', form],
              ['idempotency-key', form],
            ],
          }),
          400,
          'invalid-key',
        )
      assertProblem(
        await post('/charges', {
          headers: [
            ['idempotency-key', '"a'],
            ['idempotency-key', 'b"'],
          ],
        }),
        400,
        'invalid-key',
      )
      strictEqual(runs('/charges'), 0)
    },
  },
  {
    rule: 'key/before-the-body',
    needs: 'bytes',
    title: 'the key is judged before a byte of the body has come',
    source: 'granit-fx/granit-dotnet#1151',
    async run({ connect }) {
      using wire = await connect()
      const { body: _, ...head } = postOf('/charges', { key: '"' })
      const answer = await wire.send({ ...head, headers: [...(head.headers ?? []), ['content-length', '1000']] })
      assertProblem(answer, 400, 'invalid-key')
    },
  },
  {
    rule: 'key/strict',
    title: 'a strict route takes the quoted form only',
    source: 'xavierjohn/Trellis#547',
    async run({ newKey, post, runs }) {
      const key = newKey()
      assertProblem(await post('/strict', { key }), 400, 'invalid-key')
      strictEqual((await post('/strict', { key: `"${key}"` })).status, 201)
      strictEqual(runs('/strict'), 1)
    },
  },
  {
    rule: 'key/safe-methods',
    title: 'GET and HEAD run every time, with a key or without, and use no key up',
    source: 'stripe/stripe-node#559, dagster-io/dagster#22872',
    async run({ newKey, post, connect, runs }) {
      const key = newKey()
      using wire = await connect()
      const headers = [
        ['authorization', 'Bearer alice'],
        ['idempotency-key', key],
      ] as const
      const before = await wire.send({ method: 'GET', path: '/charges', headers })
      strictEqual((await post('/charges', { key })).status, 201)
      const after = await wire.send({ method: 'GET', path: '/charges', headers })
      strictEqual(before.status, 200)
      notStrictEqual(after.text, before.text)
      strictEqual(after.header('idempotent-replayed'), undefined)
      strictEqual(runs('/charges'), 1)
    },
  },
  {
    rule: 'key/preflight',
    title: 'a CORS preflight reaches the CORS layer',
    source: 'cloudflare/wildebeest#123',
    async run({ connect }) {
      using wire = await connect()
      const answer = await wire.send({
        method: 'OPTIONS',
        path: '/charges',
        headers: [
          ['origin', 'https://shop.example'],
          ['access-control-request-method', 'POST'],
          ['access-control-request-headers', 'idempotency-key'],
        ],
      })
      strictEqual(answer.status, 204)
      ok(answer.header('access-control-allow-headers')?.toLowerCase().includes('idempotency-key'))
    },
  },
  {
    rule: 'key/carriers',
    title: 'a key in the body or in the query is a key as it is, and its absence is one',
    source: 'Square: idempotency_key; AWS: ClientToken',
    async run({ newKey, post, runs }) {
      const key = newKey()
      const body = JSON.stringify({ idempotency_key: key, amount: 1 })
      const first = await post('/in-body', { body })
      assertReplay(await post('/in-body', { body }), first)
      assertProblem(await post('/in-body', { body: '{"amount":1}' }), 400, 'missing-key')
      assertProblem(await post('/in-body', { body: '{"idempotency_key":""}' }), 400, 'invalid-key')
      const asked = `/in-query?ClientToken=${newKey()}`
      const answer = await post(asked)
      assertReplay(await post(asked), answer)
      assertProblem(await post('/in-query?ClientToken=a&ClientToken=a'), 400, 'invalid-key')
      strictEqual(runs('/in-body'), 1)
      strictEqual(runs('/in-query'), 1)
    },
  },
]
