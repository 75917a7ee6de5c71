// P-08: a name that a start makes or changes in the data directory is made durable, as the kernel is asked for it: what
// stands in a file before it gets its name, and the folder that holds the name after.
import { strict as assert } from 'node:assert'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { PROJECT, temporaryDirectory } from '../../fixtures/server-process.ts'
import { cannotTrace } from '../../fixtures/strace.ts'

const CALLS = 'mkdir,rename,renameat,renameat2,fsync,fdatasync'
const START_LIMIT_MS = 180_000

type Call = { readonly name: string; readonly paths: readonly string[] }

/** `fsync(27</path>) = 0` and `rename("/a", "/b") = 0`; those that failed are left out. */
function callsOf(log: string): Call[] {
  return log.split('\n').flatMap((line) => {
    const name = /^\d+ +(\w+)\(/.exec(line)?.[1]
    if (name === undefined || !line.endsWith('= 0')) return []
    const paths = [...line.matchAll(/"([^"]+)"|<(\/[^>]+)>/g)].map(([, quoted, open]) => quoted ?? open ?? '')
    return [{ name, paths }]
  })
}

/** Starts a new development server, sees it listen, and stops it; what it asked of the kernel meanwhile. */
async function tracedStart(folder: string): Promise<readonly Call[]> {
  const log = join(folder, 'calls')
  const data = join(folder, 'data')
  const server = ['server', '-dev', '-dev-listen-address=127.0.0.1:0', '-data', data]
  const args = ['-f', '-y', '-qq', '-e', `trace=${CALLS}`, '-o', log, join(PROJECT, 'bin/keywright'), ...server]
  const tracer = spawn('strace', args, { stdio: ['ignore', 'pipe', 'inherit'], detached: true })
  const group = -Number(tracer.pid)
  const ended = once(tracer, 'exit')
  const timer = setTimeout(() => process.kill(group, 'SIGKILL'), START_LIMIT_MS)
  let output = ''
  for await (const chunk of tracer.stdout) {
    output += String(chunk)
    if (/listen/i.test(output)) break
  }
  process.kill(group, 'SIGTERM')
  await ended
  clearTimeout(timer)
  return callsOf(readFileSync(log, 'utf8'))
}

const isSyncOf = (path: string) => (call: Call) => call.name.endsWith('sync') && call.paths[0] === path

test('P-08: what is created or renamed at the first start is synced, and so is its folder', {
  skip: cannotTrace(),
}, async (context) => {
  const temporary = temporaryDirectory()
  context.after(() => temporary.cleanUp())
  const calls = await tracedStart(temporary.path)
  const inside = (path: string | undefined): path is string => path?.startsWith(`${temporary.path}/`) === true
  const renamed: string[] = []
  for (const [at, { name, paths }] of calls.entries()) {
    const [from, to] = paths
    if (name === 'mkdir' && inside(from))
      assert.ok(calls.slice(at).some(isSyncOf(dirname(from))), `${from} is made, and its folder is not synced`)
    if (!name.startsWith('rename') || !inside(from) || to === undefined) continue
    renamed.push(to.slice(temporary.path.length))
    assert.ok(calls.slice(0, at).some(isSyncOf(from)), `${from} gets its name before it is synced`)
    assert.ok(calls.slice(at).some(isSyncOf(dirname(to))), `${to} has its name, and its folder is not synced`)
  }
  assert.deepEqual(renamed, ['/data/keywright.db', '/data/development-keys.json'])
})
