// Audit devices that fail under load: what is not recorded does not happen (P-34), and no device holds the server up
// for longer than its deadline (P-39, U-12).
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { type AuditEntry, byRequest, readEntries, requirePairs, verifyLog } from '../../fixtures/audit-log.ts'
import { leastMs, tookMs } from '../../fixtures/measured.ts'
import {
  type ApiAnswer,
  api,
  type ServerProcess,
  startServerProcess,
  temporaryDirectory,
} from '../../fixtures/server-process.ts'
import { cannotMount, smallDisk } from '../../fixtures/small-disk.ts'
import { until } from '../../fixtures/until.ts'

const REQUESTS = Number(process.env.REQUESTS ?? 1_500)
const CALLERS = 16

type Sent = { readonly name: string; readonly answer: ApiAnswer }

/** Creates keys as fast as it goes; `at` is told how many were sent. */
async function createKeys(server: ServerProcess, prefix: string, at: (sent: number) => void): Promise<Sent[]> {
  const answers: Sent[] = []
  let next = 0
  const work = async (): Promise<void> => {
    for (let number = next++; number < REQUESTS; number = next++) {
      at(number)
      const name = `${prefix}-${number}`
      answers.push({ name, answer: await api(server, 'POST', `transit/encrypt/${name}`, { plaintext: 'c29tZQ==' }) })
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, work))
  return answers
}

async function keysOf(server: ServerProcess): Promise<string[]> {
  return ((await api(server, 'LIST', 'transit/keys')).body.data?.keys ?? []) as string[]
}

/** Every effect has its first entry, and every answer that was given has both. */
function requireRecorded(sent: readonly Sent[], keys: readonly string[], entries: readonly AuditEntry[]): void {
  const asked = new Set(entries.filter(({ type }) => type === 'request').map(({ request }) => request.path))
  const unaudited = keys.filter((name) => !asked.has(`transit/encrypt/${name}`))
  assert.deepEqual(unaudited, [], 'unaudited effects')
  const requests = byRequest(entries)
  for (const { name, answer } of sent) {
    if (answer.status !== 200) continue
    const own = requests.get(String(answer.body.request_id)) ?? []
    assert.deepEqual(own.map(({ type }) => type).sort(), ['request', 'response'], name)
  }
  for (const [id, own] of requests) assert(own.length <= 2, id)
}

async function startAudited(file: string, directory: string): Promise<ServerProcess> {
  const server = await startServerProcess({ directory: join(directory, 'data'), args: ['-threads=2'] })
  assert.equal((await api(server, 'POST', 'sys/mounts/transit', { type: 'transit' })).status, 204)
  await enable(server, 'file', { type: 'file', options: { file_path: file } })
  return server
}

async function enable(server: ServerProcess, path: string, body: object): Promise<void> {
  const { status, body: told } = await api(server, 'POST', `sys/audit/${path}`, body)
  assert.equal(status, 204, JSON.stringify(told))
}

test('F-04, P-34: a full audit disk under load: nothing happens that is not recorded', {
  skip: cannotMount(),
}, async () => {
  const directory = temporaryDirectory()
  const disk = smallDisk(4)
  const file = join(disk.path, 'audit.log')
  const server = await startAudited(file, directory.path)
  try {
    const third = Math.floor(REQUESTS / 3)
    const sent = await createKeys(server, 'full', (number) => {
      if (number === third) disk.fill()
      if (number === 2 * third) disk.release()
    })
    const statuses = new Set(sent.map(({ answer }) => answer.status))
    assert.deepEqual([...statuses].sort(), [200, 500])
    const refused = sent.filter(({ answer }) => answer.status === 500)
    assert(refused.length > third / 2, `${refused.length}`)
    assert.equal((await api(server, 'GET', 'sys/health')).status, 200)
    await api(server, 'POST', 'transit/encrypt/after', { plaintext: 'c29tZQ==' })
    const keys = await keysOf(server)
    const publicKey = String((await api(server, 'GET', 'sys/audit-streams')).body.data?.public_key)
    await server.stop()
    requireRecorded(sent, keys, readEntries(file))
    // Torn lines and lost entries are told of by the chains themselves.
    const { faults, chains } = verifyLog(file, { publicKey })
    assert.deepEqual(faults, [])
    assert(chains.every(({ state }) => state === 'complete'))
    assert.match(server.output(), /An audit device cannot be written device="file\/" cause="(?:ENOSPC|short write)"/)
    assert.match(server.output(), /An audit device can be written again/)
  } finally {
    await server.kill()
    disk.unmount()
    directory.cleanUp()
  }
})

