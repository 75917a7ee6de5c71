// README.md as a newcomer follows it: every command of it, in order, in one shell, in a copy of the project that has
// never been installed. Where everything is required, `npm ci` really runs; elsewhere the copy borrows node_modules.
import { strict as assert } from 'node:assert'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { delimiter, dirname, join } from 'node:path'
import { test } from 'node:test'
import { parseConfig } from '../../src/config.ts'
import { PROJECT, temporaryDirectory } from '../fixtures/server-process.ts'
import { type Block, fencedBlocks, firstMissing } from './fenced-blocks.ts'

const PAGE = readFileSync(join(PROJECT, 'README.md'), 'utf8')
const BLOCKS = fencedBlocks(PAGE)
const COMMANDS = BLOCKS.filter(({ language }) => language === 'sh')
/** What is not run: what a command shows, and files. */
const OTHER_LANGUAGES = ['text', 'hcl', 'json']

const INSTALLS = process.env.KEYWRIGHT_REQUIRE === 'all' || process.env.CI === 'true'
const MOST_MS = 4 * 60_000

test('README shows commands in blocks that are run, and no others', () => {
  assert.ok(COMMANDS.length > 0)
  const unknown = BLOCKS.filter(({ language }) => language !== 'sh' && !OTHER_LANGUAGES.includes(language))
  assert.deepEqual(unknown, [])
})

test('README shows configurations that are taken', () => {
  for (const { text } of BLOCKS.filter(({ language }) => language === 'hcl')) {
    assert.notDeepEqual(parseConfig(text), {})
  }
})

test('README links to pages that exist', () => {
  const targets = PAGE.split('](')
    .slice(1)
    .map((rest) => rest.slice(0, rest.indexOf(')')))
  const headings = PAGE.split('\n').filter((line) => line.startsWith('#'))
  for (const target of targets) {
    if (target.startsWith('#'))
      assert.ok(
        headings.some((line) => anchorOf(line) === target),
        target,
      )
    else if (!target.includes('://')) assert.ok(existsSync(join(PROJECT, target)), `${target} does not exist`)
  }
})

function anchorOf(heading: string): string {
  const words = heading.replace(/^#+ /, '').toLowerCase()
  return `#${[...words]
    .filter((c) => /[a-z0-9 -]/.test(c))
    .join('')
    .replaceAll(' ', '-')}`
}

test('README can be followed from top to bottom', { timeout: MOST_MS + 10_000 }, async (context) => {
  const temporary = temporaryDirectory()
  context.after(() => temporary.cleanUp())
  const copy = join(temporary.path, 'keywright')
  copyTree(copy)
  const before = listing(copy)
  const { status, outputs } = await follow(copy, join(temporary.path, 'outputs'))
  for (const [at, block] of COMMANDS.entries()) {
    const output = outputs[at]
    assert.ok(output !== undefined, `the commands in line ${block.line} were not run; the shell ended with ${status}`)
    assert.ok(output.done, `a command of the block in line ${block.line} failed with ${status}:\n${output.text}`)
    assertShown(block, output.text)
  }
  assert.equal(status, 0)
  assert.deepEqual(listing(copy), before, 'following it leaves nothing behind')
})

/** The block that follows the commands shows what they print. */
function assertShown(block: Block, output: string): void {
  const next = BLOCKS[BLOCKS.indexOf(block) + 1]
  if (next?.language !== 'text') return
  const missing = firstMissing(next.text, output)
  assert.equal(missing, undefined, `line ${next.line} shows what line ${block.line} does not print:\n${output}`)
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

type Followed = {
  readonly status: number | null
  /** By block; undefined where the shell did not come to it. */
  readonly outputs: readonly ({ readonly text: string; readonly done: boolean } | undefined)[]
}

async function follow(copy: string, outputs: string): Promise<Followed> {
  mkdirSync(outputs)
  const script = join(outputs, 'script.sh')
  writeFileSync(script, scriptOf(outputs))
  // A group of its own, so that a server which a failing block leaves behind can be ended with it.
  const shell = spawn('sh', [script], {
    cwd: copy,
    env: await environment(),
    stdio: ['ignore', 'ignore', 'inherit'],
    detached: true,
    timeout: MOST_MS,
  })
  const [status] = (await once(shell, 'exit')) as [number | null]
  try {
    process.kill(-(shell.pid as number), 'SIGKILL')
  } catch {
    // Nothing was left behind.
  }
  const read = (at: number) =>
    existsSync(join(outputs, `${at}`))
      ? { text: readFileSync(join(outputs, `${at}`), 'utf8'), done: existsSync(join(outputs, `${at}.done`)) }
      : undefined
  return { status, outputs: COMMANDS.map((_, at) => read(at)) }
}

/** All blocks, as they stand, in one shell that ends with the first command that fails. */
function scriptOf(outputs: string): string {
  const link = `ln -s '${PROJECT}/node_modules' node_modules`
  // `exec`: started in the background it must be npm itself that a signal ends, not a shell around it.
  const borrow = `npm() { if [ "$1" = ci ]; then ${link}; else exec npm "$@"; fi; }`
  const blocks = COMMANDS.map(({ text }, at) => `exec >'${outputs}/${at}' 2>&1\n${text}\n: >'${outputs}/${at}.done'`)
  return ['set -e', ...(INSTALLS ? [] : [borrow]), ...blocks, ''].join('\n')
}

/** Of a newcomer: nothing of the npm that runs these tests, nor of another server. */
async function environment(): Promise<Record<string, string | undefined>> {
  const kept = ['npm_config_cache', 'npm_config_registry', 'npm_config_userconfig', 'npm_config_globalconfig']
  const dropped = ['npm_', 'KEYWRIGHT_', 'VAULT_', 'BAO_', 'NODE_', 'INIT_CWD']
  const entries = Object.entries(process.env).filter(
    ([name]) => kept.includes(name) || !dropped.some((start) => name.startsWith(start)),
  )
  const path = (process.env.PATH ?? '').split(delimiter).filter((entry) => !entry.includes('node_modules'))
  return {
    ...Object.fromEntries(entries),
    PATH: path.join(delimiter),
    KEYWRIGHT_PORT: String(await freePort()),
    // What .ci/run has just installed need not be fetched again.
    npm_config_prefer_offline: 'true',
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { readonly port: number }
  server.close()
  await once(server, 'close')
  return port
}
