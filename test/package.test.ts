// What is published is not what is tested beside its source: the packed tarball is checked as a stranger would meet it.
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { command, node, root, temporaryFolder } from './support/command.ts'

const source = join(root, 'packages/oncekey')
const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as {
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}
const subpaths = Object.entries(manifest.exports).flatMap(([name, target]) =>
  typeof target === 'string' ? [] : [[name, target] as const],
)
const minutes = 60_000

describe('the packed package', () => {
  const folder = temporaryFolder(afterAll)
  const installed = join(folder, 'node_modules/oncekey')
  let tarball = ''

  beforeAll(async () => {
    const packed = await command('npm', ['pack', '--json', '--pack-destination', folder], { cwd: source })
    expect(packed.code, packed.output).toBe(0)
    const said = JSON.parse(packed.stdout)
    tarball = join(folder, (Array.isArray(said) ? said[0] : Object.values(said)[0]).filename)
    mkdirSync(installed, { recursive: true })
    const unpacked = await command('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1'])
    expect(unpacked.code, unpacked.output).toBe(0)
    for (const name of Object.keys(manifest.dependencies)) link(join(folder, 'node_modules'), name)
  }, 3 * minutes)

  it('holds the build, its README and its licence, and nothing else', async () => {
    const { stdout } = await command('tar', ['-tzf', tarball])
    const files = stdout
      .trim()
      .split('\n')
      .map((path) => path.replace('package/', ''))
    expect(files).toEqual(expect.arrayContaining(['package.json', 'README.md', 'LICENSE']))
    const odd = files.filter((path) => !/^(package\.json|README\.md|LICENSE|dist\/.+\.(js|d\.ts)(\.map)?)$/.test(path))
    expect(odd).toEqual([])
    expect(files.filter((path) => path.includes('.test.'))).toEqual([])
  })

  it.each(subpaths)('%s is there, with its types', (_name, target) => {
    expect(existsSync(join(installed, target.default)), target.default).toBe(true)
    expect(existsSync(join(installed, target.types)), target.types).toBe(true)
  })

  it.each(subpaths)('%s is imported where no driver and no framework is installed', async (name) => {
    const wanted = `oncekey${name.slice(1)}`
    const script = `const found = Object.keys(await import('${wanted}')); if (found.length === 0) throw new Error('empty')`
    const { code, output } = await node(['--input-type=module', '--eval', script], { cwd: folder })
    expect(code, output).toBe(0)
    expect(output).toBe('')
  })

  describe('where every driver is installed', () => {
    const modules = join(folder, 'drivers/node_modules')
    const stores = ['memory', 'sqlite', 'postgres', 'mysql', 'redis', 'dynamodb']

    beforeAll(() => {
      mkdirSync(modules, { recursive: true })
      cpSync(installed, join(modules, 'oncekey'), { recursive: true })
      for (const name of [...Object.keys(manifest.dependencies), ...Object.keys(manifest.devDependencies)])
        link(modules, name)
    })

    it.each(subpaths)(
      '%s loads no package but our dependencies, no framework, and no store that is not its own',
      async (name) => {
        const loaded = await graphOf(`oncekey${name.slice(1)}`, join(folder, 'drivers'))
        const own = loaded.flatMap((url) => /\/oncekey\/dist\/(.+)$/.exec(url)?.[1] ?? [])
        expect(own).not.toEqual([])
        const packages = loaded.flatMap((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? [])
        expect(
          [...new Set(packages)].filter((found) => found !== 'oncekey' && !(found in manifest.dependencies)),
        ).toEqual([])
        const found = stores.filter((store) => own.some((file) => new RegExp(`^stores/${store}[./]`).test(file)))
        expect(found).toEqual(stores.filter((store) => name === `./${store}`))
      },
    )
  })

  it.each(['nodenext', 'bundler'])(
    'type-checks in a strict project that checks its libraries too, resolved by %s',
    async (resolver) => {
      const project = temporaryFolder()
      const modules = join(project, 'node_modules')
      mkdirSync(modules)
      cpSync(installed, join(modules, 'oncekey'), { recursive: true })
      for (const name of [
        ...Object.keys(manifest.dependencies),
        ...Object.keys(manifest.devDependencies),
        '@types/node',
      ])
        link(modules, name)
      const uses = subpaths.map(
        ([name], at) => `import * as part${at} from 'oncekey${name.slice(1)}'\nexport { part${at} }\n`,
      )
      writeFileSync(join(project, 'use.ts'), uses.join(''))
      const module =
        resolver === 'nodenext' ? ['--module', 'nodenext'] : ['--module', 'esnext', '--moduleResolution', 'bundler']
      const compiler = join(root, 'node_modules/typescript7/bin/tsc')
      const options = [
        '--noEmit',
        '--strict',
        '--exactOptionalPropertyTypes',
        '--target',
        'es2023',
        '--lib',
        'es2023,dom,esnext.disposable',
      ]
      const { output } = await node([compiler, ...options, ...module, '--types', 'node', '--listFiles', 'use.ts'], {
        cwd: project,
      })
      expect(output).toContain('node_modules/oncekey/dist/index.d.ts')
      // What other packages' own declarations say is theirs.
      expect(output.split('\n').filter((line) => /^(use\.ts|node_modules\/oncekey).*error/.test(line))).toEqual([])
    },
    minutes,
  )

  it(
    'satisfies publint',
    async () => {
      const { code, output } = await node([join(root, 'node_modules/publint/src/cli.js'), 'run', tarball, '--strict'])
      expect(code, output).toBe(0)
    },
    minutes,
  )

  it(
    'resolves with its types for every ESM resolver (arethetypeswrong)',
    async () => {
      const checker = join(root, 'node_modules/@arethetypeswrong/cli/dist/index.js')
      const { code, output } = await node([checker, tarball, '--profile', 'esm-only', '--no-emoji', '--no-color'])
      expect(code, output).toBe(0)
    },
    2 * minutes,
  )
})

it('every subpath has its source path in tsconfig.json, so that examples are checked against the sources', () => {
  const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8'))
  const expected = subpaths.map(([name, target]) => [
    `oncekey${name.slice(1)}`,
    [target.default.replace('./dist/', './packages/oncekey/src/').replace(/\.js$/, '.ts')],
  ])
  expect(compilerOptions.paths).toEqual(Object.fromEntries(expected))
})

/** The addresses of all modules that Node loads for one import. */
async function graphOf(name: string, cwd: string): Promise<readonly string[]> {
  const hook = `export async function load(url, context, next) { process._rawDebug('loaded ' + url); return next(url, context) }`
  const script = `import { register } from 'node:module'
    register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hook)}))
    await import(${JSON.stringify(name)})`
  const { code, output } = await node(['--input-type=module', '--eval', script], { cwd })
  expect(code, output).toBe(0)
  return output.split('\n').flatMap((line) => (line.startsWith('loaded ') ? [line.slice('loaded '.length)] : []))
}

function link(modules: string, name: string): void {
  mkdirSync(dirname(join(modules, name)), { recursive: true })
  symlinkSync(join(root, 'node_modules', name), join(modules, name))
}
