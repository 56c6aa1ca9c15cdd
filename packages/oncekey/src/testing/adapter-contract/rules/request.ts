/** What makes two requests the same request, and who they belong to. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { assertProblem, assertReplay, type HttpRule } from '../rule.ts'

export const REQUEST_RULES: readonly HttpRule[] = [
  {
    rule: 'request/same',
    title: 'a repeat of the same request runs nothing and gets the same answer',
    source: 'draft-ietf-httpapi-idempotency-key-header §2.6',
    async run({ newKey, post, runs }) {
      const key = newKey()
      const first = await post('/charges', { key })
      strictEqual(first.status, 201)
      for (let repeat = 0; repeat < 3; repeat++) assertReplay(await post('/charges', { key }), first)
      strictEqual(runs('/charges'), 1)
      strictEqual((await post('/charges', { key: newKey() })).status, 201)
      strictEqual(runs('/charges'), 2)
    },
  },
  {
    rule: 'request/sees-the-body',
    title: 'the handler gets the whole body, and another body is another request',
    source: 'fastify/fastify#6644, golevelup/nestjs#176, sindresorhus/ky#230',
    async run({ newKey, post, runs }) {
      const key = newKey()
      const first = await post('/charges', { key, body: '{"amount":1,"note":"ü"}' })
      deepStrictEqual(JSON.parse(first.json.got), { amount: 1, note: 'ü' })
      assertProblem(await post('/charges', { key, body: '{"amount":2,"note":"ü"}' }), 422, 'key-reused')
      assertReplay(await post('/charges', { key, body: '{"amount":1,"note":"ü"}' }), first)
      strictEqual(runs('/charges'), 1)
    },
  },
  {
    rule: 'request/reused',
    title: 'a key that was used for another path, query or method is refused, and nothing of the first answer shows',
    source: 'nensii21/devlink#1195, KanishJebaMathewM/Truxify#2869, LabsCrypt/remitlend#1680',
    async run({ newKey, post, runs }) {
      const key = newKey()
      const first = await post('/charges', { key, body: '{"secret":"tok_123"}' })
      for (const [path, method] of [
        ['/refunds', 'POST'],
        ['/charges?x=1', 'POST'],
        ['/charges', 'PATCH'],
      ] as const) {
        const refused = await post(path, { key, method, body: '{"secret":"tok_123"}' })
        assertProblem(refused, 422, 'key-reused')
        ok(!refused.text.includes('tok_123') && Array.isArray(refused.json.compared))
      }
      strictEqual(runs('/refunds'), 0)
      assertReplay(await post('/charges', { key, body: '{"secret":"tok_123"}' }), first)
    },
  },
  {
    rule: 'request/same-json',
    title: 'member order, white space, escapes and 1.0 for 1 make no other request; null, order and type do',
    source: 'apache/fineract#5674, crewAIInc/crewAI#5822',
    async run({ newKey, post, runs }) {
      const key = newKey()
      const first = await post('/charges', { key, body: '{"a":1,"b":{"x":"\\u00e9","y":[1,2]}}' })
      assertReplay(await post('/charges', { key, body: '{ "b": {"y":[1.0,2],"x":"é"}, "a":1e0 }' }), first)
      for (const body of [
        '{"a":1,"b":{"x":"é","y":[2,1]}}',
        '{"a":"1","b":{"x":"é","y":[1,2]}}',
        '{"a":1,"b":{"x":"é","y":[1,2]},"c":null}',
      ])
        assertProblem(await post('/charges', { key, body }), 422, 'key-reused')
      strictEqual(runs('/charges'), 1)
    },
  },
  {
    rule: 'request/left-out',
    title: 'fields that a route leaves out may change, all others may not',
    source: 'asimons81/wp-chatgpt-publisher#14, stripe/stripe-java#389',
    async run({ newKey, post, runs }) {
      const key = newKey()
      const body = (amount: number, trace: string) =>
        JSON.stringify({ amount, trace_id: trace, file: { url: `https://cdn.example/${trace}`, name: 'a' } })
      const first = await post('/traced', { key, body: body(1, 'one') })
      assertReplay(await post('/traced', { key, body: body(1, 'two') }), first)
      assertProblem(await post('/traced', { key, body: body(2, 'one') }), 422, 'key-reused')
      strictEqual(runs('/traced'), 1)
    },
  },
  {
    rule: 'request/while-running',
    title: 'another body is refused while the first still runs: waiting would not help',
    source: 'idempot-dev/idempot-js#183, aws-powertools/powertools-lambda-typescript#2058',
    async run({ newKey, post, ledger, runs }) {
      const key = newKey()
      const body = `{"gate":"${key}"}`
      const first = post('/gated', { key, body })
      await ledger.reached(key)
      assertProblem(await post('/gated', { key, body: `{"gate":"${key}","x":2}` }), 422, 'key-reused')
      ledger.open(key)
      strictEqual((await first).status, 201)
      assertProblem(await post('/gated', { key, body: `{"gate":"${key}","x":2}` }), 422, 'key-reused')
      strictEqual(runs('/gated'), 1)
    },
  },
  {
    rule: 'request/in-progress',
    title: 'the same request is told at once that the first still runs, with a whole number of seconds to wait',
    source: 'ikyriak/IdempotentAPI#37, idempot-dev/idempot-js#186',
    async run({ newKey, post, ledger, runs }) {
      const key = newKey()
      const body = `{"gate":"${key}"}`
      const first = post('/gated', { key, body })
      await ledger.reached(key)
      const busy = await post('/gated', { key, body })
      assertProblem(busy, 409, 'in-progress')
      ok(/^[1-9]\d*$/.test(busy.header('retry-after') ?? ''), `Retry-After: ${busy.header('retry-after')}`)
      ledger.open(key)
      const answer = await first
      strictEqual(answer.status, 201)
      assertReplay(await post('/gated', { key, body }), answer)
      strictEqual(runs('/gated'), 1)
    },
  },
  {
    rule: 'request/waits',
    title: 'a duplicate that prefers to wait gets the answer of the first',
    source: 'RFC 7240 §4.3',
    async run({ newKey, post, ledger, runs }) {
      const key = newKey()
      const body = `{"gate":"${key}"}`
      const first = post('/gated', { key, body })
      await ledger.reached(key)
      const waiting = post('/gated', { key, body, headers: [['prefer', 'wait=5']] })
      // Time to be refused in, for an adapter that does not wait.
      await new Promise((resolve) => setTimeout(resolve, 150))
      ledger.open(key)
      assertReplay(await waiting, await first)
      strictEqual(runs('/gated'), 1)
    },
  },
  {
    rule: 'request/race',
    title: 'of 100 identical requests at once one runs; the others are replayed or told to come back',
    source: 'idempot-dev/idempot-js#182, VilledeMontreal/express-idempotency#44',
    async run({ newKey, post, runs }) {
      const key = newKey()
      const answers = await Promise.all(Array.from({ length: 100 }, () => post('/charges', { key })))
      strictEqual(runs('/charges'), 1)
      for (const answer of answers) {
        if (answer.status === 409) assertProblem(answer, 409, 'in-progress')
        else strictEqual(answer.status, 201, answer.text)
        if (answer.status === 409) ok(answer.header('retry-after'))
      }
      const fresh = answers.filter(
        ({ status, header }) => status === 201 && header('idempotent-replayed') === undefined,
      )
      strictEqual(fresh.length, 1)
    },
  },
  {
    rule: 'request/scope',
    title: 'two tenants that use one key have nothing to do with each other',
    source: 'nensii21/devlink#773, chuanghiduoc/nestjs-fastify-nx#168, paveg/hono-idempotency#126',
    async run({ newKey, post, runs }) {
      const key = newKey()
      const alice = await post('/charges', { key, user: 'alice' })
      const bob = await post('/charges', { key, user: 'bob', body: '{"amount":2}' })
      strictEqual(bob.status, 201)
      assertReplay(await post('/charges', { key, user: 'alice' }), alice)
      assertReplay(await post('/charges', { key, user: 'bob', body: '{"amount":2}' }), bob)
      strictEqual(runs('/charges'), 2)
    },
  },
  {
    rule: 'request/nobody',
    title: 'a caller that nobody knows is refused, never put into a bucket that strangers share',
    source: 'KanishJebaMathewM/Truxify#2382, jox-sm/deepslate-rpg#104',
    async run({ newKey, post, runs }) {
      const key = newKey()
      for (let caller = 0; caller < 2; caller++) {
        const answer = await post('/charges', { key, user: null })
        assertProblem(answer, 401, 'missing-scope')
        ok(answer.header('www-authenticate'))
      }
      strictEqual(runs('/charges'), 0)
    },
  },
  {
    rule: 'request/rights',
    title: 'whoever lost the right to ask gets nothing of the kept answer',
    source: 'MCKRUZ/microsoft-agentic-harness#127, pathosDev/actor-ts#980',
    async run({ newKey, post }) {
      const key = newKey()
      const first = await post('/guarded', { key })
      const revoked = await post('/guarded', { key, user: 'alice-revoked' })
      strictEqual(revoked.status, 403)
      ok(!revoked.text.includes('run'))
      const hidden = await post('/guarded', { key, headers: [['x-may-see', 'no']] })
      assertProblem(hidden, 403, 'replay-forbidden')
      assertReplay(await post('/guarded', { key }), first)
    },
  },
  {
    rule: 'request/too-large',
    needs: 'bytes',
    title: 'a body over the limit is refused before the work, and the key is not used',
    source: 'granit-fx/granit-dotnet#1151',
    async run({ newKey, post, runs }) {
      const key = newKey()
      assertProblem(await post('/small', { key, body: `{"x":"${'y'.repeat(100)}"}` }), 413, 'request-too-large')
      strictEqual(runs('/small'), 0)
      strictEqual((await post('/small', { key, body: '{"x":1}' })).status, 201)
    },
  },
  {
    rule: 'request/refused-before',
    title: 'what is refused before the work does not use the key: the mended request runs',
    source: 'KanishJebaMathewM/Truxify#2869',
    async run({ newKey, post, runs }) {
      const key = newKey()
      strictEqual((await post('/charges', { key, user: 'alice-revoked' })).status, 403)
      assertProblem(await post('/charges', { key, user: null }), 401, 'missing-scope')
      strictEqual((await post('/charges', { key })).status, 201)
      strictEqual(runs('/charges'), 1)
    },
  },
  {
    rule: 'request/named-twice',
    needs: 'bytes',
    title: 'JSON that names a member twice is refused: nobody knows which one the handler sees',
    source: 'RFC 8259 §4',
    async run({ newKey, post, runs }) {
      const key = newKey()
      assertProblem(await post('/charges', { key, body: '{"a":1,"a":2}' }), 400, 'invalid-json')
      strictEqual((await post('/charges', { key, body: '{"a":1}' })).status, 201)
      strictEqual(runs('/charges'), 1)
    },
  },
  {
    rule: 'request/per-request',
    title: 'a route decides per request whether it is protected, and per answer whether it is final',
    source: 'rmosolgo/graphql-ruby#3772, interledger/rafiki#382, graphql/graphql-over-http#125',
    async run({ newKey, post, runs }) {
      const key = newKey()
      const query = { key, headers: [['x-operation', 'query'] as const] }
      const mutation = { key, headers: [['x-operation', 'mutation'] as const] }
      strictEqual((await post('/graphql', query)).header('idempotent-replayed'), undefined)
      strictEqual((await post('/graphql', query)).header('idempotent-replayed'), undefined)
      strictEqual(runs('/graphql'), 2)
      const first = await post('/graphql', mutation)
      assertReplay(await post('/graphql', mutation), first)
      strictEqual(runs('/graphql'), 3)
    },
  },
]
