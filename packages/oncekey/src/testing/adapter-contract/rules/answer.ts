/** What is kept and what comes back. */
import { deepStrictEqual, notStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { assertProblem, assertReplay, type HttpRule, postOf } from '../rule.ts'

const SHAPES = [
  '/accepted',
  '/empty',
  '/no-bytes',
  '/found',
  '/declined',
  '/thrown-402',
  '/binary',
  '/accents',
  '/mebibyte',
]

export const ANSWER_RULES: readonly HttpRule[] = [
  ...SHAPES.map(
    (path): HttpRule => ({
      rule: `answer/same${path}`,
      title: `the answer of ${path.slice(1)} comes back as it was: status, type and bytes`,
      source: 'ikyriak/IdempotentAPI#39, novuhq/novu#12451, apache/trafficserver#9877',
      async run({ newKey, post, runs }) {
        const key = newKey()
        const first = await post(path, { key })
        ok(first.status < 500, first.text)
        const replay = await post(path, { key })
        assertReplay(replay, first)
        strictEqual(replay.header('location'), first.header('location'))
        strictEqual(runs(path), 1)
      },
    }),
  ),
  {
    rule: 'answer/framing',
    title: 'a replay is framed for its own connection, on which the next request works',
    source: 'ikyriak/IdempotentAPI#21, paveg/hono-idempotency#117, louislam/uptime-kuma#7635',
    async run({ newKey, connect }) {
      using wire = await connect()
      for (const path of ['/pieces', '/empty', '/accents']) {
        const key = newKey()
        const first = await wire.send(postOf(path, { key }))
        const replay = await wire.send(postOf(path, { key }))
        assertReplay(replay, first)
        const next = await wire.send(postOf('/charges', { key: newKey() }))
        strictEqual(next.status, 201)
      }
    },
  },
  {
    rule: 'answer/headers',
    title: 'what describes the result comes back; cookies, challenges, limits and ids of the first exchange never do',
    source: 'granit-fx/granit-dotnet#1151, VSN2015/concerns_on_rails#47, pathosDev/actor-ts#980',
    async run({ newKey, post }) {
      const key = newKey()
      const first = await post('/headers', { key })
      strictEqual(first.lines('set-cookie').length, 2)
      const replay = await post('/headers', { key })
      assertReplay(replay, first)
      for (const name of ['location', 'etag', 'link']) strictEqual(replay.header(name), first.header(name), name)
      for (const name of ['set-cookie', 'www-authenticate', 'x-ratelimit-remaining', 'x-custom', 'age'])
        strictEqual(replay.header(name), undefined, name)
      ok(Number.isFinite(Date.parse(replay.header('date') ?? '')))
      ok(replay.header('x-request-id'))
      notStrictEqual(replay.header('x-request-id'), first.header('x-request-id'))
    },
  },
  {
    rule: 'answer/cors',
    title: 'browsers may see what they need, on errors and replays too',
    source: 'ietf-wg-httpapi/idempotency#46',
    async run({ newKey, post }) {
      const key = newKey()
      const headers = [['origin', 'https://shop.example'] as const]
      const answers = [
        await post('/exposed', { key, headers }),
        await post('/exposed', { key, headers }),
        await post('/exposed', { headers }),
      ]
      deepStrictEqual(
        answers.map(({ status }) => status),
        [201, 201, 400],
      )
      for (const answer of answers) {
        strictEqual(answer.header('access-control-allow-origin'), 'https://shop.example')
        const exposed = answer.header('access-control-expose-headers')
        for (const name of ['Idempotent-Replayed', 'Idempotency-Key', 'Retry-After', 'Location', 'ETag', 'Link'])
          ok(exposed?.includes(name), `${name} is not exposed: ${exposed}`)
        ok(answer.header('idempotency-policy')?.includes('retention='))
      }
    },
  },
  {
    rule: 'answer/failed',
    title: 'an answer of 500, returned or thrown, is not kept where nothing happened: the next attempt runs',
    source: 'ietf-wg-httpapi/idempotency#41, VilledeMontreal/express-idempotency#32',
    async run({ newKey, post, runs }) {
      for (const path of ['/fails-first', '/throws-first']) {
        const key = newKey()
        const failed = await post(path, { key })
        // Only the first run of the sample fails.
        if (runs(path) === 1 && failed.status === 500) strictEqual((await post(path, { key })).status, 201)
        const last = await post(path, { key })
        strictEqual(last.header('idempotent-replayed'), 'true')
        strictEqual(last.status, 201)
      }
    },
  },
  {
    rule: 'answer/too-large',
    title: 'an answer over the limit reaches its caller, and is never made again',
    source: 'remcod-ru/remcod-agent-runtime#15, aws-powertools/powertools-lambda-typescript#2944',
    async run({ newKey, post, runs }) {
      const key = newKey()
      const first = await post('/oversized', { key })
      strictEqual(first.status, 201)
      strictEqual(first.body.length, 2_000)
      const repeat = await post('/oversized', { key })
      assertProblem(repeat, 409, 'replay-unavailable')
      strictEqual(repeat.header('location'), '/reports/1')
      strictEqual(runs('/oversized'), 1)
    },
  },
  {
    rule: 'answer/stream',
    title: 'a declared stream reaches its caller whole, is not kept, and is never made again',
    source: 'pathosDev/actor-ts#1308, ChronoAIProject/Ornn#833',
    async run({ newKey, post, runs }) {
      const key = newKey()
      const first = await post('/stream', { key })
      strictEqual(first.text, 'data: 1\n\ndata: 2\n\ndata: 3\n\n')
      assertProblem(await post('/stream', { key }), 409, 'replay-unavailable')
      strictEqual(runs('/stream'), 1)
    },
  },
  {
    rule: 'answer/pieces',
    title: 'an answer in pieces that is declared to be kept comes back whole',
    source: 'KanishJebaMathewM/Truxify#4622',
    async run({ newKey, post, runs }) {
      const key = newKey()
      const first = await post('/pieces', { key })
      strictEqual(first.text, 'one two three')
      assertReplay(await post('/pieces', { key }), first)
      strictEqual(runs('/pieces'), 1)
    },
  },
  {
    rule: 'answer/no-streams',
    title: 'a route that refuses streams refuses them before the work',
    source: 'mikesvoboda/nemotron-v3-home-security-intelligence#2958',
    async run({ newKey, post, runs }) {
      const key = newKey()
      const refused = await post('/no-streams', { key, headers: [['accept', 'text/event-stream']] })
      assertProblem(refused, 406, 'stream-refused')
      strictEqual(runs('/no-streams'), 0)
      strictEqual((await post('/no-streams', { key })).status, 201)
    },
  },
  {
    rule: 'answer/hang-up',
    title: 'a client that hangs up stops nothing: its retry is told to wait, then gets the whole answer',
    source: 'middleapi/orpc#1738, sveltejs/kit#16793',
    async run({ newKey, post, connect, ledger, runs }) {
      const key = newKey()
      const body = `{"gate":"${key}"}`
      const wire = await connect()
      const lost = wire.send(postOf('/gated', { key, body })).catch(() => 'lost')
      await ledger.reached(key)
      wire.hangUp()
      strictEqual(await lost, 'lost')
      assertProblem(await post('/gated', { key, body }), 409, 'in-progress')
      ledger.open(key)
      const retry = await post('/gated', { key, body, headers: [['prefer', 'wait=5']] })
      strictEqual(retry.status, 201)
      strictEqual(retry.header('idempotent-replayed'), 'true')
      strictEqual(retry.json.got, body)
      strictEqual(runs('/gated'), 1)
    },
  },
]
