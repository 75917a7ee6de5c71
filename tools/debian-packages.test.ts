import assert from 'node:assert/strict'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { PACKAGE_OF, withoutPackage } from '../test/fixtures/debian-packages.ts'
import { listedPackages, packagesToInstall } from './debian-packages.ts'

const PROJECT = join(import.meta.dirname, '..')

function projectWith(context: TestContext, list: string): string {
  const root = mkdtempSync(join(tmpdir(), 'packages-'))
  context.after(() => rmSync(root, { recursive: true }))
  mkdirSync(join(root, '.ci'))
  writeFileSync(join(root, '.ci/packages'), list)
  return root
}

const LIST = '# Packages.\ncurl  # requests\n\nlibwrk # no program\nwrk\ng++   # compiles\n'

test('the packages that tests were left out for are one line, each once, in the order of the list', (context) => {
  const root = projectWith(context, LIST)
  const reasons = [withoutPackage('g++'), 'no root', withoutPackage('wrk'), withoutPackage('g++')]
  assert.deepEqual(packagesToInstall(root, reasons), [
    'left out for want of Debian packages: wrk, g++. Install: apt-get install wrk g++',
  ])
})

test('nothing is said where tests were left out for other reasons, or where there is no list', (context) => {
  const root = projectWith(context, LIST)
  assert.deepEqual(packagesToInstall(root, ['curl refused', withoutPackage('unheard-of')]), [])
  assert.deepEqual(packagesToInstall(join(root, 'src'), [withoutPackage('curl')]), [])
})

test('every package that tests can be left out for is in .ci/packages', () => {
  const listed = listedPackages(PROJECT)
  const named = globSync('{src,test,tools,bench,emulator}/**/*.ts', { cwd: PROJECT })
    .map((path) => readFileSync(join(PROJECT, path), 'utf8'))
    .flatMap((content) =>
      [...content.matchAll(/withoutPackage\('(?!unheard-of')([^']+)'\)/g)].map(([, name = '']) => name),
    )
  for (const name of [...Object.values(PACKAGE_OF), ...named]) assert.ok(listed.includes(name), name)
})
