// An audit log as an operator has it: declared in the configuration file, rotated by SIGHUP, left by kill -9, and
// checked with the command line.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { appendFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { readEntries, requirePairs } from '../../fixtures/audit-log.ts'
import {
  api,
  PROJECT,
  type RunningProcess,
  startConfigured,
  temporaryDirectory,
} from '../../fixtures/server-process.ts'
import { until } from '../../fixtures/until.ts'

const directory = temporaryDirectory()
const file = join(directory.path, 'audit.log')
const config = join(directory.path, 'server.hcl')
writeFileSync(
  config,
  `listener "tcp" {
  address     = "127.0.0.1:0"
  tls_disable = true
}
storage "sqlite" { path = "${directory.path}/data" }
threads = 2
unsafe_allow_api_audit_creation = false
audit "file" "log" {
  options { file_path = "${file}" }
}
`,
)
let server: RunningProcess | undefined
after(async () => {
  await server?.kill()
  directory.cleanUp()
})

type Keys = { readonly keys_base64: readonly string[]; readonly root_token: string }
let made: Keys

async function start(): Promise<RunningProcess> {
  server = await startConfigured(config)
  if (made === undefined) {
    const sent = { secret_shares: 1, secret_threshold: 1 }
    made = (await api(server, 'POST', 'sys/init', sent)).body as unknown as Keys
  }
  await api(server, 'POST', 'sys/unseal', { key: made.keys_base64[0] })
  return server
}

const keywright = (args: readonly string[], address = '') =>
  spawnSync(join(PROJECT, 'bin/keywright'), args, {
    encoding: 'utf8',
    env: { ...process.env, VAULT_ADDR: address, VAULT_TOKEN: made.root_token },
  })

async function read(times: number): Promise<void> {
  const target = { address: server?.address ?? '', token: made.root_token }
  const answers = Array.from({ length: times }, () => api(target, 'GET', 'auth/token/lookup-self'))
  for (const { status } of await Promise.all(answers)) assert.equal(status, 200)
}

const linesOf = (path: string): string[] => readFileSync(path, 'utf8').trim().split('\n')

test('P-38: a log that is rotated under load, and read by the command line', async () => {
  const running = await start()
  await read(40)
  renameSync(file, `${file}.1`)
  await read(10)
  process.kill(running.pid, 'SIGHUP')
  // The threads that wrote to it leave it with a mark.
  await until(() => linesOf(`${file}.1`).filter((line) => line.includes('"event":"reopen"')).length >= 2)
  await read(40)
  const online = keywright(['audit', 'verify', '-server', `${file}.1`, file], running.address)
  assert.equal(online.status, 0, online.stdout + online.stderr)
  assert.match(online.stdout, /running/)
  assert.match(online.stdout, /no fault in \d+ entries of [23] chains/)
  requirePairs([...readEntries(`${file}.1`), ...readEntries(file)])
  // The end of a chain that is being written.
  const cut = join(directory.path, 'cut.log')
  writeFileSync(cut, `${linesOf(file).slice(0, -6).join('\n')}\n`)
  const shorter = keywright(['audit', 'verify', '-server', `${file}.1`, cut], running.address)
  assert.equal(shorter.status, 1)
  assert.match(shorter.stdout, /Fault: the server wrote chain \w+ up to number \d+, the log ends at \d+/)
  await running.stop()
  const offline = keywright(['audit', 'verify', `${file}.1`, file])
  assert.equal(offline.status, 0, offline.stdout)
  assert.match(offline.stdout, /Note: no public key was given/)
  assert.equal(keywright(['audit', 'verify', file, `${file}.1`]).status, 1)
})

test('P-38: a killed server leaves open chains, and a torn line is told from a spoiled one', async () => {
  const running = await start()
  await read(20)
  await running.kill()
  appendFileSync(file, '{"time":"2026')
  const killed = keywright(['audit', 'verify', `${file}.1`, file])
  assert.equal(killed.status, 1)
  assert.match(killed.stdout, /has no end behind number \d+: the server runs or was killed/)
  assert.equal(keywright(['audit', 'verify', '-part', `${file}.1`, file]).status, 0)
  const again = await start()
  await read(20)
  const { body } = await api({ address: again.address, token: made.root_token }, 'GET', 'sys/audit-streams')
  const publicKey = String(body.data?.public_key)
  await again.stop()
  const part = ['audit', 'verify', '-part', `-public-key=${publicKey}`]
  const { status, stdout } = keywright([...part, `${file}.1`, file])
  assert.equal(status, 0, stdout)
  assert.match(stdout, /13 bytes of a line of a chain that was being written when the server ended/)
  // What was there at the restart cannot be taken away afterwards, though its chain has no end.
  const lines = linesOf(file)
  const open = lines.findLastIndex(
    (line, at) => line.includes('"type":"response"') && at < lines.indexOf('{"time":"2026'),
  )
  const less = join(directory.path, 'less.log')
  writeFileSync(less, `${lines.toSpliced(open, 1).join('\n')}\n`)
  assert.equal(keywright([...part, `${file}.1`, less]).status, 1)
  assert.match(keywright([...part, '-format=json', file]).stdout, /"faults": \[\]/)
})

test('devices by the command line', async () => {
  const running = await start()
  const { address } = running
  const other = `file_path=${directory.path}/other.log`
  const refused = keywright(['audit', 'enable', '-path=other', 'file', other], address)
  assert.equal(refused.status, 2)
  assert.match(refused.stderr, /unsafe_allow_api_audit_creation = false/)
  assert.match(keywright(['audit', 'list', '-detailed'], address).stdout, /log\/ +file .*file_path=.*audit\.log/)
  const disabled = keywright(['audit', 'disable', 'log'], address)
  assert.equal(disabled.status, 2)
  assert.match(disabled.stderr, /take audit "file" "log" out of it/)
  await running.stop()
  writeFileSync(
    config,
    readFileSync(config, 'utf8')
      .replace('= false', '= true')
      .replace(/audit "file"[^}]*}\n}/, ''),
  )
  const open = await start()
  assert.match(keywright(['audit', 'list'], open.address).stdout, /No audit devices are enabled/)
  const enabled = keywright(['audit', 'enable', '-path=other', '-description=more', 'file', other], open.address)
  assert.equal(enabled.status, 0, enabled.stderr)
  assert.match(enabled.stdout, /Success! Enabled the file audit device at: other\//)
  assert.match(keywright(['audit', 'disable', 'other'], open.address).stdout, /Success! Disabled the audit device/)
})
