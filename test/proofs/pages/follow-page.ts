// A page of the documentation as its reader follows it: every command, in order, in one shell, and what each block
// shows compared with what its commands really print.
import { strict as assert } from 'node:assert'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { freePortsInRow } from '../../fixtures/free-ports.ts'
import { type Block, fencedBlocks, firstMissing } from '../../pages/fenced-blocks.ts'

/** What is not run: what a command shows, and files. */
const OTHER_LANGUAGES = ['text', 'hcl', 'json']

export type Page = { readonly text: string; readonly blocks: readonly Block[]; readonly commands: readonly Block[] }

export function readPage(path: string): Page {
  const text = readFileSync(path, 'utf8')
  const blocks = fencedBlocks(text)
  return { text, blocks, commands: blocks.filter(({ language }) => language === 'sh') }
}

/** Blocks that this could neither run nor compare would be promises that nobody keeps. */
export function assertRunnable({ blocks, commands }: Page): void {
  assert.ok(commands.length > 0)
  const unknown = blocks.filter(({ language }) => language !== 'sh' && !OTHER_LANGUAGES.includes(language))
  assert.deepEqual(unknown, [])
}

/** Where the page leads in this project: targets of its links that are no addresses and no headings. */
export function localLinks({ text }: Page): string[] {
  const targets = text
    .split('](')
    .slice(1)
    .map((rest) => rest.slice(0, rest.indexOf(')')))
  return targets.filter((target) => !target.startsWith('#') && !target.includes('://'))
}

export type FollowOptions = {
  /** Where its commands run. */
  readonly directory: string
  /** Where their output is kept, outside of `directory`. */
  readonly outputs: string
  readonly mostMs: number
  /** Lines of the script before those of the page. */
  readonly before?: readonly string[]
  /** The command that runs the script, which is its last argument; `sh` where it is missing. */
  readonly shell?: readonly string[]
  /** Searched before PATH for the page's commands. */
  readonly bin?: string
}

/** Fails with the line of the first block that does not do what the page says. */
export async function followPage(page: Page, options: FollowOptions): Promise<void> {
  const { status, outputs } = await follow(page, options)
  for (const [at, block] of page.commands.entries()) {
    const output = outputs[at]
    assert.ok(output !== undefined, `the commands in line ${block.line} were not run; the shell ended with ${status}`)
    assert.ok(output.done, `a command of the block in line ${block.line} failed with ${status}:\n${output.text}`)
    assertShown(page, block, output.text)
  }
  assert.equal(status, 0)
}

/** The block that follows the commands shows what they print. */
function assertShown({ blocks }: Page, block: Block, output: string): void {
  const next = blocks[blocks.indexOf(block) + 1]
  if (next?.language !== 'text') return
  const missing = firstMissing(next.text, output)
  assert.equal(missing, undefined, `line ${next.line} shows what line ${block.line} does not print:\n${output}`)
}

type Followed = {
  readonly status: number | null
  /** By block; undefined where the shell did not come to it. */
  readonly outputs: readonly ({ readonly text: string; readonly done: boolean } | undefined)[]
}

async function follow({ commands }: Page, options: FollowOptions): Promise<Followed> {
  const { directory, outputs, mostMs, before = [], shell: [program = 'sh', ...args] = [] } = options
  mkdirSync(outputs)
  const script = join(outputs, 'script.sh')
  // All blocks, as they stand, in one shell that ends with the first command that fails.
  const blocks = commands.map(({ text }, at) => `exec >'${outputs}/${at}' 2>&1\n${text}\n: >'${outputs}/${at}.done'`)
  writeFileSync(script, ['set -e', ...before, ...blocks, ''].join('\n'))
  // A group of its own, so that a server which a failing block leaves behind can be ended with it.
  const shell = spawn(program, [...args, script], {
    cwd: directory,
    env: await environment(options.bin),
    stdio: ['ignore', 'ignore', 'inherit'],
    detached: true,
    timeout: mostMs,
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
  return { status, outputs: commands.map((_, at) => read(at)) }
}

/** Of a newcomer: nothing of the npm that runs these tests, nor of another server. */
async function environment(bin: string | undefined): Promise<Record<string, string | undefined>> {
  const kept = [
    'npm_config_cache',
    'npm_config_registry',
    'npm_config_userconfig',
    'npm_config_globalconfig',
    // Where compiled code is kept, else every command of a page compiles anew on a machine without a home.
    'NODE_COMPILE_CACHE',
  ]
  const dropped = ['npm_', 'KEYWRIGHT_', 'VAULT_', 'BAO_', 'NODE_', 'INIT_CWD']
  const entries = Object.entries(process.env).filter(
    ([name]) => kept.includes(name) || !dropped.some((start) => name.startsWith(start)),
  )
  const path = (process.env.PATH ?? '').split(delimiter).filter((entry) => !entry.includes('node_modules'))
  return {
    ...Object.fromEntries(entries),
    PATH: [...(bin === undefined ? [] : [bin]), ...path].join(delimiter),
    KEYWRIGHT_PORT: String((await freePortsInRow(PORTS_OF_A_PAGE))[0]),
    // What .ci/run has just installed need not be fetched again.
    npm_config_prefer_offline: 'true',
  }
}

/** Ports that a page may use from KEYWRIGHT_PORT on: each server has one for its API, and the next for its cluster. */
const PORTS_OF_A_PAGE = 8
