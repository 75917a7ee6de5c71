// docs/security-model.md says which check is held where: each number that it calls held stands in a test that it names,
// and each file that it names is there. So the page cannot promise what nobody checks. What does not hold stands in one
// list at its end, and nowhere else.
import { strict as assert } from 'node:assert'
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'
import { PROJECT } from '../fixtures/server-process.ts'

type Row = { readonly line: number; readonly ids: readonly string[]; readonly state: string }

const STATES = ['State', 'Held by']
/** What a state that names no test begins with: why there is none. */
const REASONS = ['nothing to test', 'by construction', 'by the runtime', 'see ']
const MISSING = '\n## What does not hold yet\n'
const FILES = globSync(['src/**/*.ts', 'test/**/*.ts', 'tools/**/*.ts', 'bench/**/*.ts'], { cwd: PROJECT })

/** Rows that begin with the number of a check, of tables whose last column is about tests. */
function rows(page: string): Row[] {
  let last = ''
  return page.split('\n').flatMap((text, at) => {
    if (!text.startsWith('|')) {
      last = ''
      return []
    }
    const cells = text.split('|').map((cell) => cell.trim())
    const [, first = ''] = cells
    const state = cells.at(-2) ?? ''
    if (last === '') last = state
    if (!STATES.includes(last) || !/^[A-Z]{1,2}-\d\d\b/.test(first)) return []
    return [{ line: at + 1, ids: idsIn(first), state }]
  })
}

/** Also of ranges: "P-34 to P-39, P-41". */
function idsIn(cell: string): string[] {
  const ranges = [...cell.matchAll(/\b([A-Z]{1,2})-(\d\d)\b(?: to [A-Z]{1,2}-(\d\d)\b)?/g)]
  return ranges.flatMap(([, letters = '', from = '', to = from]) => {
    const count = Number(to) - Number(from) + 1
    return Array.from({ length: count }, (_, at) => `${letters}-${String(Number(from) + at).padStart(2, '0')}`)
  })
}

/** What stands in backticks and is a file, or a directory that ends in /; a name alone is beside the file before it. */
function namedFiles(state: string): { readonly name: string; readonly path: string | undefined }[] {
  let directory = ''
  return [...state.matchAll(/`([^` ]+(?:\.ts|\/))`/g)].map(([, name = '']) => {
    const inside = name.includes('/') ? name : join(directory, name)
    const elsewhere = FILES.filter((file) => basename(file) === name)
    const path = existsSync(join(PROJECT, inside)) ? inside : elsewhere.length === 1 ? elsewhere[0] : undefined
    if (path !== undefined) directory = path.endsWith('/') ? path : dirname(path)
    return { name, path }
  })
}

const textOf = (path: string): string =>
  statSync(join(PROJECT, path)).isDirectory()
    ? FILES.filter((file) => file.startsWith(path))
        .map(textOf)
        .join('\n')
    : readFileSync(join(PROJECT, path), 'utf8')

const page = readFileSync(join(PROJECT, 'docs/security-model.md'), 'utf8')
const found = rows(page)

test('every file that the security model names is there', () => {
  const missing = found.flatMap(({ line, state }) =>
    namedFiles(state).flatMap(({ name, path }) => (path === undefined ? [`line ${line}: ${name}`] : [])),
  )
  assert.deepEqual(missing, [])
})

test('every check that the security model calls held stands in a test that it names there', () => {
  assert.ok(found.length > 100)
  const lies = found.flatMap(({ line, ids, state }) => {
    if (REASONS.some((reason) => state.startsWith(reason))) return []
    const texts = namedFiles(state).flatMap(({ path }) => (path === undefined ? [] : [textOf(path)]))
    if (texts.length === 0) return [`line ${line} names no test and no reason: ${state}`]
    return ids.filter((id) => !texts.some((text) => text.includes(id))).map((id) => `line ${line}: ${id}`)
  })
  assert.deepEqual(lies, [])
})

test('no check has two rows, where one could say what the other denies', () => {
  const seen = found.flatMap(({ ids }) => ids)
  assert.deepEqual(
    seen.filter((id, at) => seen.indexOf(id) !== at),
    [],
  )
})

test('what does not hold stands in the list at the end, and nowhere else', () => {
  const [held = '', missing = '', ...more] = page.split(MISSING)
  assert.deepEqual(more, [])
  assert.ok(!missing.includes('\n## '), 'the list is the last part of the page')
  assert.deepEqual(held.match(/.*\b(?:not (?:yet|done|kept|measured)|waits for)\b.*/gi) ?? [], [])
  const rows = missing.split('\n').filter((line) => /^\| (?!What|-)/.test(line))
  assert.ok(rows.length > 0)
  assert.deepEqual(
    rows.filter((row) => idsIn(row.split('|').at(-2) ?? '').length === 0),
    [],
  )
})
