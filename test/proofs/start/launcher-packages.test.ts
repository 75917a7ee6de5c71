// The launcher in a checkout whose packages are missing or old, with an npm of our own making: no network is needed,
// and what it was called with is seen.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { until } from '../../fixtures/until.ts'

const PROJECT = join(import.meta.dirname, '../../..')
const SERVER = ['bin/keywright', 'server', '-dev']
const STATUS = ['bin/keywright', 'status']
const TOOL = ['bin/with-runtime', 'tool.ts']
const MISSING = 'packages that Keywright needs are missing'
const OLDER = 'the packages are older than package-lock.json'
const FIRST = 'running `npm ci` first, which takes some seconds'
const EARLIER = new Date('2026-01-01T00:00:00Z')
const LATER = new Date('2026-01-02T00:00:00Z')

type Entry = Readonly<Record<string, string | boolean>>
type Entries = Readonly<Record<string, Entry>>

const LOCKED: Entries = {
  a: { version: '1.0.0', integrity: 'sha512-a' },
  '@b/c': { version: '2.0.0', integrity: 'sha512-c', dev: true },
  'a/node_modules/d': { version: '3.0.0', integrity: 'sha512-d', dev: true },
  'runtime-elsewhere': { version: '4.0.0', integrity: 'sha512-e', optional: true },
}
const { 'runtime-elsewhere': _, ...INSTALLED } = LOCKED

/** In place of the runtime: it starts in no time. */
const RUNTIME = `case $1 in --version) echo v26.0.0 ;; *) echo started ;; esac`
/** What npm does when it succeeds: the packages are there, and it has written down which. */
const INSTALLS = `mkdir -p node_modules/.bin && cp "$(dirname "$0")/../runtime" node_modules/.bin/node
cp package-lock.json node_modules/.package-lock.json`
/** Waits until somebody opens the other end, and then for a line. */
const WAITS = 'read -r _ <../gate'
const OFFLINE = `echo 'npm error code EAI_AGAIN'
echo 'npm error    at FetchError (/usr/lib/node_modules/npm/index.js:1:1)'
exit 1`

type Checkout = { readonly home: string; readonly env: NodeJS.ProcessEnv }

/** What a clone holds of what the launcher looks at, and beside it the commands of a machine, npm among them. */
function makeCheckout(context: TestContext, npm: string, place = 'checkout'): Checkout {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'launcher-packages-')))
  context.after(() => rmSync(top, { recursive: true }))
  const home = join(top, place)
  const bin = join(top, 'commands')
  cpSync(join(PROJECT, 'bin'), join(home, 'bin'), { recursive: true })
  write(join(home, 'package-lock.json'), lockFile(LOCKED, true))
  script(join(top, 'runtime'), RUNTIME)
  script(join(bin, 'npm'), `echo "$PWD|$PATH|$*" >>'${top}/calls'\n${npm}`)
  return { home, env: { PATH: `${bin}:/usr/bin:/bin` } }
}

function write(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
}

function script(path: string, lines: string): void {
  write(path, `#!/bin/sh\n${lines}\n`)
  chmodSync(path, 0o755)
}

/** As npm lays it out. */
function lockFile(entries: Entries, withRoot = false): string {
  const packages = Object.entries(entries).map(([name, entry]) => [`node_modules/${name}`, entry])
  const root = withRoot ? [['', { name: 'keywright', dependencies: { a: '1.0.0' } }]] : []
  return `${JSON.stringify({ lockfileVersion: 3, packages: Object.fromEntries([...root, ...packages]) }, null, 2)}\n`
}

/** Packages as npm left them, before or after the lock file was written. */
function install({ home }: Checkout, entries: Entries, order: 'lock first' | 'lock last'): void {
  script(join(home, 'node_modules/.bin/node'), RUNTIME)
  const installed = join(home, 'node_modules/.package-lock.json')
  writeFileSync(installed, lockFile(entries))
  utimesSync(installed, EARLIER, order === 'lock first' ? LATER : EARLIER)
  utimesSync(join(home, 'package-lock.json'), EARLIER, order === 'lock first' ? EARLIER : LATER)
}