/** A listener on loopback that reads, or does not. */
async function listener(
  reads: boolean,
  port = 0,
): Promise<{ server: Server; port: number; text(): string; end(): void }> {
  const sockets = new Set<Socket>()
  let text = ''
  const server = createServer({ pauseOnConnect: !reads }, (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    if (reads)
      socket.on('data', (data: Buffer) => {
        text += data.toString('latin1')
      })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    server,
    port: (server.address() as AddressInfo).port,
    text: () => text,
    end: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

test('P-34, P-36: a device that dies under load is missed by nobody while another writes', async () => {
  const directory = temporaryDirectory()
  const file = join(directory.path, 'audit.log')
  const server = await startAudited(file, directory.path)
  const collector = await listener(true)
  try {
    await enable(server, 'socket', { type: 'socket', options: { address: `127.0.0.1:${collector.port}` } })
    const sent = await createKeys(server, 'killed', (number) => {
      if (number === Math.floor(REQUESTS / 2)) collector.end()
    })
    assert.deepEqual([...new Set(sent.map(({ answer }) => answer.status))], [200])
    assert.match(collector.text(), /killed-1"/)
    const keys = await keysOf(server)
    await server.stop()
    const entries = readEntries(file)
    requireRecorded(sent, keys, entries)
    const ids = requirePairs(entries)
    // Beside the load: the device that was made, and the list.
    assert.equal(ids.size, REQUESTS + 2)
    assert.deepEqual(verifyLog(file).faults, [])
    assert.match(server.output(), /An audit device cannot be written device="socket\/"/)
  } finally {
    collector.end()
    await server.kill()
    directory.cleanUp()
  }
})

test('F-07, P-39, U-12: a stalled socket holds requests up no longer than its deadline', async () => {
  const ms = await leastMs(4_000, heldUpMs)
  assert(ms < 4_000, `${ms} ms`)
})

/** By a stalled socket, of a server of its own; which goes on with one that works. */
async function heldUpMs(): Promise<number> {
  const directory = temporaryDirectory()
  const server = await startServerProcess({ directory: join(directory.path, 'data'), args: ['-threads=2'] })
  const stalled = await listener(false)
  try {
    await api(server, 'POST', 'sys/mounts/transit', { type: 'transit' })
    await api(server, 'POST', 'transit/keys/k', {})
    const options = { address: `127.0.0.1:${stalled.port}`, write_timeout: '1s' }
    await enable(server, 'socket', { type: 'socket', options })
    // Long names, so that what waits fills every buffer on the way.
    const batch_input = Array.from({ length: 2_000 }, () => ({ plaintext: 'c29tZQ==' }))
    let refused: { readonly ms: number } | undefined
    for (let tried = 0; tried < 200 && refused === undefined; tried++) {
      const begun = performance.now()
      const { status } = await api(server, 'POST', 'transit/encrypt/k', { batch_input })
      if (status === 500) refused = { ms: performance.now() - begun }
    }
    assert(refused !== undefined, 'the socket never stalled')
    const health = async () => assert.equal((await api(server, 'GET', 'sys/health')).status, 200)
    assert((await leastMs(2_000, () => tookMs(health))) < 2_000)
    // With a device that works all goes on.
    stalled.end()
    const reading = await listener(true, stalled.port)
    let status = 0
    await until(async () => {
      status = (await api(server, 'GET', 'transit/keys/k')).status
      return status === 200
    }, 'what the new device records')
    reading.end()
    return refused.ms
  } finally {
    stalled.end()
    await server.kill()
    directory.cleanUp()
  }
}

test('F-04: standard output that nobody reads does not end the server', async () => {
  const directory = temporaryDirectory()
  const server = await startServerProcess({ directory: join(directory.path, 'data'), args: ['-threads=2'] })
  try {
    await api(server, 'POST', 'sys/mounts/transit', { type: 'transit' })
    await enable(server, 'stdout', { type: 'file', options: { file_path: 'stdout' } })
    assert.equal((await api(server, 'POST', 'transit/keys/k', {})).status, 200)
    await until(() => /"type":"response".*"path":"transit\/keys\/k"/.test(server.output()), 'the entry')
  } finally {
    await server.stop()
    directory.cleanUp()
  }
})
