// What is shipped beside the program: the unit for systemd and the file for a container.
import { strict as assert } from 'node:assert'
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { without } from '../../fixtures/debian-packages.ts'
import { api, PROJECT, temporaryDirectory, watchServer } from '../../fixtures/server-process.ts'
import { cannotTrace } from '../../fixtures/strace.ts'

const UNIT = join(PROJECT, 'deploy/keywright.service')
const CONTAINERFILE = join(PROJECT, 'deploy/Containerfile')
/** Of 10; a unit that says nothing has 9.6. */
const MOST_EXPOSURE = 1.5

const read = (path: string): string => readFileSync(path, 'utf8')
const analyze = (...args: readonly string[]) => spawnSync('systemd-analyze', args, { encoding: 'utf8' })
const needsSystemd = without('systemd-analyze')

/** Settings of the unit, each with all its values. */
function settings(): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const line of read(UNIT).split('\n')) {
    const [, name, value] = /^(\w+)=(.*)$/.exec(line) ?? []
    if (name !== undefined) found.set(name, [...(found.get(name) ?? []), value ?? ''])
  }
  return found
}

/** Threats 8.3. */
const WANTED: Readonly<Record<string, string>> = {
  User: 'keywright',
  LimitCORE: '0',
  MemorySwapMax: '0',
  UMask: '0077',
  NoNewPrivileges: 'yes',
  CapabilityBoundingSet: '',
  ProtectSystem: 'strict',
  StateDirectory: 'keywright',
  StateDirectoryMode: '0700',
  ProtectHome: 'yes',
  PrivateTmp: 'yes',
  PrivateDevices: 'yes',
  ProtectKernelTunables: 'yes',
  ProtectKernelModules: 'yes',
  ProtectKernelLogs: 'yes',
  ProtectControlGroups: 'yes',
  ProtectProc: 'invisible',
  RestrictAddressFamilies: 'AF_INET AF_INET6 AF_UNIX',
  RestrictNamespaces: 'yes',
  RestrictRealtime: 'yes',
  LockPersonality: 'yes',
  LimitNOFILE: '65536',
  Restart: 'on-failure',
}

test('the unit has every setting that the list of threats names, and not the one that the runtime cannot have', () => {
  const found = settings()
  for (const [name, value] of Object.entries(WANTED)) assert.deepEqual(found.get(name), [value], name)
  assert.equal(found.has('MemoryDenyWriteExecute'), false)
  const denied = (found.get('SystemCallFilter')?.[1] ?? '').split(' ')
  for (const set of ['~@debug', '@mount', '@swap', '@reboot', '@raw-io']) assert.ok(denied.includes(set), set)
})

test('systemd takes the unit, and finds little that it leaves open', { skip: needsSystemd }, (context) => {
  const temporary = temporaryDirectory()
  context.after(() => temporary.cleanUp())
  // It looks whether the program is there.
  const unit = join(temporary.path, 'keywright.service')
  writeFileSync(unit, read(UNIT).replaceAll('/opt/keywright/', `${PROJECT}/`.replace('//', '/')))
  const { status, stderr } = analyze('verify', '--man=no', unit)
  assert.deepEqual([status, stderr.trim()], [0, ''])
  const security = analyze('security', '--offline=true', '--no-pager', `--threshold=${MOST_EXPOSURE * 10}`, unit)
  const overall = security.stdout.split('\n').find((line) => line.includes('Overall exposure level')) ?? security.stderr
  context.diagnostic(overall.trim())
  assert.equal(security.status, 0, overall)
})

/** The calls of a set such as @system-service, those of the sets in it included. */
function callsOf(set: string): string[] {
  const lines = analyze('syscall-filter', '--no-pager', set).stdout.split('\n').slice(1)
  const names = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'))
  return names.flatMap((name) => (name.startsWith('@') ? callsOf(name) : [name]))
}

/** SQLite gives what root makes to the owner of the database; for a plain user it does not call it. */
const OF_ROOT = ['fchown']

