// sys/config/reload in a server with its threads: one part is read anew on all of them before the answer, the others
// stay as they are.
import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { LOOPBACK_CERTIFICATE, LOOPBACK_KEY } from '../../fixtures/loopback-certificate.ts'
import { SECOND_CERTIFICATE, SECOND_KEY } from '../../fixtures/more-certificates.ts'
import { type ServerProcess, startServerProcess, temporaryDirectory } from '../../fixtures/server-process.ts'
import { isTrusted } from '../../fixtures/tls-client.ts'
import { until } from '../../fixtures/until.ts'

const directory = temporaryDirectory()
const at = (name: string): string => join(directory.path, name)
let server: ServerProcess
let address = ''
let authority = LOOPBACK_CERTIFICATE

function configure(level: string): void {
  writeFileSync(
    at('server.hcl'),
    `threads = 2
log_level = "${level}"
listener "tcp" {
  address       = "127.0.0.1:0"
  tls_cert_file = "${at('cert.pem')}"
  tls_key_file  = "${at('key.pem')}"
}
audit "file" "log" {
  options { file_path = "${at('logs/audit.log')}" }
}
`,
  )
}

function certify(certificate: string, key: string): void {
  writeFileSync(at('cert.pem'), certificate)
  writeFileSync(at('key.pem'), key, { mode: 0o600 })
}

before(async () => {
  mkdirSync(at('logs'))
  configure('info')
  certify(LOOPBACK_CERTIFICATE, LOOPBACK_KEY)
  server = await startServerProcess({ directory: at('data'), args: ['-config', at('server.hcl')] })
  address = server.address
})
after(async () => {
  await server.kill()
  directory.cleanUp()
})

type Answer = { readonly status: number; readonly text: string }

/** On a connection of its own, so that any thread may get it. */
function call(method: string, path: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { 'X-Vault-Token': 'root' }
    const sent = request(`${address}/v1/${path}`, { method, headers, ca: authority, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    sent.on('error', reject).end()
  })
}

const reload = (part: string): Promise<Answer> => call('POST', `sys/config/reload/${part}`)

test('tls: all threads have the new certificate at the answer; audit and level are as they were', async () => {
  certify(SECOND_CERTIFICATE, SECOND_KEY)
  configure('debug')
  assert.equal((await reload('tls')).status, 204)
  authority = SECOND_CERTIFICATE
  for (let i = 0; i < 8; i++) assert.equal(await isTrusted(address, SECOND_CERTIFICATE), true)
  assert.match((await call('GET', 'sys/loggers')).text, /"core":"info"/)
  assert.doesNotMatch(readFileSync(at('logs/audit.log'), 'utf8'), /"event":"reopen"/)
})

test('tls: a certificate that cannot be used is a refusal, and the one there was goes on', async () => {
  writeFileSync(at('cert.pem'), SECOND_CERTIFICATE.slice(0, 300))
  const { status, text } = await reload('tls')
  assert.equal(status, 400)
  assert.match(text, /\\"tls\\" was not read anew everywhere/)
  assert.doesNotMatch(text, /cert\.pem/)
  const said = 'Reload: the previous certificate stays in use: tls_cert_file'
  await until(() => server.output().includes(said), 'the line in the log')
  for (let i = 0; i < 4; i++) assert.equal(await isTrusted(address, SECOND_CERTIFICATE), true)
})

test('log_level: what the files say now counts for all threads, and a refused file changes nothing', async () => {
  configure('warn')
  assert.equal((await reload('log_level')).status, 204)
  for (let i = 0; i < 4; i++) assert.match((await call('GET', 'sys/loggers')).text, /"core":"warn"/)
  writeFileSync(at('server.hcl'), 'nonsense = 1')
  assert.equal((await reload('log_level')).status, 400)
  assert.match((await call('GET', 'sys/loggers')).text, /"core":"warn"/)
  configure('warn')
})

test('audit: after the answer no thread writes to the file that was moved away', async () => {
  const [log, moved] = [at('logs/audit.log'), at('logs/audit.log.1')]
  renameSync(log, moved)
  assert.equal((await reload('audit')).status, 204)
  const size = readFileSync(moved).length
  for (let i = 0; i < 8; i++) assert.equal((await call('GET', 'sys/mounts')).status, 200)
  assert.equal(readFileSync(moved).length, size)
  assert.equal(readFileSync(log, 'utf8').match(/"path":"sys\/mounts"/g)?.length, 16)
})

test('audit: a file that cannot be opened is a refusal, and the log goes on where it was', async (context) => {
  if (process.getuid?.() === 0) {
    // Root opens everything: what stands in the way is another kind of file.
    renameSync(at('logs/audit.log'), at('logs/audit.log.2'))
    mkdirSync(at('logs/audit.log'))
    context.after(() => rmSync(at('logs/audit.log'), { recursive: true }))
  } else {
    renameSync(at('logs/audit.log'), at('logs/audit.log.2'))
    chmodSync(at('logs'), 0o500)
    context.after(() => chmodSync(at('logs'), 0o700))
  }
  const size = readFileSync(at('logs/audit.log.2')).length
  assert.equal((await reload('audit')).status, 400)
  assert.ok(existsSync(at('logs/audit.log.2')) && readFileSync(at('logs/audit.log.2')).length > size)
})

test('another part is refused, and says which there are', async () => {
  const { status, text } = await reload('license')
  assert.equal(status, 400)
  assert.match(text, /offered are audit, log_level, replication, tls/)
})