function run({ home, env }: Checkout, words: readonly string[], more: NodeJS.ProcessEnv = {}) {
  const { status, stdout, stderr } = spawnSync('/bin/sh', words, {
    cwd: home,
    env: { ...env, ...more },
    encoding: 'utf8',
  })
  return { status, stdout: stdout.trimEnd(), said: stderr.trimEnd().replaceAll('keywright: ', '') }
}

/** One line a call: where it ran, its PATH, its arguments. */
function npmCalls({ home }: Checkout): string[] {
  const calls = join(home, '../calls')
  return existsSync(calls) ? readFileSync(calls, 'utf8').trimEnd().split('\n') : []
}

/** Nothing of the launcher's is left; `npm-ci.log` is where npm failed. */
function assertTidy({ home }: Checkout, left: readonly string[] = []): void {
  const own = ['bin', 'node_modules', 'package-lock.json']
  assert.deepEqual(
    readdirSync(home).filter((name) => !own.includes(name)),
    left,
  )
}

for (const { name, words } of [
  { name: 'npm start', words: SERVER },
  { name: 'npm test', words: TOOL },
]) {
  test(`${name} on a bare clone says so in one line, runs npm ci and goes on`, (context) => {
    const checkout = makeCheckout(context, INSTALLS)
    assert.deepEqual(run(checkout, words), { status: 0, stdout: 'started', said: `${MISSING}: ${FIRST}` })
    assert.equal(npmCalls(checkout).length, 1)
    assert.match(npmCalls(checkout)[0] ?? '', /^\S+\/checkout\|[^|]*\|ci /)
    assertTidy(checkout)
    assert.deepEqual(run(checkout, words), { status: 0, stdout: 'started', said: '' })
    assert.equal(npmCalls(checkout).length, 1)
  })
}

test('npm start finds the checkout from another directory, and through a link', (context) => {
  const checkout = makeCheckout(context, INSTALLS)
  symlinkSync(join(checkout.home, 'bin/keywright'), join(checkout.home, '../link'))
  const { status } = spawnSync('/bin/sh', ['../link', 'server', '-dev'], {
    cwd: join(checkout.home, '../commands'),
    env: checkout.env,
  })
  assert.equal(status, 0)
  assert.match(npmCalls(checkout)[0] ?? '', /^\S+\/checkout\|/)
})

const SEVERAL = [['-dev'], ['-config=a.hcl', '--dev'], ['-dev-root-token-id=root', '-dev']]

test('a development server brings packages wherever its flag stands', (context) => {
  for (const flags of SEVERAL) {
    const checkout = makeCheckout(context, INSTALLS)
    assert.equal(run(checkout, ['bin/keywright', 'server', ...flags]).status, 0)
    assert.equal(npmCalls(checkout).length, 1)
  }
})

test('no other command brings code from the network: no server with a configuration, and no client', (context) => {
  for (const words of [
    STATUS,
    ['bin/keywright', 'server', '-config=a.hcl', '-dev-root-token-id=root'],
    ['bin/keywright'],
  ]) {
    const checkout = makeCheckout(context, INSTALLS)
    const { status, said } = run(checkout, words)
    assert.equal(status, 1)
    assert.match(said, /^the packaged runtime \(Node\.js 26\) is not installed: run `npm ci` in \S+\/checkout$/)
    assert.deepEqual(npmCalls(checkout), [])
  }
})

test('where the packages are as new as the lock file no program runs but the runtime', (context) => {
  const checkout = makeCheckout(context, INSTALLS)
  install(checkout, INSTALLED, 'lock first')
  assert.deepEqual(run(checkout, SERVER, { PATH: '/nowhere' }), { status: 0, stdout: 'started', said: '' })
})