test('the unit allows every call of the kernel that a server makes', {
  skip: needsSystemd === false ? cannotTrace() : needsSystemd,
}, async (context) => {
  const temporary = temporaryDirectory()
  context.after(() => temporary.cleanUp())
  const log = join(temporary.path, 'calls')
  const words = ['server', '-dev', '-dev-root-token-id=root', '-dev-listen-address=127.0.0.1:0', '-data']
  const command = [join(PROJECT, 'bin/keywright'), ...words, join(temporary.path, 'data')]
  const tracer = spawn('strace', ['-f', '-qq', '-o', log, ...command], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const ended = new Promise((resolve) => tracer.once('exit', resolve))
  const server = { ...(await watchServer(tracer)), token: 'root' }
  await api(server, 'POST', 'sys/mounts/transit', { type: 'transit' })
  await api(server, 'POST', 'transit/keys/k', { type: 'rsa-2048' })
  assert.equal((await api(server, 'GET', 'sys/storage/snapshot')).status, 200)
  assert.equal((await api(server, 'GET', 'sys/hardening')).status, 200)
  process.kill(-Number(tracer.pid), 'SIGTERM')
  await ended
  const made = new Set(read(log).match(/(?<=^\d+ +)[a-z]\w+(?=\()/gm) ?? [])
  assert.ok(made.size > 30, 'next to nothing was recorded')
  const [allowed = '', denied = '', added = ''] = settings().get('SystemCallFilter') ?? []
  const permitted = new Set(callsOf(allowed))
  for (const set of denied.slice(1).split(' ')) for (const name of callsOf(set)) permitted.delete(name)
  for (const name of added.split(' ')) permitted.add(name)
  assert.deepEqual(
    [...made].filter((name) => !permitted.has(name) && !OF_ROOT.includes(name)),
    [],
  )
})

type Copy = { readonly from: readonly string[]; readonly to: string; readonly isOfStage: boolean }
type Containerfile = { readonly last: string; readonly copies: readonly Copy[]; readonly text: string }

/** The stage that runs, and what it copies. */
function containerfile(): Containerfile {
  const text = read(CONTAINERFILE).replaceAll(/\\\n/g, ' ')
  const last = text.slice(text.lastIndexOf('\nFROM '))
  const copies = [...text.matchAll(/^COPY (--from=\S+ )?(.+) (\S+)$/gm)].map(([, stage, from, to]) => ({
    from: (from ?? '').split(' '),
    to: to ?? '',
    isOfStage: stage !== undefined,
  }))
  return { last, copies, text }
}

test('X-02 the container runs as a plain user, without compiler and development packages', () => {
  const { last, text } = containerfile()
  assert.match(last, /^USER [1-9]\d*:[1-9]\d*$/m)
  assert.match(text, /npm ci --omit=dev --ignore-scripts/)
  assert.doesNotMatch(text, /gcc|g\+\+|make|build-essential|python/)
  assert.match(last, /^ENTRYPOINT \["\/opt\/keywright\/bin\/keywright"\]\nCMD \["server", /m)
})

test('what the container copies is there, and is sent to the one that builds it', () => {
  const { copies } = containerfile()
  const sent = read(join(PROJECT, '.dockerignore')).split('\n')
  for (const path of copies.filter(({ isOfStage }) => !isOfStage).flatMap(({ from }) => from)) {
    assert.ok(existsSync(join(PROJECT, path)), path)
    assert.ok(sent.includes(`!${path}`), `${path} is not in .dockerignore`)
  }
  assert.equal(sent[0], '*')
})

/** A program that can build containers here, from the image that ours begins with; undefined where there is none. */
function engine(): string | undefined {
  return ['podman', 'docker'].find(
    (name) => spawnSync(name, ['pull', '-q', 'debian:bookworm-slim'], { timeout: 120_000 }).status === 0,
  )
}

const ENGINE = engine()

if (ENGINE !== undefined) {
  test(`the container is built by ${ENGINE}, and its server answers as a plain user`, (context) => {
    const call = (...args: readonly string[]) => spawnSync(ENGINE, args, { encoding: 'utf8', timeout: 600_000 })
    const image = 'keywright-test'
    const built = call('build', '-q', '-f', CONTAINERFILE, '-t', image, PROJECT)
    assert.equal(built.status, 0, built.stderr)
    const container = call('run', '-d', '--read-only', '--cap-drop=ALL', image).stdout.trim()
    context.after(() => call('rm', '-f', container))
    const status = () => call('exec', container, '/opt/keywright/bin/keywright', 'status')
    for (const deadline = Date.now() + 180_000; status().status === 1 && Date.now() < deadline; );
    assert.match(status().stdout, /Sealed +true/)
    assert.equal(call('exec', container, 'id', '-u').stdout.trim(), '990')
  })
} else {
  test('the container is not built, for want of an engine: a copy of its files runs as a plain user', {
    skip: process.platform === 'linux' && process.getuid?.() === 0 ? false : 'only root can become another user',
  }, async (context) => {
    const temporary = temporaryDirectory()
    context.after(() => temporary.cleanUp())
    const root = temporary.path
    process.umask(0o022)
    chmodSync(root, 0o755)
    const { copies, last } = containerfile()
    for (const { from, to, isOfStage } of copies) {
      if (isOfStage) copyPackages(join(root, to))
      else if (to !== './') copyInto(join(PROJECT, from[0] ?? ''), join(root, to))
    }
    const user = Number(/^USER (\d+)/m.exec(last)?.[1])
    const data = join(root, 'var/lib/keywright')
    mkdirSync(dirname(data), { recursive: true })
    mkdirSync(data, { mode: 0o700 })
    chownSync(data, user, user)
    const config = join(root, 'etc/keywright/keywright.hcl')
    writeFileSync(config, read(config).replace('/var/lib', `${root}/var/lib`).replace('0.0.0.0:8200', '127.0.0.1:0'))
    const words = /^CMD \["(.*)"\]$/m.exec(last)?.[1]?.split('", "') ?? []
    const command = [
      join(root, 'opt/keywright/bin/keywright'),
      ...words.map((word) => word.replace('/etc/', `${root}/etc/`)),
    ]
    const plain = [`--reuid=${user}`, `--regid=${user}`, '--clear-groups', '--no-new-privs', '--bounding-set=-all']
    // As ENTRYPOINT and CMD say, with an environment of its own.
    const child = spawn('setpriv', [...plain, '--inh-caps=-all', ...command], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: '/usr/bin:/bin' },
      cwd: '/',
    })
    const server = await watchServer(child)
    context.after(() => server.kill())
    assert.equal((await api(server, 'GET', 'sys/seal-status')).body.initialized, false)
    const made = await api(server, 'PUT', 'sys/init', { secret_shares: 1, secret_threshold: 1 })
    await api(server, 'PUT', 'sys/unseal', { key: (made.body.keys as string[])[0] })
    const { body } = await api({ ...server, token: String(made.body.root_token) }, 'GET', 'sys/hardening')
    const checks = body.data?.checks as { readonly id: string; readonly verdict: string; readonly message: string }[]
    const verdict = (id: string) => checks.find((check) => check.id === id)?.message
    assert.match(verdict('B-01') ?? '', new RegExp(`^The process runs as user ${user}, with no capabilities$`))
    assert.match(verdict('B-02') ?? '', /^The server can write neither its program nor its configuration$/)
    assert.match(verdict('B-09') ?? '', /^Only its owner can access /)
    assert.match(verdict('B-13') ?? '', /^No environment variable or flag does$/)
    assert.equal(await server.stop(), 0)
  })
}

function copyInto(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true, mode: 0o755 })
  cpSync(from, to, { recursive: true, dereference: true })
}

/** What `npm ci --omit=dev` leaves: packages that the lock file does not mark as those of development. */
function copyPackages(to: string): void {
  const lock = JSON.parse(read(join(PROJECT, 'package-lock.json'))) as {
    readonly packages: Readonly<Record<string, { readonly dev?: boolean }>>
  }
  for (const [path, { dev }] of Object.entries(lock.packages)) {
    const from = join(PROJECT, path)
    if (path !== '' && dev !== true && existsSync(from)) copyInto(from, join(dirname(to), path))
  }
}
