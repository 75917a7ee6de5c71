// every request has one entry before and one after, whichever thread serves it, however it ends (P-36, U-10).
//   REQUESTS=100000 is the long form; SEED=… repeats a run.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { byRequest, entryTail, readEntries, requirePairs, verifyLog } from '../../fixtures/audit-log.ts'
import { missingName, mountEngines, PLACED_ENDPOINTS, pathsOf, WIRE_METHODS } from '../../fixtures/endpoint-table.ts'
import { pseudoRandom } from '../../fixtures/pseudo-random.ts'
import { testSeed } from '../../fixtures/seed.ts'
import { api, type ServerProcess, startServerProcess, temporaryDirectory } from '../../fixtures/server-process.ts'
import { until } from '../../fixtures/until.ts'

const REQUESTS = Number(process.env.REQUESTS ?? 2_000)

/** They tell the state of the server, and answer while nothing can be recorded. Whoever adds one says so here. */
const NOT_RECORDED = ['health', 'init', 'init-read', 'leader', 'seal-status', 'unseal']

const directory = temporaryDirectory()
const file = join(directory.path, 'audit.log')
let server: ServerProcess
let newEntries: ReturnType<typeof entryTail>
before(async () => {
  server = await startServerProcess({ directory: join(directory.path, 'data'), args: ['-threads=2'] })
  await mountEngines(server)
  const made = await api(server, 'POST', 'sys/audit/file', { type: 'file', options: { file_path: file } })
  assert.equal(made.status, 204)
  newEntries = entryTail(file)
})
after(async () => {
  await server.stop()
  directory.cleanUp()
})

test('exactly the listed endpoints are not recorded', () => {
  const found = PLACED_ENDPOINTS.filter(({ endpoint }) => endpoint.whileSealed === true)
  assert.deepEqual(found.map(({ endpoint }) => endpoint.id).sort(), NOT_RECORDED)
})

/** What changes the server as a whole, or the log itself, is tried on its own. */
const isCalm = (id: string): boolean => !['seal', 'snapshot-restore', 'token-revoke-self', 'audit-disable'].includes(id)

for (const placed of PLACED_ENDPOINTS.filter(({ endpoint }) => isCalm(endpoint.id))) {
  const { id, operation, whileSealed = false } = placed.endpoint
  test(`U-10, P-36: ${id} is ${whileSealed ? 'not ' : ''}recorded, once before and once after`, async () => {
    for (const path of pathsOf(placed, missingName(placed))) {
      for (const token of [server.token, 'no-such-token', undefined]) {
        newEntries()
        const address = server.address
        const { body } = await api({ address }, WIRE_METHODS[operation], path, undefined, token)
        const entries = newEntries()
        const types = entries.map(({ type }) => type)
        assert.deepEqual(types, whileSealed ? [] : ['request', 'response'], `${path} with ${token}`)
        if (whileSealed) continue
        requirePairs(entries)
        if (typeof body.request_id === 'string') assert.equal(entries[0]?.request.id, body.request_id)
        if (Array.isArray(body.errors)) assert.notEqual(entries[1]?.error, undefined)
      }
    }
  })
}

type Call = readonly [method: string, path: string, sent?: object | undefined, token?: string]

/** One that is served where it arrives, one that travels at once, one that travels late, and refusals. */
function someCall(random: ReturnType<typeof pseudoRandom>, at: number): Call {
  return random.pick([
    ['POST', 'transit/encrypt/steady', { plaintext: 'c29tZQ==' }],
    ['POST', `transit/encrypt/made-${at}`, { plaintext: 'c29tZQ==' }],
    ['POST', `transit/encrypt/raced-${at >> 4}`, { plaintext: 'c29tZQ==' }],
    ['POST', `transit/keys/key-${at}`, {}],
    ['GET', 'transit/keys/steady'],
    ['GET', `transit/keys/missing-${at}`],
    ['LIST', 'transit/keys'],
    ['POST', 'transit/decrypt/steady', { ciphertext: 'vault:v1:AAAA' }],
    ['GET', 'transit/keys/steady', undefined, 'no-such-token'],
    ['GET', `nowhere/${at}`],
    ['POST', 'auth/token/create', { ttl: '1m' }],
    ['GET', 'sys/health'],
  ] as const)
}