const OLD = [
  { name: 'another version', installed: { ...INSTALLED, a: { version: '0.9.0', integrity: 'sha512-a' } } },
  { name: 'other contents', installed: { ...INSTALLED, a: { version: '1.0.0', integrity: 'sha512-b' } } },
  { name: 'a package too many', installed: { ...INSTALLED, f: { version: '1.0.0', integrity: 'sha512-f' } } },
  { name: 'one too few', installed: { '@b/c': LOCKED['@b/c'] as Entry } },
  { name: 'one of development too few', installed: { a: LOCKED.a as Entry, '@b/c': LOCKED['@b/c'] as Entry } },
  { name: 'none', installed: {} },
]

for (const { name, installed } of OLD) {
  test(`a lock file that came later and wants other packages is followed: ${name}`, (context) => {
    const checkout = makeCheckout(context, INSTALLS)
    install(checkout, installed, 'lock last')
    assert.deepEqual(run(checkout, SERVER), { status: 0, stdout: 'started', said: `${OLDER}: ${FIRST}` })
    assert.equal(npmCalls(checkout).length, 1)
    assertTidy(checkout)
  })
}

const SAME = [
  { name: 'all that fits this system', installed: INSTALLED },
  { name: 'everything', installed: LOCKED },
  { name: 'nothing of development', installed: { a: LOCKED.a as Entry } },
]

for (const { name, installed } of SAME) {
  test(`a lock file that was written anew as it was installs nothing, and is compared once: ${name}`, (context) => {
    const checkout = makeCheckout(context, INSTALLS)
    install(checkout, installed, 'lock last')
    assert.deepEqual(run(checkout, TOOL), { status: 0, stdout: 'started', said: '' })
    assert.deepEqual(run(checkout, SERVER, { PATH: '/nowhere' }), { status: 0, stdout: 'started', said: '' })
    // The next change of it is seen again.
    writeFileSync(join(checkout.home, 'package-lock.json'), lockFile({ ...LOCKED, f: { version: '1.0.0' } }))
    const hence = new Date('2100-01-01T00:00:00Z')
    utimesSync(join(checkout.home, 'package-lock.json'), hence, hence)
    assert.equal(run(checkout, TOOL).said, `${OLDER}: ${FIRST}`)
    assert.equal(npmCalls(checkout).length, 1)
  })
}

