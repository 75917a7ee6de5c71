// A real server with several listeners: their limits, their certificates, their end.
import { strict as assert } from 'node:assert'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { runClient } from '../../fixtures/cli-run.ts'
import { LOOPBACK_CERTIFICATE, LOOPBACK_KEY } from '../../fixtures/loopback-certificate.ts'
import { undisturbed } from '../../fixtures/measured.ts'
import {
  CLIENT_AUTHORITY,
  CLIENT_CERTIFICATE,
  CLIENT_KEY,
  SECOND_CERTIFICATE,
  SECOND_KEY,
} from '../../fixtures/more-certificates.ts'
import { RawConnection, rawRequest } from '../../fixtures/raw-http.ts'
import { spawnKeywright, startServerProcess, temporaryDirectory } from '../../fixtures/server-process.ts'
import { isTrusted } from '../../fixtures/tls-client.ts'
import { until } from '../../fixtures/until.ts'

const temporary = temporaryDirectory()
after(() => temporary.cleanUp())

const TOKEN = ['X-Vault-Token', 'root'] as const
const HEALTH = rawRequest('GET', '/v1/sys/health')
const MOST_STOP_MS = 10_000
const TIMEOUT_MS = 4_000

function written(name: string, text: string): string {
  const path = join(temporary.path, name)
  writeFileSync(path, text, { mode: 0o600 })
  return path
}

/** A development server with these listeners, and their addresses in the order of the configuration. */
async function started(context: TestContext, name: string, config: string) {
  const server = await startServerProcess({
    directory: join(temporary.path, name),
    args: ['-config', written(`${name}.hcl`, config)],
  })
  context.after(() => server.kill())
  const addresses = [...server.output().matchAll(/Listening on (\S+)\n/g)].map(([, address]) => address as string)
  return { ...server, addresses }
}

const listener = (keys: string): string => `listener "tcp" {\n address = "127.0.0.1:0"\n ${keys}\n}\n`

async function open(address: string): Promise<RawConnection> {
  if (!address.startsWith('https:')) return RawConnection.open(address)
  const socket = connectTls({ port: Number(new URL(address).port), host: '127.0.0.1', ca: LOOPBACK_CERTIFICATE })
  await once(socket, 'secureConnect')
  return RawConnection.over(socket)
}

const DEFAULT_LIMIT = 33_554_432
const SMALL_LIMIT = 1_000

/** A request that is taken, of exactly so many bytes. */
function body(bytes: number): Buffer {
  return Buffer.alloc(bytes, ' ').fill('{"paths": ["sys/health"]}', 0, 25)
}

function chunks(bytes: Buffer, chunkBytes: number): Buffer {
  const parts: Buffer[] = [rawRequest('POST', '/v1/sys/capabilities-self', [TOKEN, ['Transfer-Encoding', 'chunked']])]
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    const chunk = bytes.subarray(at, at + chunkBytes)
    parts.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'))
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')])
}

test('max_request_size: 33,554,432 bytes pass and one more is a 413; another takes 1,000', async (context) => {
  const server = await started(
    context,
    'sizes',
    listener('') + listener(`max_request_size = ${SMALL_LIMIT}`) + listener('max_request_size = 0'),
  )
  const [standard = '', small = '', zero = ''] = server.addresses
  assert.equal(server.addresses.length, 3)
  const statusOf = async (address: string, request: Buffer): Promise<number | undefined> => {
    const connection = await RawConnection.open(address)
    try {
      return (await connection.exchange(request))?.status
    } finally {
      connection.close()
    }
  }
  for (const [address, limit] of [
    [standard, DEFAULT_LIMIT],
    [small, SMALL_LIMIT],
    [zero, DEFAULT_LIMIT],
  ] as const) {
    const whole = (bytes: number) => rawRequest('POST', '/v1/sys/capabilities-self', [TOKEN], body(bytes))
    assert.equal(await statusOf(address, whole(limit)), 200, `${limit} bytes`)
    assert.equal(await statusOf(address, whole(limit + 1)), 413, `${limit + 1} bytes`)
    assert.equal(await statusOf(address, chunks(body(limit), 1 << 20)), 200, `${limit} bytes in chunks`)
    assert.equal(await statusOf(address, chunks(body(limit + 1), 1 << 20)), 413, `${limit + 1} bytes in chunks`)
  }
  assert.equal(await server.stop(), 0)
})