test('Q-20: under load on two threads nothing is missing, nothing is too much', async (context) => {
  const random = pseudoRandom(testSeed(context))
  await api(server, 'POST', 'transit/keys/steady', {})
  const before = byRequest(readEntries(file)).size
  let next = 0
  let recorded = 0
  const ids = new Set<string>()
  const work = async (): Promise<void> => {
    for (let at = next++; at < REQUESTS; at = next++) {
      const [method, path, sent, token = server.token] = someCall(random, at)
      if (path !== 'sys/health') recorded++
      const { body, status } = await api(server, method, path, sent, token)
      assert(status < 500, `${method} ${path}: ${status}`)
      if (typeof body.request_id === 'string') ids.add(body.request_id)
    }
  }
  await Promise.all(Array.from({ length: 16 }, work))
  const entries = readEntries(file)
  const pairs = requirePairs(entries)
  assert.equal(pairs.size - before, recorded)
  for (const id of ids) assert(pairs.has(id), id)
})

test('Q-20: who hangs up before the answer is recorded as well', async () => {
  const before = byRequest(readEntries(file)).size
  const { hostname, port } = new URL(server.address)
  const body = '{"plaintext":"c29tZQ=="}'
  const hangUp = (at: number): Promise<void> =>
    new Promise((resolve) => {
      const socket = connect(Number(port), hostname, () => {
        const head = `POST /v1/transit/encrypt/gone-${at} HTTP/1.1\r\nHost: x\r\nX-Vault-Token: ${server.token}\r\n`
        socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`, () => socket.resetAndDestroy())
      })
      socket.on('error', () => {})
      socket.on('close', () => resolve())
    })
  await Promise.all(Array.from({ length: 100 }, (_, at) => hangUp(at)))
  // What arrived is carried out; what did not is not recorded.
  // Nothing of it is under way when all is paired, and nothing more has come for a while.
  let [quiet, last] = [0, -1]
  await until(() => {
    const entries = readEntries(file)
    const isPaired = byRequest(entries).size * 2 === entries.length
    quiet = isPaired && entries.length === last ? quiet + 1 : 0
    last = entries.length
    return quiet >= 30
  }, 'all is recorded')
  const made = (await api(server, 'LIST', 'transit/keys')).body.data?.keys as string[]
  const recorded = new Set([...byRequest(readEntries(file)).values()].map(([entry]) => entry?.request.path))
  for (const name of made.filter((one) => one.startsWith('gone-')))
    assert(recorded.has(`transit/encrypt/${name}`), name)
  // A server that stood still may come to some of them only now.
  let entries = readEntries(file)
  await until(() => {
    entries = readEntries(file)
    return byRequest(entries).size * 2 === entries.length
  }, 'all is recorded')
  assert(byRequest(entries).size >= before)
  requirePairs(entries)
})

test('P-38: the log of all that holds, and its chains end with the server', async () => {
  const { body } = await api(server, 'GET', 'sys/audit-streams')
  const publicKey = String(body.data?.public_key)
  await api(server, 'POST', 'sys/seal')
  await server.stop()
  requirePairs(readEntries(file))
  const { faults, notes, chains } = verifyLog(file, { publicKey })
  assert.deepEqual([faults, notes], [[], []])
  // The trial, and one for each thread.
  assert.deepEqual(chains.map(({ thread, state }) => `${thread} ${state}`).sort(), [
    'serving complete',
    'serving complete',
    'writing complete',
    'writing complete',
  ])
})
