// Clients of others, unmodified, with a performance secondary whose primary fails over to its DR secondary: they change
// nothing, not even the address.
import { strict as assert } from 'node:assert'
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import nodeVault from 'node-vault'
import { activate, addRegion, Cluster, levelled } from '../../fixtures/real-cluster.ts'
import { temporaryDirectory } from '../../fixtures/server-process.ts'
import { PYTHON, withoutHvac } from './debian-hvac.ts'
import { steppedProcess } from './stepped-process.ts'

const HVAC_STEPS = join(import.meta.dirname, 'hvac_region.py')
const WORK = 'path "transit/*" { capabilities = ["create", "read", "update", "delete", "list"] }'
const WORKER = { name: 'worker', password: 'a-password-of-a-worker' }
const PLAINTEXT = Buffer.from('what nobody else may read').toString('base64')

/** What a client does at the secondary, before its primary is gone, without one, and with the next one. */
type Session = {
  begin(): Promise<void>
  withoutPrimary(): Promise<void>
  goOn(): Promise<void>
}

/** A primary with a secondary of each family. */
async function clusters(context: TestContext) {
  const temporary = temporaryDirectory()
  const all: Cluster[] = []
  context.after(async () => {
    for (const cluster of all) await cluster.end()
    temporary.cleanUp()
  })
  for (const name of ['home', 'standby', 'region']) all.push(await Cluster.make(name, temporary.path))
  const [home, standby, region] = all as [Cluster, Cluster, Cluster]
  await home.must('POST', 'sys/mounts/transit', { type: 'transit' })
  await home.must('PUT', 'sys/policies/acl/work', { policy: WORK })
  await home.must('POST', 'sys/auth/userpass', { type: 'userpass' })
  const { name, password } = WORKER
  await home.must('POST', `auth/userpass/users/${name}`, { password, token_policies: ['work'] })
  const failover = 'path "sys/replication/dr/secondary/promote" { capabilities = ["update"] }'
  await home.must('PUT', 'sys/policies/acl/failover', { policy: failover })
  const wanted = { policies: ['failover'], type: 'batch', ttl: '1h' }
  const { body } = await home.must('POST', 'auth/token/create-orphan', wanted)
  const token = (body.auth as { readonly client_token: string }).client_token
  await addRegion(home, region)
  await activate(home, standby)
  return { home, standby, region, token }
}

async function failOver(
  { home, standby, region, token }: Awaited<ReturnType<typeof clusters>>,
  sessions: readonly Session[],
) {
  for (const session of sessions) await session.begin()
  await levelled(home, standby)
  await levelled(home, region, 'performance')
  await home.kill()
  for (const session of sessions) await session.withoutPrimary()
  const promotion = { dr_operation_token: token, force: true }
  const promoted = await standby.call('POST', 'sys/replication/dr/secondary/promote', promotion, '')
  assert.equal(promoted.status, 200, JSON.stringify(promoted.body))
  const addresses = [`https://127.0.0.1:${home.proxy.port}`, `https://127.0.0.1:${standby.proxy.port}`]
  await region.must('POST', 'sys/replication/performance/secondary/update-primary', { update_primary_addrs: addresses })
  // Until it follows, what the new primary does for it is answered with a warning.
  await levelled(standby, region, 'performance')
  for (const session of sessions) await session.goOn()
}

// biome-ignore lint/suspicious/noExplicitAny: the client's own types leave out most of its calls, and all its answers
type NodeVault = any

class NodeVaultSession implements Session {
  readonly #vault: NodeVault
  #token = ''
  #ciphertext = ''

  constructor({ address }: Cluster) {
    this.#vault = nodeVault({ endpoint: address, token: '' })
  }

  async begin(): Promise<void> {
    await this.#vault.userpassLogin({ username: WORKER.name, password: WORKER.password })
    this.#token = this.#vault.token
    await this.#vault.transitCreateKey({ name: 'of-node' })
    this.#ciphertext = await this.#encrypt()
    await this.#hasAll()
  }

  async withoutPrimary(): Promise<void> {
    await this.#hasAll()
    await assert.rejects(this.#vault.transitCreateKey({ name: 'late' }), /cannot be reached|no answer in time/)
  }

  async goOn(): Promise<void> {
    await this.#hasAll()
    await this.#vault.write('transit/keys/of-node/rotate', {})
    assert.equal((await this.#vault.read('transit/keys/of-node')).data.latest_version, 2)
    await this.#hasAll()
  }

  async #hasAll(): Promise<void> {
    assert.equal(this.#vault.token, this.#token)
    assert.equal((await this.#vault.tokenLookupSelf()).data.display_name, `userpass-${WORKER.name}`)
    for (const ciphertext of [this.#ciphertext, await this.#encrypt()]) {
      const { data } = await this.#vault.decryptData({ name: 'of-node', ciphertext })
      assert.equal(data.plaintext, PLAINTEXT)
    }
  }

  async #encrypt(): Promise<string> {
    return (await this.#vault.encryptData({ name: 'of-node', plaintext: PLAINTEXT })).data.ciphertext
  }
}

/** The session of hvac: one process, that does a step when it is told to. */
async function hvacSession(child: ChildProcess): Promise<Session> {
  const { step } = await steppedProcess(child)
  return {
    begin: () => step('begin'),
    withoutPrimary: () => step('without_primary'),
    goOn: () => step('go_on'),
  }
}

test('hvac and node-vault: sessions with a secondary go on while its primary fails over', {
  skip: withoutHvac(),
}, async (context) => {
  const set = await clusters(context)
  const child = spawn(PYTHON, ['-B', HVAC_STEPS, set.region.address, WORKER.name, WORKER.password], {
    env: { PATH: process.env.PATH, NO_PROXY: '*' },
  })
  context.after(() => child.kill())
  await failOver(set, [new NodeVaultSession(set.region), await hvacSession(child)])
})
