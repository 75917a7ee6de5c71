// The checks of the surroundings with real servers, disks and files: what the log says, what keeps one from starting,
// what sys/hardening and `operator diagnose` show.
import { strict as assert } from 'node:assert'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import {
  api,
  PROJECT,
  type RunningProcess,
  startConfigured,
  startServerProcess,
  temporaryDirectory,
} from '../../fixtures/server-process.ts'

const LIMIT_MS = 120_000
const MAIN = join(PROJECT, 'bin/keywright')

type Checks = readonly { readonly id: string; readonly verdict: string; readonly message: string }[]

function configIn(folder: string, more = ''): string {
  const path = join(folder, 'server.hcl')
  const storage = `storage "sqlite" { path = "${folder}/data" }`
  writeFileSync(path, `listener "tcp" {\n address = "127.0.0.1:0"\n tls_disable = true\n}\n${storage}\n${more}\n`, {
    mode: 0o600,
  })
  return path
}

type Ended = { readonly status: number | null; readonly stdout: string; readonly stderr: string }

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Ended {
  const { status, stdout, stderr } = spawnSync(MAIN, args, {
    encoding: 'utf8',
    timeout: LIMIT_MS,
    env: { ...process.env, ...env },
  })
  return { status, stdout, stderr }
}

function newFolder(context: TestContext): string {
  const temporary = temporaryDirectory()
  context.after(() => temporary.cleanUp())
  return temporary.path
}

type Diagnosed = { readonly status: number | null; readonly checks: Map<string, string> }

/** By id, from `operator diagnose -format=json`; anew where a busy disk is all that it says of a store. */
function diagnosed(args: readonly string[], attemptsLeft = 20): Diagnosed {
  const { status, stdout } = run(['operator', 'diagnose', '-format=json', ...args])
  const shown = JSON.parse(stdout) as { checks: { id: string; verdict: string; sentence: string }[] }
  const checks = new Map(shown.checks.map(({ id, verdict, sentence }) => [id, `${verdict}: ${sentence}`]))
  const isDiskBusy = checks.get('B-15')?.startsWith('warn: A durable write takes') === true
  return isDiskBusy && attemptsLeft > 0 ? diagnosed(args, attemptsLeft - 1) : { status, checks }
}

test('P-62: a server logs what is not well and a summary, once it has started', async (context) => {
  const folder = newFolder(context)
  const server = await startConfigured(configIn(folder, 'seal "static" { current_key_id = "1"\n current_key = "x" }'))
  context.after(() => server.stop())
  const lines = server.output().split('\n')
  assert.ok(
    lines.some((line) => / warn .*seal\.current_key is in .* check="B-10"$/.test(line)),
    server.output(),
  )
  assert.ok(lines.some((line) => / info .*operator diagnose.* ok=\d+ warn=\d+ refuse=0 unknown=\d+$/.test(line)))
  assert.doesNotMatch(server.output(), /current_key = "x"/)
  if (process.platform !== 'linux') return
  assert.match(readFileSync(`/proc/${server.pid}/coredump_filter`, 'utf8'), /^0+\n$/, 'B-05')
  assert.match(readFileSync(`/proc/${server.pid}/status`, 'utf8'), /^Umask:\t0077$/m, 'B-16')
})

test('a development server logs the numbers only', async (context) => {
  const server = await startServerProcess({ directory: join(newFolder(context), 'data') })
  context.after(() => server.stop())
  assert.match(server.output(), / info .* warn=[1-9]/)
  assert.doesNotMatch(server.output(), / warn /)
})

const REFUSALS = [
  { name: 'strict_hardening', more: 'strict_hardening = true', env: {}, says: /audit device is enabled.*\(B-07\)/ },
  { name: 'require_audit', more: 'require_audit = true', env: {}, says: /^keywright: require_audit .* \(B-07\)\n$/ },
  {
    name: 'P-13, N-35: code before the program',
    more: '',
    env: { NODE_OPTIONS: '--no-warnings --import=data:text/javascript,0' },
    says: /^keywright: NODE_OPTIONS holds --import: unset it for the server \(B-13\)\n$/,
  },
  { name: 'OPENSSL_CONF', more: '', env: { OPENSSL_CONF: '/dev/null' }, says: /OPENSSL_CONF is set.*\(B-13\)\n$/ },
]

