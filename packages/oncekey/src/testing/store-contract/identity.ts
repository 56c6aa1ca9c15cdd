/** I1 and I2: two operations never share a record, whatever their names contain, and names that are none are refused. */
import assert from 'node:assert/strict'
import { sleep } from '../../core/clock.ts'
import { isOncekeyError } from '../../core/errors.ts'
import type { Operation } from '../../core/operation.ts'
import { keep, neverRuns, text } from './kit.ts'
import type { Rule } from './rule.ts'

export const identityRules: readonly Rule[] = [
  {
    rule: 'I2',
    title: 'tuples that look the same when glued together are different operations',
    report: 'triggerdotdev/trigger.dev#3752',
    async run({ operation, attempt }) {
      for (const glue of [':', '_', '|', '/', '%', '{}', '\u0000', ',', '1:']) {
        await sleep(0)
        const { key } = operation()
        const names: readonly (readonly [string | readonly string[], string])[] = [
          [`a${glue}b`, `c${key}`],
          ['a', `b${glue}c${key}`],
          [['a', 'b'], `c${key}`],
          [['a', 'b', `c${key}`], `c${key}`],
          [[`a${glue}b`, `c${key}`], `c${key}`],
        ]
        for (const [at, [scope, name]] of names.entries())
          assert.equal(
            (await attempt({ scope, key: name, fingerprints: ['body'] }, () => keep(text(`${at}`)))).kind,
            'won',
          )
        for (const [at, [scope, name]] of names.entries()) {
          const repeat = await attempt({ scope, key: name, fingerprints: ['body'] }, neverRuns)
          assert.deepEqual(repeat.kind === 'finished' && repeat.record.receipt, text(`${at}`))
        }
      }
    },
  },
  {
    rule: 'I1',
    title: 'a key has at most 255 characters, and is never cut',
    report: 'granit-fx/granit-dotnet#1151',
    async run({ operation, attempt }) {
      const { key } = operation()
      const longest = key.padEnd(255, 'x')
      assert.equal((await attempt(operation({ key: longest }))).kind, 'won')
      assert.equal((await attempt(operation({ key: `${longest.slice(0, 254)}y` }))).kind, 'won')
      for (const tooLong of [`${longest}x`, 'x'.repeat(300), 'x'.repeat(1_048_576)])
        await assert.rejects(attempt(operation({ key: tooLong }), neverRuns), (error) =>
          isOncekeyError(error, 'INVALID_KEY'),
        )
    },
  },
  {
    rule: 'I1',
    title: 'without a scope nothing runs: there is no bucket for everybody',
    report: 'KanishJebaMathewM/Truxify#2382',
    async run({ operation, attempt }) {
      for (const scope of [undefined, null, '', '  ', [], ['tenant', undefined], ['tenant', '']])
        await assert.rejects(attempt(operation({ scope: scope as Operation['scope'] }), neverRuns), (error) =>
          isOncekeyError(error, 'INVALID_SCOPE'),
        )
    },
  },
  {
    rule: 'I2',
    title: 'the same key of two tenants is two operations',
    report: 'nensii21/devlink#773',
    async run({ operation, attempt }) {
      const { key } = operation()
      for (const tenant of ['org_1', 'org_2'])
        assert.equal(
          (await attempt(operation({ scope: [tenant, 'user_1'], key }), () => keep(text(tenant)))).kind,
          'won',
        )
      for (const tenant of ['org_1', 'org_2']) {
        const repeat = await attempt(operation({ scope: [tenant, 'user_1'], key }), neverRuns)
        assert.deepEqual(repeat.kind === 'finished' && repeat.record.receipt, text(tenant))
      }
    },
  },
  {
    rule: 'I6',
    title: 'keys are compared character by character, in any script',
    async run({ operation, attempt, store }) {
      const { key } = operation()
      const keys = [
        'é',
        'e\u0301',
        'É',
        'ключ',
        '鍵',
        '\u{1f511}',
        'a\u0000b',
        "'; drop table record; --",
        ' k',
        'k',
        'K',
      ]
      for (const one of keys) {
        const named = operation({ key: `${one}${key}`, name: `charges ${one}` })
        assert.deepEqual(
          await attempt(named, () => ({ kind: 'hold', why: `why ${one}` })),
          { kind: 'won', fate: 'held' },
          one,
        )
        const seen = await store.admin.find(named)
        assert.equal(seen?.key, named.key)
        assert.equal(seen?.name, named.name)
        assert.equal(seen?.why, `why ${one}`)
      }
    },
  },
  {
    rule: 'I2',
    title: 'keys that begin with a time, as UUIDv7 and ULID do, are keys like any other',
    async run({ operation, attempt }) {
      const twelve = () => Math.random().toString(16).slice(2, 14).padEnd(12, '0')
      const tail = twelve()
      for (const key of [
        `01890a5d-ac96-774b-bcce-${tail}`,
        `01890A5D-AC96-774B-BCCE-${tail.toUpperCase()}Z`,
        '01ARZ3NDEKTSV4RRFFQ69G5FAV',
      ]) {
        const named = operation({ key, scope: ['contract', tail, key] })
        assert.equal((await attempt(named)).kind, 'won')
        assert.equal((await attempt(named, neverRuns)).kind, 'finished')
      }
    },
  },
]
