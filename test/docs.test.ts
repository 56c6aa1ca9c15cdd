// Every piece of TypeScript in the README and the docs is a region of a file that is compiled and run.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from './support/command.ts'

const PAGES = [
  'README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
]

describe.each(PAGES)('%s', (page) => {
  const text = readFileSync(join(root, page), 'utf8')

  it('shows only snippets that CI runs', () => {
    const blocks = [...text.matchAll(/(?:<!-- (\S+)#(\S+) -->\n)?```ts\n([\s\S]*?)```/g)]
    for (const [, file, region, shown] of blocks) {
      expect(file, `a block of ${page} names no file`).toBeDefined()
      expect(shown).toBe(regionOf(file as string, region as string))
    }
  })

  it('links only to what is there', () => {
    for (const [, link] of text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)) {
      expect(existsSync(join(root, page, '..', link as string)), `${page} links to ${link}`).toBe(true)
    }
  })
})

/** The lines between `// #region name` and `// #endregion`, without their common indentation. */
function regionOf(file: string, name: string): string {
  const source = readFileSync(join(root, file), 'utf8')
  const inside = new RegExp(`^( *)// #region ${name}\\n([\\s\\S]*?)^ *// #endregion`, 'm').exec(source)
  if (!inside) throw new Error(`${file} has no region ${name}`)
  const [, indent = '', lines = ''] = inside
  return lines
    .split('\n')
    .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line.trimStart()))
    .join('\n')
}