test('H-01: a server whose memory for bodies is in use serves others, and itself stays small', async (context) => {
  const megabytes = 16
  const server = await started(context, 'memory', `max_body_memory = ${DEFAULT_LIMIT}\n${listener('')}`)
  const [address = ''] = server.addresses
  // What the code itself takes is not counted: it has run before.
  for (let i = 0; i < 8; i++) {
    const connection = await RawConnection.open(address)
    await connection.exchange(rawRequest('POST', '/v1/sys/capabilities-self', [TOKEN], Buffer.alloc(2 << 20, ' ')))
    connection.close()
  }
  const before = residentBytes(server.pid)
  const holding = await Promise.all(
    Array.from({ length: 40 }, async () => {
      const connection = await RawConnection.open(address)
      // It never comes whole, so nothing of it is ever parsed; without a token nothing of it would be taken (A8).
      const length: readonly [string, string] = ['Content-Length', String(DEFAULT_LIMIT)]
      connection.write(rawRequest('POST', '/v1/sys/capabilities-self', [TOKEN, length]))
      connection.write(Buffer.alloc(megabytes << 20, ' '))
      return connection
    }),
  )
  const refused = await Promise.all(holding.map((connection) => connection.read(2_000).catch(() => 'held' as const)))
  const statuses = refused.map((answer) => (answer === 'held' || answer === undefined ? answer : answer.status))
  assert.ok(statuses.includes(503), statuses.join())
  const other = await RawConnection.open(address)
  assert.equal((await other.exchange(HEALTH))?.status, 200)
  const grown = (residentBytes(server.pid) - before) / (1 << 20)
  context.diagnostic(`640 MiB were offered, ${Math.round(grown)} MiB were taken with 32 allowed`)
  assert.ok(grown < 32 + 64, `${grown} MiB`)
  for (const connection of [other, ...holding]) connection.close()
})

function residentBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) * 1024
}

const TLS_KEYS = `tls_cert_file = "${join(temporary.path, 'cert.pem')}"
  tls_key_file = "${join(temporary.path, 'key.pem')}"`

test('F-14: SIGHUP under load brings a new certificate, not a broken one, and ends no connection', async (context) => {
  written('cert.pem', LOOPBACK_CERTIFICATE)
  written('key.pem', LOOPBACK_KEY)
  const server = await started(context, 'renewed', `threads = 2\n${listener(TLS_KEYS)}`)
  const [address = ''] = server.addresses
  assert.match(address, /^https:/)
  const connections = await Promise.all(Array.from({ length: 8 }, () => open(address)))
  let isRunning = true
  let answered = 0
  const load = connections.map(async (connection) => {
    while (isRunning) {
      assert.equal((await connection.exchange(HEALTH))?.status, 200)
      answered++
    }
  })
  const reloaded = async (says: RegExp): Promise<void> => {
    const before = server.output().length
    process.kill(server.pid, 'SIGHUP')
    await until(() => says.test(server.output().slice(before)), String(says))
  }

  written('cert.pem', SECOND_CERTIFICATE.slice(0, 300))
  const kept = 'error .*the previous certificate stays in use: '
  await reloaded(new RegExp(`${kept}tls_cert_file \\S+cert\\.pem holds a certificate that cannot be`))
  for (let i = 0; i < 8; i++) assert.equal(await isTrusted(address, LOOPBACK_CERTIFICATE), true)
  written('cert.pem', SECOND_CERTIFICATE)
  await reloaded(new RegExp(`${kept}The key in \\S+key\\.pem does not belong to the certificate`))
  written('key.pem', SECOND_KEY)
  await reloaded(/info .*the certificate was reloaded/)
  await until(() => isTrusted(address, SECOND_CERTIFICATE), 'the new certificate')
  await until(async () => !(await isTrusted(address, LOOPBACK_CERTIFICATE)), 'on every thread')
  // The system spreads connections over the threads: all of them have it.
  for (let i = 0; i < 16; i++) assert.equal(await isTrusted(address, SECOND_CERTIFICATE), true)

  written('renewed.hcl', 'nonsense = 1')
  await reloaded(/the configuration is invalid, the previous one stays in force: \S+renewed\.hcl: line 1: unknown key/)
  const before = answered
  await until(() => answered > before + 20, 'the connections go on')
  isRunning = false
  await Promise.all(load)
  for (const connection of connections) connection.close()
  assert.equal(await server.stop(), 0)
})