test('the comparison reads the lock file of this project as npm writes it', (context) => {
  const checkout = makeCheckout(context, INSTALLS)
  const lock = readFileSync(join(PROJECT, 'package-lock.json'), 'utf8')
  const { packages } = JSON.parse(lock) as { packages: Record<string, Entry> }
  const needed = Object.entries(packages).filter(([name, entry]) => name !== '' && entry.optional !== true)
  install(checkout, Object.fromEntries(needed.map(([name, entry]) => [name.slice(13), entry])), 'lock last')
  writeFileSync(join(checkout.home, 'package-lock.json'), lock)
  assert.deepEqual(run(checkout, TOOL), { status: 0, stdout: 'started', said: '' })
  writeFileSync(join(checkout.home, 'package-lock.json'), lock.replace(/("version": "\d+\.)\d+/g, '$1999'))
  // Files that are written within one tick of the system's clock are of one age.
  const hence = new Date('2100-01-01T00:00:00Z')
  utimesSync(join(checkout.home, 'package-lock.json'), hence, hence)
  assert.equal(run(checkout, TOOL).said, `${OLDER}: ${FIRST}`)
})

test('without a network it says what is missing and what to do, and where npm wrote more', (context) => {
  const checkout = makeCheckout(context, OFFLINE)
  for (const words of [SERVER, TOOL]) {
    const { home } = checkout
    const { status, stdout, said } = run(checkout, words)
    assert.equal(status, 1)
    assert.equal(stdout, '')
    const log = join(home, 'npm-ci.log')
    assert.deepEqual(said.split('\n'), [
      `${MISSING}: ${FIRST}`,
      `${MISSING}, and npm cannot reach its registry. With a network run the same command again; without one, copy ` +
        `node_modules of the same commit from a machine of the same kind to ${home}. What npm said is in ${log}`,
    ])
    assert.match(readFileSync(log, 'utf8'), /FetchError/)
    assertTidy(checkout, ['npm-ci.log'])
  }
})

test('without a network the old packages stay, for who goes back to the old lock file', (context) => {
  const checkout = makeCheckout(context, `mkdir node_modules && touch node_modules/half\n${OFFLINE}`)
  const older = { ...INSTALLED, a: { version: '0.9.0', integrity: 'sha512-a' } }
  install(checkout, older, 'lock last')
  const { status, said } = run(checkout, SERVER)
  assert.equal(status, 1)
  assert.match(said, new RegExp(`^${OLDER}, and npm cannot reach its registry\\.`, 'm'))
  assert.deepEqual(readdirSync(join(checkout.home, 'node_modules')), ['.bin', '.package-lock.json'])
  assert.equal(readFileSync(join(checkout.home, 'node_modules/.package-lock.json'), 'utf8'), lockFile(older))
})

test('another failure of npm is told with its exit code and where its words are', (context) => {
  const checkout = makeCheckout(context, `echo 'npm error code EUSAGE'\nexit 7`)
  const { home } = checkout
  const { status, said } = run(checkout, TOOL)
  assert.equal(status, 1)
  const [, wrong] = said.split('\n')
  assert.equal(
    wrong,
    `${MISSING}, and \`npm ci\` in ${home} failed with exit code 7: what it said is in ${home}/npm-ci.log`,
  )
  // What fails once is no obstacle to the next attempt.
  script(join(checkout.home, '../commands/npm'), INSTALLS)
  assert.equal(run(checkout, TOOL).status, 0)
  assertTidy(checkout)
})

test('where there is no npm it says what to install', (context) => {
  const checkout = makeCheckout(context, INSTALLS)
  const commands = join(checkout.home, '../commands')
  rmSync(join(commands, 'npm'))
  symlinkSync('/usr/bin/dirname', join(commands, 'dirname'))
  const { status, said } = run(checkout, TOOL, { PATH: commands })
  assert.equal(status, 1)
  assert.equal(said, `${MISSING}, and there is no npm to install them: install Node.js 20 or newer with npm`)
})

test('installed as a package it brings nothing, though a lock file came along', (context) => {
  const checkout = makeCheckout(context, INSTALLS, 'node_modules/keywright')
  for (const words of [SERVER, TOOL]) {
    const { status, said } = run(checkout, words)
    assert.equal(status, 1)
    assert.match(said, /^the packaged runtime \(Node\.js 26\) is not installed: run `npm ci`/)
  }
  install(checkout, {}, 'lock last')
  assert.deepEqual(run(checkout, SERVER), { status: 0, stdout: 'started', said: '' })
  assert.deepEqual(npmCalls(checkout), [])
})

test('in a directory that may not be written it brings nothing', (context) => {
  const checkout = makeCheckout(context, INSTALLS)
  const top = dirname(checkout.home)
  // A user like any other, where this is root, to whom no directory is closed.
  const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}
  chmodSync(top, 0o755)
  chmodSync(checkout.home, 0o555)
  const { status, stderr } = spawnSync('/bin/sh', TOOL, { cwd: checkout.home, env: checkout.env, ...nobody })
  chmodSync(checkout.home, 0o755)
  assert.equal(status, 1)
  assert.match(stderr.toString(), /is not installed: run `npm ci` in \S+\/checkout\n$/)
  assert.deepEqual(npmCalls(checkout), [])
})

test('npm is told what matters, whatever the npm around it was told, with no command of a package', (context) => {
  const checkout = makeCheckout(context, INSTALLS)
  const path = `${checkout.home}/node_modules/.bin:/elsewhere/node_modules/.bin:${checkout.env.PATH}`
  script(join(checkout.home, 'node_modules/.bin/npm'), 'exit 9')
  const more = { PATH: path, npm_config_omit: 'dev', npm_config_global: 'true', npm_config_loglevel: 'silent' }
  assert.equal(run(checkout, TOOL, more).status, 0)
  const [place, seen, args = ''] = npmCalls(checkout)[0]?.split('|') ?? []
  assert.equal(place, checkout.home)
  assert.equal(seen, checkout.env.PATH)
  for (const option of [`--prefix ${checkout.home}`, '--include=dev', '--no-global', '--loglevel=notice']) {
    assert.ok(args.includes(option), `${option} is not in ${args}`)
  }
})

/** The other end of what npm waits for: it runs as soon as this is open. */
function openGate({ home }: Checkout): Promise<FileHandle> {
  return open(join(home, '../gate'), 'w')
}

async function release(gate: FileHandle): Promise<void> {
  await gate.write('go on\n')
  await gate.close()
}

function makeGate({ home }: Checkout): void {
  assert.equal(spawnSync('mkfifo', [join(home, '../gate')]).status, 0)
}

type Started = { readonly child: ChildProcess; says(what: string): Promise<void>; end(): Promise<unknown> }

function start(context: TestContext, { home, env }: Checkout, words: readonly string[]): Started {
  const child = spawn('/bin/sh', words, { cwd: home, env, stdio: ['ignore', 'pipe', 'pipe'] })
  context.after(() => child.kill('SIGKILL'))
  const exit = once(child, 'exit')
  const output = text(child.stdout)
  let said = ''
  child.stderr.on('data', (chunk) => {
    said += String(chunk)
  })
  return {
    child,
    says: async (what) => {
      while (!said.includes(what)) await once(child.stderr, 'data')
    },
    end: async () => {
      const [status, signal] = await exit
      return { status: status ?? signal, stdout: (await output).trimEnd() }
    },
  }
}

const WELL = { status: 0, stdout: 'started' }

test('of two commands at once one runs npm, and the other waits for it', async (context) => {
  const checkout = makeCheckout(context, `${WAITS}\n${INSTALLS}`)
  makeGate(checkout)
  const first = start(context, checkout, SERVER)
  const gate = await openGate(checkout)
  const second = start(context, checkout, TOOL)
  await second.says(`${MISSING}: another command is installing them, waiting for it`)
  await release(gate)
  assert.deepEqual(await Promise.all([first.end(), second.end()]), [WELL, WELL])
  assert.equal(npmCalls(checkout).length, 1)
  assertTidy(checkout)
})

test('a command that is killed leaves its npm, and the next one waits for that', async (context) => {
  const checkout = makeCheckout(context, `${WAITS}\n${INSTALLS}`)
  makeGate(checkout)
  const first = start(context, checkout, SERVER)
  const gate = await openGate(checkout)
  first.child.kill('SIGKILL')
  await once(first.child, 'exit')
  const second = start(context, checkout, TOOL)
  await second.says('waiting for it')
  await release(gate)
  assert.deepEqual(await second.end(), WELL)
  assert.equal(npmCalls(checkout).length, 1)
  assertTidy(checkout)
})

for (const { signal, status } of [
  { signal: 'SIGTERM', status: 143 },
  { signal: 'SIGINT', status: 130 },
  { signal: 'SIGHUP', status: 129 },
] as const) {
  test(`a command that ${signal} ends ends npm too, and puts back what was there`, async (context) => {
    const checkout = makeCheckout(context, WAITS)
    makeGate(checkout)
    const older = { ...INSTALLED, a: { version: '0.9.0', integrity: 'sha512-a' } }
    install(checkout, older, 'lock last')
    const first = start(context, checkout, SERVER)
    const gate = await openGate(checkout)
    first.child.kill(signal)
    assert.deepEqual(await first.end(), { status, stdout: '' })
    await gate.close()
    assert.equal(readFileSync(join(checkout.home, 'node_modules/.package-lock.json'), 'utf8'), lockFile(older))
    assertTidy(checkout)
  })
}

/** A turn that nobody gave back. */
function leaveQueue({ home }: Checkout, owners: string | undefined): void {
  mkdirSync(join(home, '.npm-ci'))
  if (owners !== undefined) writeFileSync(join(home, '.npm-ci/owner'), `${owners}\n`)
}

/** The id of a process that has ended. */
const gone = (): string => String(spawnSync('true').pid)

test('a turn whose owners are gone is taken over, and what they had kept aside is put back', (context) => {
  const checkout = makeCheckout(context, INSTALLS)
  install(checkout, INSTALLED, 'lock first')
  leaveQueue(checkout, `${gone()} ${gone()}`)
  cpSync(join(checkout.home, 'node_modules'), join(checkout.home, '.npm-ci/before'), {
    recursive: true,
    preserveTimestamps: true,
    verbatimSymlinks: true,
  })
  rmSync(join(checkout.home, 'node_modules/.package-lock.json'))
  assert.deepEqual(run(checkout, TOOL), { status: 0, stdout: 'started', said: '' })
  assert.deepEqual(npmCalls(checkout), [])
  assertTidy(checkout)
})

/** Waiting takes no time. */
function neverSleep({ home }: Checkout): void {
  symlinkSync('/bin/true', join(home, '../commands/sleep'))
}

test('an owner that has ended, and that nobody asks how, is gone', async (context) => {
  const checkout = makeCheckout(context, INSTALLS)
  neverSleep(checkout)
  // What takes the place of the shell knows of no child. The child ends after that: of one that ended before, the shell
  // may have asked how.
  const words = ['-c', 'cat <&3 & echo $!; exec cat 3<&-']
  const parent = spawn('sh', words, { stdio: ['pipe', 'pipe', 'inherit', 'pipe'] })
  context.after(() => parent.kill())
  const [stdin, stdout, , gate] = parent.stdio as unknown as [Writable, Readable, null, Writable]
  const [line] = await once(stdout, 'data')
  const id = String(line).trim()
  stdin.write('it is cat\n')
  await once(stdout, 'data')
  gate.end()
  await until(() => spawnSync('ps', ['-o', 'stat=', '-p', id], { encoding: 'utf8' }).stdout.startsWith('Z'), 'its end')
  leaveQueue(checkout, id)
  const { status, said } = run(checkout, TOOL)
  assert.equal(status, 0, said)
  assert.equal(said, `${MISSING}: ${FIRST}`)
  assertTidy(checkout)
})

test('a turn that has no owner is taken over after a while', (context) => {
  const checkout = makeCheckout(context, INSTALLS)
  neverSleep(checkout)
  leaveQueue(checkout, undefined)
  const { status, said } = run(checkout, TOOL)
  assert.equal(status, 0)
  assert.deepEqual(said.split('\n'), [
    `${MISSING}: another command is installing them, waiting for it`,
    `${MISSING}: ${FIRST}`,
  ])
  assertTidy(checkout)
})

test('a turn is not waited for without end', (context) => {
  const checkout = makeCheckout(context, INSTALLS)
  neverSleep(checkout)
  // Asked 900 times how the owner is, the real one would take half a minute of the processor.
  script(join(checkout.home, '../commands/ps'), 'echo S')
  leaveQueue(checkout, String(process.pid))
  const { status, said } = run(checkout, TOOL)
  assert.equal(status, 1)
  assert.match(said, /^another command has been installing packages for 900 s: where none is, remove \S+\/\.npm-ci$/m)
  assert.deepEqual(npmCalls(checkout), [])
})

test('where nothing can be made in the checkout it says what the system says', (context) => {
  const checkout = makeCheckout(context, INSTALLS)
  script(join(checkout.home, '../commands/mkdir'), `echo 'mkdir: No space left on device' >&2; exit 1`)
  assert.deepEqual(run(checkout, TOOL), { status: 1, stdout: '', said: 'mkdir: No space left on device' })
})
