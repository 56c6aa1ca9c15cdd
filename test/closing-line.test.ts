import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { node, root, temporaryFolder } from './support/command.ts'

it('the last line of a run is its tally, and a file that did not load is a failure in it', async () => {
  const { code, last } = await run({
    'mixed.test.js': `import { expect, it } from 'vitest'
      it('passes', () => {})
      it('passes too', () => {})
      it('fails', () => expect(1).toBe(2))
      it.skip('is skipped', () => {})
      it.todo('is to be written')`,
    'broken.test.js': `import './not-there.js'`,
    'hook.test.js': `import { beforeAll, describe, it } from 'vitest'
      describe('a suite', () => {
        beforeAll(() => { throw new Error('no service') })
        it('cannot run', () => {})
      })`,
  })
  expect(last).toBe('2 passed, 3 failed, 3 skipped')
  expect(code).toBe(1)
})

it('an error that belongs to no test is a failure in it', async () => {
  const { code, last } = await run({
    'stray.test.js': `import { it } from 'vitest'
      it('passes', async () => {
        setTimeout(() => { throw new Error('stray') })
        await new Promise((resolve) => setTimeout(resolve, 50))
      })`,
  })
  expect(last).toBe('1 passed, 1 failed, 0 skipped')
  expect(code).toBe(1)
})

it('a test that passed only at its second try is named before the tally', async () => {
  const { code, last, output } = await run({
    'flaky.test.js': `import { expect, it } from 'vitest'
      let tries = 0
      it('passes the second time', { retry: 1 }, () => expect(++tries).toBe(2))
      it('passes at once', { retry: 1 }, () => {})`,
  })
  expect(output).toContain('needed a second try: passes the second time')
  expect(output).not.toContain('second try: passes at once')
  expect(last).toBe('2 passed, 0 failed, 0 skipped')
  expect(code).toBe(0)
})

it('the matrix says which rule was shown, broken or skipped on which store, and why', async () => {
  const { output, last } = await run({
    'contract.test.js': `import { describe, expect, it } from 'vitest'
      describe('the store contract: memory', () => {
        it('S1: a first rule', () => {})
        it('S2: a second rule (owner/repo#1)', () => expect(1).toBe(2))
        it.skip('T1: a third rule [skipped: it is about transaction mode]', () => {})
      })
      describe('around', () => describe('the store contract: redis', () => {
        it('S1: a first rule', () => {})
        it.skip('S2: a second rule (owner/repo#1) [skipped: it cannot be moved]', () => {})
        it.skip('T1: a third rule [skipped: it is about transaction mode]', () => {})
      }))`,
  })
  const lines = output.split('\n').map((line) => line.trimEnd().replace(/ {2,}/g, '  '))
  expect(lines).toContain(
    'The store contract: 3 rules on 2 stores and ways to reach them (✓ shown, – skipped, ✗ broken)',
  )
  expect(lines).toContain('  a  memory: 1 shown, 1 skipped, 1 BROKEN')
  expect(lines).toContain('  b  redis: 1 shown, 2 skipped')
  expect(lines).toContain('S1: a first rule  ✓✓')
  expect(lines).toContain('S2: a second rule (owner/repo#1)  ✗–')
  expect(lines).toContain('T1: a third rule  ––')
  expect(lines).toContain('  it is about transaction mode: a 1, b 1')
  expect(lines).toContain('  it cannot be moved: b 1')
  expect(last).toBe('2 passed, 1 failed, 3 skipped')
})

it('a run without a test fails', async () => {
  expect((await run({})).code).toBe(1)
})

async function run(
  files: Readonly<Record<string, string>>,
): Promise<{ code: number | null; last: string | undefined; output: string }> {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'tests'))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const line = JSON.stringify(join(root, 'test/support/closing-line.ts'))
  const config = `import { closingLine } from ${line}\nexport default { test: { reporters: ['default', closingLine({ matrix: true })] } }\n`
  writeFileSync(join(folder, 'vitest.config.ts'), config)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, 'tests', name), text)
  const { code, stdout } = await node([join(root, 'node_modules/vitest/vitest.mjs'), 'run'], { cwd: folder })
  return { code, last: stdout.trimEnd().split('\n').at(-1), output: stdout }
}