for (const { name, more, env, says } of REFUSALS) {
  test(`B: ${name} keeps a server from starting, in one line and before it makes anything`, (context) => {
    const folder = newFolder(context)
    const { status, stdout, stderr } = run(['server', '-config', configIn(folder, more)], env)
    assert.deepEqual([status, stdout], [1, ''])
    assert.match(stderr, says)
    assert.equal(stderr.split('\n').length, 2)
    assert.deepEqual(readdirSync(folder), ['server.hcl'])
  })
}

let dev: Awaited<ReturnType<typeof startServerProcess>>
let devFolder: string
const temporary = temporaryDirectory()
before(async () => {
  devFolder = temporary.path
  dev = await startServerProcess({ directory: join(devFolder, 'data') })
})
after(async () => {
  await dev.kill()
  temporary.cleanUp()
})

async function checksOf(server: RunningProcess, token: string): Promise<Map<string, string>> {
  const { status, body } = await api({ address: server.address, token }, 'GET', 'sys/hardening')
  assert.equal(status, 200)
  const { checks } = body.data as { checks: Checks }
  return new Map(checks.map(({ id, verdict, message }) => [id, `${verdict}: ${message}`]))
}

test('P-62: sys/hardening shows every check, anew, to who has sudo', async () => {
  const made = async (policy: string): Promise<string> => {
    await api(dev, 'POST', 'sys/policies/acl/looks', { policy })
    const { body } = await api(dev, 'POST', 'auth/token/create', { policies: ['looks'] })
    return String((body.auth as { client_token: string }).client_token)
  }
  const plain = await made('path "sys/hardening" { capabilities = ["read"] }')
  assert.equal((await api(dev, 'GET', 'sys/hardening', undefined, plain)).status, 403)
  const able = await made('path "sys/hardening" { capabilities = ["read", "sudo"] }')
  const first = await checksOf(dev, able)
  assert.equal(first.size, 17)
  assert.match(first.get('B-06') ?? '', /^warn: There is 1 root token:/)
  assert.match(first.get('B-17') ?? '', /^warn: This is a development server/)
  await api(dev, 'POST', 'auth/token/create', { policies: ['root'] })
  chmodSync(join(devFolder, 'data'), 0o755)
  const second = await checksOf(dev, able)
  chmodSync(join(devFolder, 'data'), 0o700)
  assert.match(second.get('B-06') ?? '', /^warn: There are 2 root tokens:/)
  assert.match(second.get('B-09') ?? '', /^refuse: Others can access .*: chmod 700/)
})

test('operator diagnose beside a running server, after its end, and after a kill', async () => {
  const data = join(devFolder, 'data')
  const config = join(devFolder, 'server.hcl')
  const address = new URL(dev.address).host
  writeFileSync(
    config,
    `listener "tcp" {\n address = "${address}"\n tls_disable = true\n}\nstorage "sqlite" { path = "${data}" }\n`,
  )
  const beside = diagnosed(['-config', config])
  assert.match(beside.checks.get('address') ?? '', /^ok: .* is in use, as is the store: by its own server$/)
  assert.match(beside.checks.get('B-15') ?? '', /^ok: A server has the store open/)
  assert.match(beside.checks.get('B-08') ?? '', /^ok: .* the last change in the store was at \d{4}-/)
  assert.match(beside.checks.get('B-17') ?? '', /^warn: .*development-keys\.json unseals the store beside it/)
  assert.equal(beside.status, 2)
  // It was only looked at.
  assert.equal(
    (await api(dev, 'POST', 'sys/policies/acl/after', { policy: 'path "x" { capabilities = ["read"] }' })).status,
    204,
  )
  await dev.kill()
  const killed = diagnosed(['-config', config])
  assert.match(killed.checks.get('B-15') ?? '', /^ok: The store was not closed cleanly; its journal of .* is intact/)
  assert.match(killed.checks.get('address') ?? '', /^ok: .* is free$/)
  const again = await startServerProcess({ directory: data })
  assert.equal(await again.stop(), 0)
  assert.match(diagnosed(['-data', data]).checks.get('B-15') ?? '', /^ok: The store was closed cleanly/)
})

