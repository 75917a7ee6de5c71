// A server from its start to its end: how soon it answers, what a signal does to it, what is there when it comes back.
import { strict as assert } from 'node:assert'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { leastMs, tookMs, undisturbed } from '../../fixtures/measured.ts'
import {
  api,
  type RunningProcess,
  startConfigured,
  startServerProcess,
  temporaryDirectory,
} from '../../fixtures/server-process.ts'

const temporary = temporaryDirectory()
after(() => temporary.cleanUp())

const READY_RUNS = 5
/** Ten times what it takes on an idle machine. */
const MOST_READY_MS = 5_000
/** Where nothing is waited for, and where the server's patience of 5 s ends. */
const MOST_STOP_MS = 4_000
const MOST_STALLED_STOP_MS = 10_000

test('server answers soon after its start', async (context) => {
  const times: number[] = []
  for (let i = 0; i < READY_RUNS; i++) {
    const startMs = performance.now()
    const server = await startServerProcess({ directory: join(temporary.path, 'ready') })
    const { status } = await api(server, 'GET', 'sys/health')
    times.push(performance.now() - startMs)
    assert.equal(status, 200)
    await server.stop()
  }
  const least = Math.min(...times)
  context.diagnostic(`ready after ${times.map(Math.round).join(', ')} ms, the first one makes its store`)
  assert.ok(least < MOST_READY_MS, `${times.map(Math.round)} ms`)
})

test('SIGTERM lets a running request finish, ends with 0, and a restart has everything', async (context) => {
  let directory = ''
  let attempts = 0
  // The server has patience for 5 s: where this machine stands still for longer, the request is cut off.
  const { ms, answer, code } = await undisturbed(MOST_STOP_MS, async () => {
    directory = join(temporary.path, `signal-${++attempts}`)
    const server = await startServerProcess({ directory })
    context.after(() => server.kill())
    await api(server, 'POST', 'sys/mounts/transit', { type: 'transit' })
    const running = await beginRequest(server.address, 'POST', '/v1/transit/keys/last', '{"type":"aes256-gcm96"}')
    const startMs = performance.now()
    const stopped = server.stop()
    await refusesConnections(server.address)
    const answer = await running.finish()
    return { answer, code: await stopped, ms: performance.now() - startMs }
  })
  assert.match(answer, /^HTTP\/1\.1 200 /)
  assert.equal(code, 0)
  assert.ok(ms < MOST_STOP_MS, `${ms} ms`)

  const again = await startServerProcess({ directory })
  context.after(() => again.stop())
  const { status, body } = await api(again, 'GET', 'transit/keys/last')
  assert.equal(status, 200)
  assert.equal(body.data?.latest_version, 1)
})

/** A request of which the server has read the head, and all but the last byte of the body is sent. */
async function beginRequest(address: string, method: string, target: string, body: string) {
  const socket = await connected(address)
  const headers = `Host: x\r\nX-Vault-Token: root\r\nContent-Length: ${body.length}\r\nExpect: 100-continue`
  socket.write(`${method} ${target} HTTP/1.1\r\n${headers}\r\n\r\n`)
  const [told] = await once(socket, 'data')
  assert.match(told.toString(), /^HTTP\/1\.1 100 /)
  socket.write(body.slice(0, -1))
  return {
    /** Sends the last byte, and resolves with the answer when the connection has ended. */
    finish: async (): Promise<string> => {
      let answer = ''
      socket.on('data', (chunk: Buffer) => {
        answer += chunk.toString()
      })
      socket.write(body.slice(-1))
      await once(socket, 'close')
      return answer
    },
  }
}

async function connected(address: string): Promise<Socket> {
  const { hostname, port } = new URL(address)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  // Where it is reset it was still in the queue of the socket that closed; who waits for it sees its end.
  socket.on('error', () => {})
  return socket
}

