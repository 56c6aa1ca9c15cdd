// The arrows of the layers are held by a lint rule; here each arrow is broken on purpose, so that the rule cannot rot.
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { node, root, temporaryFolder } from './support/command.ts'

interface Report {
  readonly diagnostics: readonly {
    readonly code: string
    readonly filename: string
    readonly labels: readonly { readonly span: { readonly line: number } }[]
  }[]
  readonly number_of_files: number
}

const surfaces = ['http', 'client', 'phases', 'messages', 'tools', 'otel', 'checks']
const stores = ['memory.ts', 'postgres/index.ts', 'sqlite/index.ts', 'mysql/index.ts', 'redis/index.ts']
const ruled = ['eslint(no-restricted-imports)', 'import(no-cycle)']
const inPackage = 'packages/oncekey/src'

it('every file of the library keeps to its layer, and imports in no circle', async () => {
  const report = await lint(root)
  expect(report.number_of_files).toBeGreaterThan(0)
  expect(report.diagnostics.filter(({ code }) => ruled.includes(code))).toEqual([])
})

it('what is allowed is not reported', async () => {
  const planted = await lintPlanted([
    [`${inPackage}/core/a.ts`, './b.ts'],
    [`${inPackage}/core/deep/a.ts`, '../b.ts'],
    [`${inPackage}/core/a.ts`, 'uuid'],
    [`${inPackage}/stores/postgres/a.ts`, '../database/b.ts'],
    [`${inPackage}/stores/postgres/a.ts`, '../../core/b.ts'],
    [`${inPackage}/stores/database/a.ts`, '../../core/b.ts'],
    [`${inPackage}/http/hono.ts`, '../core/b.ts'],
    [`${inPackage}/http/hono.ts`, 'hono'],
    [`${inPackage}/client/deep/a.ts`, '../b.ts'],
    [`${inPackage}/testing/a.ts`, '../http/b.ts'],
    [`${inPackage}/testing/a.ts`, '../stores/memory.ts'],
    [`${inPackage}/open.ts`, './stores/postgres/index.ts'],
    [`${inPackage}/core/a.test.ts`, '../stores/memory.ts'],
    ['examples/payments/src/a.ts', 'oncekey/postgres'],
    ['bench/src/a.ts', 'oncekey'],
  ])
  expect(restricted(planted)).toEqual([])
})

it('a broken arrow is caught, whichever it is and however it is imported', async () => {
  const broken = [
    ...fromCore(),
    ...surfaces.flatMap(fromSurface),
    ...stores.flatMap((store) => fromStore(`${inPackage}/stores/${store}`)),
    ...fromStore(`${inPackage}/stores/database/a.ts`),
    ...['database', 'postgres', 'sqlite'].flatMap((folder) =>
      stores
        .filter((store) => !store.startsWith(folder))
        .map((store) => edge(`${inPackage}/stores/${folder}/a.ts`, `../${store}`)),
    ),
    ...stores.slice(1).map((store) => edge(`${inPackage}/stores/memory.ts`, `./${store}`)),
    ...stores.slice(1).map((store) => edge(`${inPackage}/testing/a.ts`, `../stores/${store}`)),
    edge(`${inPackage}/testing/a.ts`, '../open.ts'),
    ...[...surfaces, 'testing'].map((above) => edge(`${inPackage}/open.ts`, `./${above}/index.ts`)),
    edge('examples/payments/src/a.ts', '../../../packages/oncekey/src/index.ts'),
    edge('bench/src/a.ts', '../../packages/oncekey/src/open.ts'),
    edge('bench/src/a.ts', 'oncekey/dist/open.js'),
    edge('packages/cli/src/a.ts', '../../oncekey/src/open.ts'),
  ]
  for (const form of [
    (to: string, line: number) => `import { x as x${line} } from '${to}'`,
    (to: string, line: number) => `import type { X as X${line} } from '${to}'`,
    (to: string) => `export * from '${to}'`,
    (to: string) => `await import('${to}')`,
  ]) {
    expect(restricted(await lintPlanted(broken, form))).toEqual(broken.map(([from, to]) => `${from} -> ${to}`).sort())
  }
})