test('operator diagnose says what is in the way, and ends with 1', (context) => {
  const folder = newFolder(context)
  const config = configIn(folder, 'threds = 2')
  const unread = diagnosed(['-config', config])
  assert.equal(unread.status, 1)
  assert.match(unread.checks.get('config') ?? '', /^refuse: .*unknown key "threds".*did you mean "threads"/)
  // Nothing is said of a server that nobody asked for.
  assert.deepEqual([...unread.checks.keys()].toSorted(), [
    'B-01',
    'B-04',
    'B-05',
    'B-11',
    'B-13',
    'B-14',
    'B-16',
    'config',
  ])
  assert.match(diagnosed(['-config', join(folder, 'none.hcl')]).checks.get('config') ?? '', /^refuse: .*cannot be read/)
})

test('B-07: what cannot be recorded is told before a start; what the store may know is not denied', async (context) => {
  const folder = newFolder(context)
  const log = join(folder, 'log')
  const audited = configIn(folder, `audit "file" "all" { options { file_path = "${log}/audit.log" } }`)
  const refused = run(['server', '-config', audited])
  assert.equal(refused.status, 1)
  assert.equal(refused.stderr.includes(`${log} is missing: create it for the user of the server (B-07)`), true)
  assert.match(diagnosed(['-config', audited]).checks.get('B-07') ?? '', /^refuse: .*audit\.log .* is missing/)
  mkdirSync(log)
  assert.match(diagnosed(['-config', audited]).checks.get('B-07') ?? '', /^ok: .*all\//)
  const plain = configIn(folder)
  assert.match(diagnosed(['-config', plain]).checks.get('B-07') ?? '', /^warn: No audit device is enabled/)
  const server = await startConfigured(plain)
  assert.equal(await server.stop(), 0)
  assert.match(diagnosed(['-config', plain]).checks.get('B-07') ?? '', /^unknown: .*whether the store has one/)
  const required = run(['server', '-config', configIn(folder, 'require_audit = true')])
  assert.match(required.stderr, /^keywright: require_audit is set and the configuration declares no .*\(B-07\)\n$/)
})

test('B-15: a store that is damaged is in the way of a start, and named', async (context) => {
  const folder = newFolder(context)
  const data = join(folder, 'data')
  const server = await startServerProcess({ directory: data })
  assert.equal(await server.stop(), 0)
  truncateSync(join(data, 'keywright.db'), 100)
  const { status, checks } = diagnosed(['-data', data])
  assert.equal(status, 1)
  assert.match(checks.get('B-15') ?? '', /^refuse: .*keywright\.db .*: check it with `keywright storage verify`/)
  const refused = run(['server', '-dev', '-dev-listen-address=127.0.0.1:0', '-data', data])
  assert.equal(refused.status, 1)
  assert.match(refused.stderr, /^keywright: .*damaged.*\(B-15\)\n$/)
})

test('operator diagnose is read by people: marks, groups, and no colour where there is no terminal', (context) => {
  const folder = newFolder(context)
  const { stdout, stderr } = run(['operator', 'diagnose', '-config', configIn(folder)])
  assert.equal(stderr, '')
  assert.ok(
    [...stdout].every((character) => character === '\n' || (character >= ' ' && character <= '~')),
    stdout,
  )
  assert.match(stdout, /^configuration\n {2}\[ok\] {3}The configuration can be read {2,}/m)
  assert.match(stdout, /^\d+ passed, .*\n$/m)
  for (const line of stdout.split('\n')) assert.ok(line.length <= 100, line)
})
