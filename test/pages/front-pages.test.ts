// What stands beside the README for whoever picks this up, and that each link of a page leads somewhere.
import { strict as assert } from 'node:assert'
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { PROJECT } from '../fixtures/server-process.ts'

const read = (path: string): string => readFileSync(join(PROJECT, path), 'utf8')

/** Of https://www.apache.org/licenses/LICENSE-2.0.txt, byte for byte. */
const APACHE_2 = 'cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30'

test('the licence is the whole standard text of what package.json names', () => {
  assert.equal(createHash('sha256').update(read('LICENSE')).digest('hex'), APACHE_2)
  assert.equal(JSON.parse(read('package.json')).license, 'Apache-2.0')
})

type Link = { readonly page: string; readonly target: string }

/** Links and images of Markdown to files of the repository, code left out. */
function linksOf(page: string, text: string): Link[] {
  const prose = text.replaceAll(/^```[\s\S]*?^```/gm, '').replaceAll(/`[^`\n]*`/g, '')
  return [...prose.matchAll(/\]\(([^()\s]+)\)/g)]
    .map(([, target = '']) => ({ page, target }))
    .filter(({ target }) => !/^[a-z]+:/.test(target))
}

/** Names of the headings of a page, as links to them are written. */
function headingsOf(text: string): ReadonlySet<string> {
  const names = new Map<string, number>()
  const headings = [...text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ +(.*?) *$/gm)]
  return new Set(
    headings.map(([, title = '']) => {
      const plain = title.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
      const name = plain.replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, '').replaceAll(' ', '-')
      const before = names.get(name) ?? 0
      names.set(name, before + 1)
      return before === 0 ? name : `${name}-${before}`
    }),
  )
}

/** Why the link leads nowhere; undefined where it leads somewhere. */
function faultOf({ page, target }: Link): string | undefined {
  const [file = '', heading] = target.split('#')
  const path = file === '' ? page : normalize(join(dirname(page), file))
  if (path.startsWith('..') || !existsSync(join(PROJECT, path))) return `${page}: there is no ${target}`
  if (heading === undefined || headingsOf(read(path)).has(heading)) return undefined
  return `${page}: ${path} has no heading #${heading}`
}

test('links and headings of a page are read as they are written', () => {
  const code = '```sh\n# no [heading](no.md)\n```'
  const page = `# A \`b\`: c, d\n\n## E\n\n${code}\n\n## E\n[f](g.md#h) \`[i](j.md)\` [k](https://l.example/)`
  assert.deepEqual([...headingsOf(page)], ['a-b-c-d', 'e', 'e-1'])
  assert.deepEqual(linksOf('docs/m.md', page), [{ page: 'docs/m.md', target: 'g.md#h' }])
  assert.equal(faultOf({ page: 'docs/m.md', target: 'g.md#h' }), 'docs/m.md: there is no g.md#h')
  assert.equal(faultOf({ page: 'docs/m.md', target: '../README.md#none' }), 'docs/m.md: README.md has no heading #none')
  assert.equal(faultOf({ page: 'docs/m.md', target: '../README.md#start-it' }), undefined)
})

test('each link of each page leads to a file of the repository, and to a heading that it has', () => {
  const pages = globSync('{*.md,{docs,bench,changes,deploy,emulator,examples,native,test}/**/*.md}', {
    cwd: PROJECT,
    exclude: (path) => path.includes('node_modules'),
  })
  assert.ok(pages.includes('README.md') && pages.includes('docs/performance.md'))
  const links = pages.flatMap((page) => linksOf(page, read(page)))
  assert.ok(links.length > 100)
  assert.deepEqual(
    links.flatMap((link) => faultOf(link) ?? []),
    [],
  )
})

/** Paths from the project's directory that a page names as code; NAME stands for any. */
function pathsIn(text: string): string[] {
  const code = [...text.matchAll(/`([^`\n]+)`/g)].map(([, each = '']) => each)
  return code.filter((each) => /^(?:bench|changes|deploy|docs|emulator|examples|src|test|tools)\/[\w./-]+$/.test(each))
}

test('each file and folder that CONTRIBUTING.md names is there, and each script that it has npm run', () => {
  const page = read('CONTRIBUTING.md')
  const paths = pathsIn(page).filter((path) => !path.includes('NAME'))
  assert.ok(paths.length > 20)
  assert.deepEqual(
    paths.filter((path) => !existsSync(join(PROJECT, path))),
    [],
  )
  assert.deepEqual(pathsIn('`src/none.ts` src/no-code.ts `npm test -- src/auth` `aead.ts`'), ['src/none.ts'])
  const { scripts } = JSON.parse(read('package.json'))
  const named = [...page.matchAll(/npm run ([\w:]+)/g)].map(([, name = '']) => name)
  assert.ok(named.length > 5)
  assert.deepEqual(
    named.filter((name) => !(name in scripts)),
    [],
  )
})
