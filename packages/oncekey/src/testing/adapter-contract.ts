/** The contract of HTTP adapters: one list of rules, run over real sockets against a sample application behind the adapter. */
import type { Store } from '../core/store.ts'
import { type HttpRule, ruleContext } from './adapter-contract/rule.ts'
import { ANSWER_RULES } from './adapter-contract/rules/answer.ts'
import { KEY_RULES } from './adapter-contract/rules/key.ts'
import { REQUEST_RULES } from './adapter-contract/rules/request.ts'
import { type AdapterServer, type Ledger, type Serve, sampleApp } from './adapter-contract/sample.ts'
import { SAMPLES } from './adapter-contract/samples.ts'

export type { HttpRule, RuleContext } from './adapter-contract/rule.ts'
export type { AdapterServer, Call, Reply, Sample, SampleApp, SampleOptions, Serve } from './adapter-contract/sample.ts'

export const HTTP_RULES: readonly HttpRule[] = [...KEY_RULES, ...REQUEST_RULES, ...ANSWER_RULES]

/** What vitest and node:test have in common. */
export interface HttpTestRunner {
  describe(name: string, body: () => void): void
  it(name: string, body: () => Promise<void>): void
  beforeAll(body: () => Promise<void>): void
  afterAll(body: () => Promise<void>): void
}

export interface AdapterContractOptions {
  readonly name: string
  /** Asked for when the tests begin. */
  readonly store: () => Store | Promise<Store>
  readonly serve: Serve
  /** `parsed`: a body parser runs before the protection. Default `bytes`. */
  readonly reads?: 'bytes' | 'parsed'
  readonly runner: HttpTestRunner
}

/** Binds every rule to a test. */
export function adapterContract({ name, store, serve, reads = 'bytes', runner }: AdapterContractOptions): void {
  runner.describe(name, () => {
    let ledger: Ledger
    let server: AdapterServer
    runner.beforeAll(async () => {
      ledger = sampleApp(await store(), SAMPLES)
      server = await serve(ledger.app)
    })
    runner.afterAll(async () => {
      await server.close()
      await ledger.app.store[Symbol.asyncDispose]()
    })
    for (const rule of HTTP_RULES.filter(({ needs = reads }) => needs === reads))
      runner.it(`${rule.rule}: ${rule.title} (${rule.source})`, () => rule.run(ruleContext(server.port, ledger)))
  })
}
