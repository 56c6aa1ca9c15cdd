/** The store contract: the rules that hold for every store, run in any test runner or in none. */
import { sleep } from '../core/clock.ts'
import type { Grant } from '../core/store.ts'
import { createKit } from './store-contract/kit.ts'
import { type Rule, reasonToSkip } from './store-contract/rule.ts'
import { STORE_RULES } from './store-contract/rules.ts'
import type { Capabilities, Make } from './store-contract/subject.ts'

export interface RuleResult {
  readonly rule: string
  readonly title: string
  /** Why it could not be shown. */
  readonly skipped?: string
  /** How it was broken. */
  readonly error?: unknown
}

/** What vitest, node:test, jest and others have in common. */
export interface TestRunner {
  describe(name: string, body: () => void): unknown
  it: { (name: string, body: () => Promise<void>): unknown; skip(name: string, body: () => Promise<void>): unknown }
}

export interface ContractOptions {
  /** Default: the whole contract. */
  readonly rules?: readonly Rule[]
  /** How long one rule may take before it counts as broken: a store that hangs is one. Default 45 s. */
  readonly limitMs?: number
}

/** One test for each rule. Without `runner` the runner's globals are used. */
export function storeContract<G extends Grant>(
  make: Make<G>,
  capabilities: Capabilities & { readonly name?: string },
  {
    runner = globalThis as unknown as TestRunner,
    rules = STORE_RULES,
    limitMs,
  }: ContractOptions & { readonly runner?: TestRunner } = {},
): void {
  const { describe, it } = runner
  describe(`the store contract${capabilities.name === undefined ? '' : `: ${capabilities.name}`}`, () => {
    for (const rule of rules) {
      const reason = reasonToSkip(rule, capabilities)
      const name = `${rule.rule}: ${rule.title}${rule.report ? ` (${rule.report})` : ''}`
      if (reason === undefined) it(name, () => show(rule, make, capabilities, limitMs))
      else it.skip(`${name} [skipped: ${reason}]`, async () => {})
    }
  })
}

/** Runs the rules one after another and says how each ended. */
export async function checkStore<G extends Grant>(
  make: Make<G>,
  capabilities: Capabilities,
  { rules = STORE_RULES, limitMs }: ContractOptions = {},
): Promise<readonly RuleResult[]> {
  const results: RuleResult[] = []
  for (const rule of rules) {
    const { rule: number, title } = rule
    const skipped = reasonToSkip(rule, capabilities)
    if (skipped !== undefined) {
      results.push({ rule: number, title, skipped })
      continue
    }
    try {
      await show(rule, make, capabilities, limitMs)
      results.push({ rule: number, title })
    } catch (error) {
      results.push({ rule: number, title, error })
    }
  }
  return results
}

async function show<G extends Grant>(rule: Rule, make: Make<G>, capabilities: Capabilities, limitMs = 45_000) {
  // Rules hand a grant back to the subject it came from, and look at nothing but what every grant has.
  const kit = await createKit(make as unknown as Make, capabilities)
  const limit = new AbortController()
  try {
    await Promise.race([
      rule.run(kit),
      sleep(limitMs, limit.signal).then(() => {
        if (!limit.signal.aborted) throw new Error(`the rule did not end within ${limitMs} ms`)
      }),
    ])
  } finally {
    limit.abort()
    await kit.end()
  }
}