test('the command line speaks TLS with a certificate of its own, and is refused without', async (context) => {
  written('cert.pem', LOOPBACK_CERTIFICATE)
  written('key.pem', LOOPBACK_KEY)
  const authority = written('authority.pem', CLIENT_AUTHORITY)
  const keys = `${TLS_KEYS}\n tls_require_and_verify_client_cert = true\n tls_client_ca_file = "${authority}"`
  const server = await started(context, 'clients', listener(keys))
  const env = {
    VAULT_ADDR: server.addresses[0] as string,
    VAULT_TOKEN: 'root',
    VAULT_CACERT: written('server.pem', LOOPBACK_CERTIFICATE),
    VAULT_MAX_RETRIES: '0',
  }
  const own = {
    VAULT_CLIENT_CERT: written('client.pem', CLIENT_CERTIFICATE),
    VAULT_CLIENT_KEY: written('client-key.pem', CLIENT_KEY),
  }
  const read = await runClient(['read', '-format=json', 'sys/mounts'], { env: { ...env, ...own } })
  assert.equal(read.code, 0, read.stderr)
  assert.match(read.stdout, /cubbyhole/)
  assert.notEqual((await runClient(['read', 'sys/mounts'], { env })).code, 0)
  const { VAULT_CACERT, ...trustless } = { ...env, ...own }
  const untrusted = await runClient(['read', 'sys/mounts'], { env: trustless })
  assert.notEqual(untrusted.code, 0)
  assert.match(untrusted.stderr, /certificate/)
})

/** A request of which the server has read the head, and the body is still to come. */
async function begun(address: string): Promise<RawConnection> {
  const connection = await open(address)
  const headers = [TOKEN, ['Expect', '100-continue'], ['Content-Length', '25']] as const
  connection.write(rawRequest('POST', '/v1/sys/capabilities-self', headers))
  assert.equal((await connection.read())?.status, 100)
  return connection
}

/** What a connection met at the stop, in words; a fault of ours where it is anything else. */
const FINISHED = 'answered, told that it ends, and ended'

test('F-14: SIGTERM under load finishes on every listener what was begun, and ends with 0', async (context) => {
  written('cert.pem', LOOPBACK_CERTIFICATE)
  written('key.pem', LOOPBACK_KEY)
  // The server has patience for 5 s: where this machine stands still for longer, requests are cut off.
  const { ms, met, code, left } = await undisturbed(TIMEOUT_MS, () => stoppedUnderLoad(context))
  assert.deepEqual(met, new Set([FINISHED]))
  assert.equal(code, 0)
  assert.ok(ms < MOST_STOP_MS, `${ms} ms`)
  assert.deepEqual(left, [], 'files that should be gone')
})

async function stoppedUnderLoad(context: TestContext) {
  const pidFile = join(temporary.path, 'server.pid')
  const socket = join(temporary.path, 'server.sock')
  const unix = `listener "unix" {\n address = "${socket}"\n}\n`
  const config = `pid_file = "${pidFile}"\nthreads = 2\n${listener('')}${listener(TLS_KEYS)}${unix}`
  const server = await started(context, 'stopping', config)
  assert.equal(server.addresses.length, 3)
  assert.equal(readFileSync(pidFile, 'latin1'), `${server.pid}\n`)

  const taken = spawnKeywright(['server', '-config', written('second.hcl', `storage "inmem" {}\n${unix}`)])
  const [exit] = await once(taken, 'exit')
  assert.equal(exit, 1, 'the socket of a living server is not taken')

  const waiting = (
    await Promise.all(server.addresses.flatMap((address) => [1, 2, 3, 4].map(() => begun(address))))
  ).flat()
  let answered = 0
  const met = new Set<string>()
  const load = server.addresses.flatMap((address) =>
    [1, 2, 3].map(async () => {
      for (;;) {
        const connection = await open(address).catch(() => undefined)
        try {
          // Half an answer is an error of `exchange`; a connection that ends in between is none.
          while (connection !== undefined && (await connection.exchange(HEALTH)) !== undefined) answered++
        } catch (cause) {
          met.add(String(cause))
        }
        if (connection === undefined || isStopping) return
      }
    }),
  )
  let isStopping = false
  await until(() => answered > 200, 'the load')
  const startMs = performance.now()
  isStopping = true
  const stopped = server.stop()
  await until(() => refuses(server.addresses[0] as string), 'new connections are refused')
  for (const connection of waiting) connection.write(body(25))
  for (const connection of waiting) met.add(await finish(connection))
  const code = await stopped
  const ms = performance.now() - startMs
  await Promise.all(load)
  return { ms, met, code, left: [pidFile, socket].filter((path) => existsSync(path)) }
}

async function finish(connection: RawConnection): Promise<string> {
  try {
    const answer = await connection.read()
    const isTold = answer?.status === 200 && answer.headers.get('connection') === 'close'
    return isTold && (await connection.read()) === undefined ? FINISHED : `${answer?.status} and no end`
  } catch (cause) {
    return String(cause)
  }
}

async function refuses(address: string): Promise<boolean> {
  const { port, hostname } = new URL(address)
  const socket: Socket = connect(Number(port), hostname)
  const failed = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(false)).once('error', () => resolve(true))
  })
  socket.on('error', () => {})
  socket.destroy()
  return failed
}