it('a circle is caught, even one of types only', async () => {
  const folder = temporaryFolder()
  plant(folder, `${inPackage}/core/a.ts`, `import type { B } from './b.ts'\nexport type A = B | 1\n`)
  plant(folder, `${inPackage}/core/b.ts`, `import type { A } from './a.ts'\nexport type B = A | 2\n`)
  const { diagnostics } = await lint(folder)
  expect(diagnostics.map(({ code }) => code)).toContain('import(no-cycle)')
})

type Edge = readonly [from: string, to: string]

function edge(from: string, to: string): Edge {
  return [from, to]
}

function fromCore(): Edge[] {
  const above = [...surfaces.map((name) => `${name}/index.ts`), ...stores.map((name) => `stores/${name}`)]
  const outside = [...above, 'testing/index.ts', 'open.ts', 'index.ts'].map((to) =>
    edge(`${inPackage}/core/a.ts`, `../${to}`),
  )
  const foreign = ['node:crypto', 'pg', 'postgres', 'libsql', 'hono', 'express', 'oncekey', 'oncekey/memory']
  return [
    ...outside,
    ...foreign.map((to) => edge(`${inPackage}/core/a.ts`, to)),
    ...above.map((to) => edge(`${inPackage}/index.ts`, `./${to}`)),
  ]
}

function fromSurface(surface: string): Edge[] {
  const others = surfaces.filter((other) => other !== surface).map((other) => `../${other}/index.ts`)
  const below = stores.map((store) => `../stores/${store}`)
  return [...others, ...below, '../stores/database/a.ts', '../testing/index.ts', '../open.ts', 'oncekey/postgres'].map(
    (to) => edge(`${inPackage}/${surface}/a.ts`, to),
  )
}

function fromStore(file: string): Edge[] {
  const up = '../'.repeat(file.split('/').length - inPackage.split('/').length - 1)
  return [...surfaces, 'testing']
    .map((above) => edge(file, `${up}${above}/index.ts`))
    .concat([edge(file, `${up}open.ts`)])
}

/** One import per line, so that one run of the linter answers for all of them. */
async function lintPlanted(
  edges: readonly Edge[],
  form = (to: string, _line: number) => `export * from '${to}'`,
): Promise<Planted> {
  const folder = temporaryFolder()
  const lines = new Map<string, string[]>()
  for (const [from, to] of edges) lines.set(from, [...(lines.get(from) ?? []), to])
  for (const [from, targets] of lines) plant(folder, from, `${targets.map(form).join('\n')}\nexport {}\n`)
  const report = await lint(folder)
  expect(report.number_of_files).toBe(lines.size)
  return { report, lines }
}

interface Planted {
  readonly report: Report
  readonly lines: ReadonlyMap<string, readonly string[]>
}

function restricted({ report, lines }: Planted): string[] {
  return report.diagnostics
    .filter(({ code }) => code === 'eslint(no-restricted-imports)')
    .map(({ filename, labels }) => `${filename} -> ${lines.get(filename)?.[(labels[0]?.span.line ?? 0) - 1]}`)
    .sort()
}

async function lint(folder: string): Promise<Report> {
  const linter = join(root, 'node_modules/oxlint/bin/oxlint')
  const { stdout, output } = await node([linter, '-c', join(folder, '.oxlintrc.json'), '-f', 'json'], { cwd: folder })
  if (!stdout.startsWith('{')) throw new Error(`oxlint said no report: ${output}`)
  return JSON.parse(stdout)
}

function plant(folder: string, file: string, text: string): void {
  const path = join(folder, file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  cpSync(join(root, '.oxlintrc.json'), join(folder, '.oxlintrc.json'))
}