async function refusesConnections(address: string): Promise<void> {
  for (;;) {
    try {
      ;(await connected(address)).destroy()
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException
      if (code === 'ECONNREFUSED') return
      // It stood in the queue of a socket at the moment that this was closed.
      assert.equal(code, 'ECONNRESET')
    }
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

test('SIGTERM does not wait for connections that ask nothing', async (context) => {
  const ms = await leastMs(MOST_STOP_MS, async () => {
    const server = await startServerProcess({ directory: join(temporary.path, 'idle') })
    context.after(() => server.kill())
    const silent = await connected(server.address)
    const used = await connected(server.address)
    used.write('GET /v1/sys/health HTTP/1.1\r\nHost: x\r\n\r\n')
    await once(used, 'data')
    const ms = await tookMs(async () => assert.equal(await server.stop(), 0))
    silent.destroy()
    used.destroy()
    return ms
  })
  assert.ok(ms < MOST_STOP_MS, `${ms} ms`)
})

test('SIGTERM does not wait for ever for a request that does not arrive', async (context) => {
  const ms = await leastMs(MOST_STALLED_STOP_MS, async () => {
    const server = await startServerProcess({ directory: join(temporary.path, 'stalled') })
    context.after(() => server.kill())
    await beginRequest(server.address, 'POST', '/v1/sys/policies/acl/x', '{"policy":""}')
    return tookMs(async () => assert.equal(await server.stop(), 0))
  })
  assert.ok(ms < MOST_STALLED_STOP_MS, `${ms} ms`)
})

type Made = { readonly keys_base64: readonly string[]; readonly root_token: string }

function configuration(name: string, storage: string): string {
  const path = join(temporary.path, name)
  writeFileSync(path, `listener "tcp" { address = "127.0.0.1:0", tls_disable = true }\n${storage}\n`)
  return path
}

async function initialise(server: RunningProcess): Promise<Made> {
  const { status, body } = await api(server, 'PUT', 'sys/init', { secret_shares: 5, secret_threshold: 3 })
  assert.equal(status, 200)
  return body as unknown as Made
}

const unseal = (server: RunningProcess, key: string | undefined) => api(server, 'PUT', 'sys/unseal', { key })

async function unsealWith(server: RunningProcess, keys: readonly string[]): Promise<void> {
  for (const key of keys) assert.equal((await unseal(server, key)).status, 200)
  assert.equal((await api(server, 'GET', 'sys/seal-status')).body.sealed, false)
}

/** Only what says so answers; everything else is 503, with and without a token, known or not. */
async function assertSealed(server: RunningProcess, token?: string): Promise<void> {
  for (const path of [
    'transit/keys/kept',
    'sys/mounts',
    'auth/token/lookup-self',
    'no/such/path',
    'sys/policies/acl/x',
  ]) {
    for (const method of ['GET', 'LIST', 'POST', 'DELETE']) {
      const { status, body } = await api(server, method, path, undefined, token)
      assert.equal(status, 503, `${method} ${path}`)
      assert.match(String((body.errors as string[])[0]), /sealed/)
    }
  }
  assert.equal((await api(server, 'GET', 'sys/health')).status, 503)
  assert.equal((await api(server, 'GET', 'sys/seal-status')).body.sealed, true)
  assert.equal((await api(server, 'GET', 'sys/init')).body.initialized, true)
}

test('a configured server is unsealed with three of five shares, sealed, and has its data again', async (context) => {
  const config = configuration(
    'sealed.hcl',
    `storage "sqlite" { path = ${JSON.stringify(join(temporary.path, 'sealed'))} }`,
  )
  const server = await startConfigured(config)
  context.after(() => server.kill())
  assert.equal((await api(server, 'GET', 'sys/health')).status, 501)
  assert.equal((await api(server, 'GET', 'sys/mounts')).status, 503)

  const { keys_base64: keys, root_token: token } = await initialise(server)
  assert.equal((await api(server, 'PUT', 'sys/init', { secret_shares: 1, secret_threshold: 1 })).status, 400)
  await assertSealed(server, token)

  const [first, second, third, fourth, fifth] = keys
  assert.equal((await unseal(server, first)).body.progress, 1)
  assert.equal((await unseal(server, first)).body.progress, 1, 'the same share counts once')
  assert.equal((await unseal(server, second)).body.progress, 2)
  const wrong = await unseal(server, Buffer.alloc(33, 7).toString('base64'))
  assert.equal(wrong.status, 400)
  assert.match(String((wrong.body.errors as string[])[0]), /unseal failed, invalid key/)
  assert.equal((await api(server, 'GET', 'sys/seal-status')).body.progress, 0, 'a wrong share spoils the attempt')
  await assertSealed(server, token)

  await unsealWith(server, [fifth, first, third].map(String))
  const root = { address: server.address, token }
  await api(root, 'POST', 'sys/mounts/transit', { type: 'transit' })
  await api(root, 'POST', 'transit/keys/kept')
  const plaintext = Buffer.from('kept').toString('base64')
  const { ciphertext } = (await api(root, 'POST', 'transit/encrypt/kept', { plaintext })).body.data ?? {}

  assert.equal((await api(server, 'PUT', 'sys/seal')).status, 403)
  assert.equal((await api(root, 'PUT', 'sys/seal')).status, 204)
  await assertSealed(server, token)
  await unsealWith(server, [second, third, fourth].map(String))
  assert.equal((await api(root, 'POST', 'transit/decrypt/kept', { ciphertext })).body.data?.plaintext, plaintext)
  assert.equal(await server.stop(), 0)

  const again = await startConfigured(config)
  context.after(() => again.stop())
  await assertSealed(again, token)
  await unsealWith(again, [fourth, fifth, first].map(String))
  const answer = await api({ address: again.address, token }, 'POST', 'transit/decrypt/kept', { ciphertext })
  assert.equal(answer.body.data?.plaintext, plaintext)
})

test('a server with storage in memory forgets everything when it ends', async (context) => {
  const config = configuration('memory.hcl', 'storage "inmem" {}')
  const server = await startConfigured(config)
  context.after(() => server.kill())
  const { keys_base64: keys, root_token: token } = await initialise(server)
  await unsealWith(server, keys.slice(0, 3))
  const root = { address: server.address, token }
  assert.equal((await api(root, 'POST', 'sys/mounts/transit', { type: 'transit' })).status, 204)
  const plaintext = Buffer.from('gone').toString('base64')
  const { data } = (await api(root, 'POST', 'transit/encrypt/upserted', { plaintext })).body
  assert.equal((await api(root, 'POST', 'transit/decrypt/upserted', data)).body.data?.plaintext, plaintext)
  assert.equal((await api(server, 'GET', 'sys/seal-status')).body.storage_type, 'inmem')
  assert.equal(await server.stop(), 0)

  const again = await startConfigured(config)
  context.after(() => again.stop())
  assert.equal((await api(again, 'GET', 'sys/health')).status, 501)
})
