// The contract can fail: each of these mistakes, made behind a real adapter, breaks the rules that are named with it.
import { describe, expect, it } from 'vitest'
import { serveFetch } from '../../../../test/support/adapters/fetch.ts'
import { downstreamDedupes } from '../core/policy.ts'
import type { Store } from '../core/store.ts'
import { memory } from '../stores/memory.ts'
import { ruleContext } from './adapter-contract/rule.ts'
import { type Sample, type SampleOptions, sampleApp } from './adapter-contract/sample.ts'
import { SAMPLES } from './adapter-contract/samples.ts'
import { HTTP_RULES, type SampleApp } from './adapter-contract.ts'

interface Mistake {
  readonly app?: Partial<SampleApp>
  readonly options?: SampleOptions
  readonly store?: (store: Store) => Partial<Store>
  readonly breaks: readonly string[]
}

const MISTAKES: Readonly<Record<string, Mistake>> = {
  'every caller shares one scope': {
    app: { authenticate: () => ({ user: 'everybody' }) },
    breaks: ['request/scope', 'request/nobody', 'request/rights'],
  },
  'a missing key is let through': { options: { required: false }, breaks: ['key/missing'] },
  'requests are not compared': {
    store: (store) => ({
      attempt: (operation, how, work) => store.attempt({ ...operation, fingerprints: ['same'] }, how, work),
    }),
    breaks: ['request/reused', 'request/sees-the-body', 'request/while-running', 'request/left-out'],
  },
  'nothing is remembered': {
    store: (store) => ({
      attempt: (operation, how, work) =>
        store.attempt({ ...operation, key: `${operation.key}-${crypto.randomUUID()}` }, how, work),
    }),
    breaks: ['request/same', 'request/race', 'request/in-progress', 'answer/hang-up', 'answer/same/empty'],
  },
  'answers are forgotten': {
    store: (store) => ({
      attempt: (operation, how, work) =>
        store.attempt(operation, how, async (grant) => {
          const verdict = await work(grant)
          return verdict.kind === 'keep' ? { kind: 'spend', why: 'not-kept' } : verdict
        }),
    }),
    breaks: ['request/same', 'answer/same/binary', 'answer/framing'],
  },
  'failures are kept': { options: { policy: { judge: () => 'keep' } }, breaks: ['answer/failed'] },
  'answers are hardly kept': { options: { policy: { maxBytes: 100 } }, breaks: ['answer/same/binary'] },
  'nothing is exposed to browsers': { options: { expose: false }, breaks: ['answer/cors'] },
  'replays are not authorised': { options: { authorizeReplay: () => true }, breaks: ['request/rights'] },
  'every request is protected': { options: { protect: () => true }, breaks: ['request/per-request'] },
  'a large body is taken': { options: { maxBodyBytes: 1_000_000 }, breaks: ['request/too-large'] },
  'nobody may wait': { options: { maxWait: 0 }, breaks: ['request/waits'] },
}

describe('the contract of HTTP adapters', () => {
  for (const [mistake, { app = {}, options = {}, store: wrap, breaks }] of Object.entries(MISTAKES))
    for (const name of breaks)
      it(`${name} breaks where ${mistake}`, async () => {
        const rule = HTTP_RULES.find((one) => one.rule === name)
        if (!rule) throw new Error(`there is no rule ${name}`)
        const real = memory(downstreamDedupes({ for: '1h' })) as Store
        const samples = SAMPLES.map(
          (sample): Sample => ({ ...sample, options: (header) => ({ ...sample.options?.(header), ...options }) }),
        )
        const ledger = sampleApp(wrap ? { ...real, ...wrap(real) } : real, samples)
        const server = await serveFetch({ ...ledger.app, ...app })
        try {
          await expect(rule.run(ruleContext(server.port, ledger, 1_000))).rejects.toThrow()
        } finally {
          await server.close()
        }
      })

  it('has a name and a source for every rule, no name twice', () => {
    const names = HTTP_RULES.map(({ rule }) => rule)
    expect(new Set(names).size).toBe(names.length)
    expect(HTTP_RULES.filter(({ source, title }) => source === '' || title === '')).toEqual([])
  })
})
