// README.md as a newcomer follows it: in a copy of the project that has never been installed. Where everything is
// required, the `npm ci` of its first command really runs; elsewhere the copy borrows node_modules.
import { strict as assert } from 'node:assert'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { parseConfig } from '../../../src/config/config.ts'
import { without } from '../../fixtures/debian-packages.ts'
import { PROJECT, temporaryDirectory } from '../../fixtures/server-process.ts'
import { assertRunnable, followPage, readPage } from './follow-page.ts'

const PAGE = readPage(join(PROJECT, 'README.md'))

const INSTALLS = process.env.KEYWRIGHT_REQUIRE === 'all' || process.env.CI === 'true'
const MOST_MS = 4 * 60_000

test('README shows commands in blocks that are run, and no others', () => assertRunnable(PAGE))

test('README shows configurations that are taken', () => {
  for (const { text } of PAGE.blocks.filter(({ language }) => language === 'hcl')) {
    assert.notDeepEqual(parseConfig(text), {})
  }
})

test('README can be followed from top to bottom', {
  timeout: MOST_MS + 10_000,
  skip: without('curl'),
}, async (context) => {
  const temporary = temporaryDirectory()
  context.after(() => temporary.cleanUp())
  const copy = join(temporary.path, 'keywright')
  copyTree(copy)
  const before = listing(copy)
  await followPage(PAGE, {
    directory: copy,
    outputs: join(temporary.path, 'outputs'),
    mostMs: MOST_MS,
    ...(INSTALLS ? {} : { bin: borrowingNpm(join(temporary.path, 'commands')) }),
  })
  assert.deepEqual(listing(copy), before, 'following it leaves nothing behind')
})

/** A directory with an npm whose `ci` is a link. */
function borrowingNpm(directory: string): string {
  const { stdout } = spawnSync('/bin/sh', ['-c', 'command -v npm'], { encoding: 'utf8' })
  const npm = join(directory, 'npm')
  mkdirSync(directory)
  // `exec`: started in the background it must be npm itself that a signal ends, not a shell around it.
  const link = `if [ "$1" = ci ]; then exec ln -s '${PROJECT}/node_modules' node_modules; fi`
  writeFileSync(npm, ['#!/bin/sh', link, `exec '${stdout.trim()}' "$@"`, ''].join('\n'), { mode: 0o755 })
  return directory
}

/** What a clone of the working tree would hold: also what is not committed yet, and nothing that is ignored. */
function copyTree(copy: string): void {
  const listed = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: PROJECT,
    encoding: 'utf8',
  })
  assert.equal(listed.status, 0, listed.stderr)
  for (const path of new Set(listed.stdout.split('\0'))) {
    if (path === '' || !existsSync(join(PROJECT, path))) continue
    mkdirSync(dirname(join(copy, path)), { recursive: true })
    cpSync(join(PROJECT, path), join(copy, path))
  }
}

function listing(directory: string): string[] {
  const paths = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  return paths.filter((path) => path.split('/')[0] !== 'node_modules').toSorted()
}
