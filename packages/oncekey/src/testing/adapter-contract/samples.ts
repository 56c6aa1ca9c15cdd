/** The routes of the sample application, each there for the rules that name it. */
import type { Call, Reply, Sample } from './sample.ts'

const json: readonly [string, string] = ['content-type', 'application/json']
const LARGE = 1_048_576

function created({ number, text }: Call): Reply {
  return { status: 201, headers: [json], body: JSON.stringify({ run: number, got: text }) }
}
/** The body names the gate: `{"gate":"..."}`. */
async function gated(call: Call): Promise<Reply> {
  await call.gate(JSON.parse(call.text).gate)
  return created(call)
}
const every256 = Uint8Array.from({ length: 256 }, (_, byte) => byte)
const noise = Uint8Array.from({ length: LARGE }, (_, at) => (at * 2_654_435_761) >>> 24)

export const SAMPLES: readonly Sample[] = [
  { path: '/charges', reply: created },
  { path: '/refunds', reply: created },
  { path: '/gated', reply: gated },
  { path: '/optional', options: () => ({ required: false }), reply: created },
  { path: '/traced', options: () => ({ compare: { omit: ['/trace_id', '/file/url'] } }), reply: created },
  { path: '/in-body', options: () => ({ key: { body: '/idempotency_key' } }), reply: created },
  { path: '/in-query', options: () => ({ key: { query: 'ClientToken' } }), reply: created },
  { path: '/strict', options: () => ({ key: { syntax: 'strict' } }), reply: created },
  { path: '/small', options: () => ({ maxBodyBytes: 64 }), reply: created },
  { path: '/accepted', reply: () => ({ status: 202, headers: [json], body: '{"queued":true}' }) },
  { path: '/empty', reply: () => ({ status: 204, body: null }) },
  { path: '/no-bytes', reply: () => ({ status: 200, headers: [['content-type', 'text/plain']], body: '' }) },
  { path: '/found', reply: () => ({ status: 302, headers: [['location', '/charges/7']], body: null }) },
  { path: '/declined', reply: ({ number }) => ({ status: 402, headers: [json], body: `{"declined":${number}}` }) },
  { path: '/thrown-402', reply: () => ({ status: 402, body: 'declined', throws: true }) },
  { path: '/fails-first', reply: (call) => (call.number === 1 ? { status: 500, body: 'sorry' } : created(call)) },
  {
    path: '/throws-first',
    reply: (call) => (call.number === 1 ? { status: 500, body: 'sorry', throws: true } : created(call)),
  },
  {
    path: '/binary',
    reply: () => ({ status: 200, headers: [['content-type', 'application/octet-stream']], body: every256 }),
  },
  {
    path: '/accents',
    reply: () => ({ status: 200, headers: [['content-type', 'text/plain; charset=utf-8']], body: 'füü – ≠' }),
  },
  {
    path: '/mebibyte',
    reply: () => ({ status: 200, headers: [['content-type', 'application/octet-stream']], body: noise }),
  },
  {
    path: '/oversized',
    options: () => ({ policy: { maxBytes: 1_000 } }),
    reply: () => ({ status: 201, headers: [['location', '/reports/1']], body: 'x'.repeat(2_000) }),
  },
  {
    path: '/headers',
    reply: () => ({
      status: 201,
      headers: [
        json,
        ['location', '/charges/1'],
        ['etag', '"v1"'],
        ['link', '</charges>; rel="collection"'],
        ['set-cookie', 'session=first; HttpOnly'],
        ['set-cookie', 'csrf=second'],
        ['www-authenticate', 'Bearer realm="first"'],
        ['x-ratelimit-remaining', '3'],
        ['x-custom', 'not named'],
      ],
      body: '{}',
    }),
  },
  {
    path: '/guarded',
    options: (header) => ({ authorizeReplay: (context) => header(context, 'x-may-see') !== 'no' }),
    reply: created,
  },
  {
    path: '/graphql',
    options: (header) => ({
      protect: (context) => header(context, 'x-operation') === 'mutation',
      final: ({ body }) => !new TextDecoder().decode(body ?? new Uint8Array()).includes('"errors"'),
    }),
    reply: ({ number }) => ({
      status: 200,
      headers: [json],
      body: number === 1 ? '{"errors":[1]}' : `{"data":${number}}`,
    }),
  },
  {
    path: '/stream',
    options: () => ({ streams: 'spend' }),
    reply: () => ({
      status: 200,
      headers: [['content-type', 'text/event-stream']],
      chunks: [
        { text: 'data: 1\n\n', afterMs: 0 },
        { text: 'data: 2\n\n', afterMs: 40 },
        { text: 'data: 3\n\n', afterMs: 40 },
      ],
    }),
  },
  {
    path: '/pieces',
    options: () => ({ streams: 'buffer' }),
    reply: () => ({
      status: 200,
      headers: [['content-type', 'text/plain']],
      chunks: [
        { text: 'one ', afterMs: 0 },
        { text: 'two ', afterMs: 150 },
        { text: 'three', afterMs: 5 },
      ],
    }),
  },
  {
    path: '/no-streams',
    options: () => ({ streams: 'refuse' }),
    reply: created,
  },
  {
    path: '/exposed',
    options: () => ({ expose: true, publish: true }),
    reply: created,
  },
]
