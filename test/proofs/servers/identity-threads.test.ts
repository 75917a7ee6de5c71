// Identities on all threads of a real server: what was answered on one connection holds for the next request on any.
import { strict as assert } from 'node:assert'
import { after, before, test } from 'node:test'
import { realWorld } from '../../../src/lib/world.ts'
import { type RunningServer, startServer } from '../../../src/process/server.ts'
import { type RawAnswer, RawConnection, rawRequest } from '../../fixtures/raw-http.ts'
import { temporaryDirectory } from '../../fixtures/server-process.ts'
import { type StoredLogin, storeLogins } from '../../fixtures/stored-login.ts'
import { ANY_PORT } from '../../fixtures/threaded-server.ts'

const ROUNDS = Number(process.env.ROUNDS ?? 30)
/** The kernel spreads them over the threads: that all of twelve go to one of two happens once in 2,048 runs. */
const CONNECTIONS = 12

const directory = temporaryDirectory()
const data = `${directory.path}/data`
let server: RunningServer
let connections: readonly RawConnection[]
let ann: StoredLogin
let group: string

const start = (): Promise<RunningServer> =>
  startServer({
    config: { ...ANY_PORT, threads: 2, storage: { type: 'sqlite', directory: data } },
    world: realWorld(),
    log: () => {},
    development: { rootToken: 'root' },
    onFatal: (reason) => assert.fail(reason),
  })

before(async () => {
  await (await start()).stop()
  const [login] = await storeLogins(data, ['ann'])
  assert(login !== undefined)
  ann = login
  server = await start()
  connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => RawConnection.open(server.address)))
  await write(0, 'sys/policies/acl/mounts', { policy: 'path "sys/mounts" { capabilities = ["read"] }' })
  const made = await write(0, 'identity/group', { name: 'staff', policies: ['mounts'] })
  group = JSON.parse(made.body).data.id
})
after(async () => {
  for (const connection of connections) connection.close()
  await server.stop()
  directory.cleanUp()
})

async function call(at: number, method: string, path: string, token: string, body?: unknown): Promise<RawAnswer> {
  const sent = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
  const connection = connections[at % CONNECTIONS] as RawConnection
  const answer = await connection.exchange(rawRequest(method, `/v1/${path}`, [['X-Vault-Token', token]], sent))
  assert(answer !== undefined)
  return answer
}

async function write(at: number, path: string, body: unknown): Promise<RawAnswer> {
  const answer = await call(at, 'POST', path, 'root', body)
  assert(answer.status < 300, answer.body)
  return answer
}

/** What each connection says to a request of Ann, in one word where all say the same. */
async function everywhere(path: string): Promise<string> {
  const answers = await Promise.all(connections.map((_, at) => call(at, 'GET', path, ann.token)))
  return [...new Set(answers.map(({ status }) => status))].join()
}

test('a disabled entity is refused at the next request on any connection, an enabled one is let in', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    assert.equal(await everywhere('auth/token/lookup-self'), '200', `round ${round}`)
    await write(round, `identity/entity/id/${ann.entityId}`, { disabled: true })
    assert.equal(await everywhere('auth/token/lookup-self'), '403', `round ${round}`)
    await write(round, `identity/entity/id/${ann.entityId}`, { disabled: false })
  }
})

test('policies of a group count, and count no more, at the next request on any connection', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    assert.equal(await everywhere('sys/mounts'), '403', `round ${round}`)
    await write(round, `identity/group/id/${group}`, { member_entity_ids: [ann.entityId] })
    assert.equal(await everywhere('sys/mounts'), '200', `round ${round}`)
    await write(round, `identity/group/id/${group}`, round % 2 === 0 ? { member_entity_ids: [] } : { policies: [] })
    assert.equal(await everywhere('sys/mounts'), '403', `round ${round}`)
    await write(round, `identity/group/id/${group}`, { member_entity_ids: [], policies: ['mounts'] })
  }
})

test('a removed entity has no access on any connection', async () => {
  assert.equal(await everywhere('auth/token/lookup-self'), '200')
  assert.equal((await call(3, 'DELETE', `identity/entity/id/${ann.entityId}`, 'root')).status, 204)
  assert.equal(await everywhere('auth/token/lookup-self'), '403')
  assert.equal((await call(5, 'GET', `identity/entity/id/${ann.entityId}`, 'root')).status, 404)
})
