// Clients of others, unmodified, whose cluster fails over to its secondary for disaster recovery: all that they change
// is the address.
import { strict as assert } from 'node:assert'
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import nodeVault from 'node-vault'
import { ERRORS } from '../../../src/api/errors.ts'
import { activate, Cluster, levelled } from '../../fixtures/real-cluster.ts'
import { api, PROJECT, temporaryDirectory } from '../../fixtures/server-process.ts'
import { until } from '../../fixtures/until.ts'
import { PAGE } from './clients-page.ts'
import { PYTHON, withoutHvac } from './debian-hvac.ts'
import { isRefusal } from './node-vault-refusal.ts'
import { steppedProcess } from './stepped-process.ts'

const HVAC_STEPS = join(import.meta.dirname, 'hvac_failover.py')
const DR = 'sys/replication/dr'
const DISABLED = 'path disabled in replication DR secondary mode'
const WORK = `
path "transit/*" { capabilities = ["create", "read", "update", "delete", "list"] }
path "auth/token/*" { capabilities = ["create", "read", "update", "sudo"] }
path "sys/leases/*" { capabilities = ["create", "read", "update", "list", "sudo"] }
`
const WORKER = { name: 'worker', password: 'a-password-of-a-worker' }
/** Where the leases of its logins are. */
const LOGINS = `auth/userpass/login/${WORKER.name}`
const LOGIN = { username: WORKER.name, password: WORKER.password }
const PLAINTEXT = Buffer.from('what nobody else may read').toString('base64')

const page = readFileSync(PAGE, 'utf8')

/** What a client does in a failover. Each step speaks to the address that it is given, with what the client had. */
type Session = {
  /** Logs in, and leaves what a client has. */
  begin(address: string): Promise<void>
  /** At a cluster that follows another one: it serves no client. */
  refused(address: string): Promise<void>
  /** At the former primary, which stores nothing any more and says who does. */
  fenced(address: string, successor: string): Promise<void>
  /** At the cluster that took over: goes on. */
  goOn(address: string): Promise<void>
}

/** A primary that a worker may log in to, a secondary that has all of it, and a token that promotes it. */
async function pair(context: TestContext) {
  const temporary = temporaryDirectory()
  const clusters: Cluster[] = []
  context.after(async () => {
    for (const cluster of clusters) await cluster.end()
    temporary.cleanUp()
  })
  for (const name of ['one', 'two']) clusters.push(await Cluster.make(name, temporary.path))
  const [primary, secondary] = clusters as [Cluster, Cluster]
  await primary.must('POST', 'sys/mounts/transit', { type: 'transit' })
  await primary.must('PUT', 'sys/policies/acl/work', { policy: WORK })
  await primary.must('POST', 'sys/auth/userpass', { type: 'userpass' })
  const { password } = WORKER
  await primary.must('POST', `auth/userpass/users/${WORKER.name}`, { password, token_policies: ['work'] })
  const sops = readFileSync(join(PROJECT, 'test/fixtures/policies/sops.hcl'), 'utf8')
  await primary.must('PUT', 'sys/policies/acl/sops', { policy: sops })
  const policy = `path "${DR}/secondary/*" { capabilities = ["update"] }`
  await primary.must('PUT', 'sys/policies/acl/failover', { policy })
  const token = await batchToken(primary, 'failover')
  await activate(primary, secondary)
  await levelled(primary, secondary)
  return { primary, secondary, token }
}

async function batchToken(cluster: Cluster, policy: string): Promise<string> {
  const wanted = { policies: [policy], type: 'batch', ttl: '1h' }
  const { body } = await cluster.must('POST', 'auth/token/create-orphan', wanted)
  return (body.auth as { readonly client_token: string }).client_token
}

/** Takes sessions from the primary to the secondary; at each step the page says what the clusters answer. */
async function failOver({ primary, secondary, token }: Awaited<ReturnType<typeof pair>>, sessions: readonly Session[]) {
  for (const session of sessions) await session.begin(primary.address)
  await saidOnPage('the secondary, before', secondary)
  for (const session of sessions) await session.refused(secondary.address)
  // Nothing waits for the secondary here: what the primary acknowledged is handed over.
  const promoted = await secondary.call('POST', `${DR}/secondary/promote`, { dr_operation_token: token }, '')
  assert.equal(promoted.status, 200, JSON.stringify(promoted.body))
  await until(async () => (await primary.status()).fenced === true, 'the former primary knows')
  await saidOnPage('the former primary', primary)
  for (const session of sessions) await session.fenced(primary.address, secondary.address)
  for (const session of sessions) await session.goOn(secondary.address)
  await saidOnPage('the secondary, promoted', secondary)
  await primary.must('POST', `${DR}/primary/demote`)
  await saidOnPage('the former primary, demoted', primary)
  for (const session of sessions) await session.refused(primary.address)
}

/** A row of the page says what a cluster answers to a question for health, and to a login, which stores a lease. */
async function saidOnPage(who: string, { address }: Cluster): Promise<void> {
  const health = await fetch(`${address}/v1/sys/health`)
  const body = JSON.stringify({ password: WORKER.password })
  const login = await fetch(`${address}/v1/${LOGINS}`, { method: 'POST', body })
  const { errors } = (await login.json()) as { readonly errors?: readonly string[] }
  const wait = login.headers.get('retry-after')
  const texts = (errors ?? []).map((text) => `, \`${text}\``).join('')
  const more = wait === null ? texts : ` with \`Retry-After: ${wait}\``
  const row = `| ${who} | ${health.status} | ${login.status}${more} |`
  assert.ok(page.split('\n').includes(row), `docs/clients.md does not say: ${row}`)
}

/** The session of hvac: one process, that does a step when it is told to. */
async function hvacSession(child: ChildProcess): Promise<Session & { readonly version: string }> {
  const { greeting, step } = await steppedProcess(child)
  return {
    version: greeting,
    begin: (address) => step('begin', address),
    refused: (address) => step('refused', address),
    goOn: (address) => step('go_on', address),
    fenced: (address, successor) => step('fenced', address, successor),
  }
}

test('hvac: a session goes through a failover with no change but the address', {
  skip: withoutHvac(),
}, async (context) => {
  const child = spawn(PYTHON, ['-B', HVAC_STEPS, WORKER.name, WORKER.password, LOGINS], {
    env: { PATH: process.env.PATH, NO_PROXY: '*' },
  })
  context.after(() => child.kill())
  const session = await hvacSession(child)
  context.diagnostic(`hvac ${session.version}`)
  await failOver(await pair(context), [session])
})

// biome-ignore lint/suspicious/noExplicitAny: the client's own types leave out most of its calls, and all its answers
type NodeVault = any

/** The session of node-vault: one client, of which nothing but the address changes. */
class NodeVaultSession implements Session {
  readonly #vault: NodeVault = nodeVault({ token: '' })
  /** With the names of their keys. */
  readonly #ciphertexts: [string, string][] = []
  #had = { token: '', signature: '', wrapping: '', batch: '', leases: [] as string[] }

  async begin(address: string): Promise<void> {
    const vault = this.#at(address)
    await vault.userpassLogin(LOGIN)
    await vault.transitCreateKey({ name: 'old' })
    await vault.transitCreateKey({ name: 'signs', type: 'ed25519' })
    await this.#encrypt('old')
    const { signature } = (await vault.write('transit/sign/signs', { input: PLAINTEXT })).data
    const { keys: leases } = (await vault.list(`sys/leases/lookup/${LOGINS}`)).data
    const wrapped = await vault.read('transit/keys/old', { headers: { 'X-Vault-Wrap-TTL': '1h' } })
    const batch = (await vault.write('auth/token/create', { type: 'batch' })).auth.client_token
    this.#had = { token: vault.token, signature, wrapping: wrapped.wrap_info.token, batch, leases }
    // The last of all: the cluster that takes over has this too.
    await vault.write('cubbyhole/mine', { colour: 'green' })
  }

  async refused(address: string): Promise<void> {
    const vault = this.#at(address)
    const isDisabled = isRefusal(400, DISABLED)
    await assert.rejects(vault.tokenLookupSelf(), isDisabled)
    await assert.rejects(vault.userpassLogin(LOGIN), isDisabled)
    await assert.rejects(this.#open(vault), isDisabled)
    await assert.rejects(vault.transitCreateKey({ name: 'new' }), isDisabled)
  }

  async fenced(address: string, successor: string): Promise<void> {
    const vault = this.#at(address)
    const isNotPrimary = isRefusal(503, `its primary does, at ${successor}`)
    await this.#isSame(vault)
    await assert.rejects(vault.tokenRenewSelf(), isNotPrimary)
    await assert.rejects(vault.userpassLogin(LOGIN), isNotPrimary)
    await assert.rejects(vault.unwrap({ token: this.#had.wrapping }), isNotPrimary)
    await assert.rejects(vault.write('cubbyhole/mine', { colour: 'red' }), isNotPrimary)
    await assert.rejects(vault.transitCreateKey({ name: 'late' }), isNotPrimary)
    // Nothing is stored for a message: what it makes with the keys that there are opens at its successor too.
    await this.#encrypt('old')
  }

  async goOn(address: string): Promise<void> {
    const vault = this.#at(address)
    const { token, wrapping, batch, leases } = this.#had
    await this.#isSame(vault)
    assert.equal((await vault.tokenRenewSelf()).auth.client_token, token)
    assert.deepEqual((await vault.list(`sys/leases/lookup/${LOGINS}`)).data.keys, leases)
    const lease = `${LOGINS}/${leases[0]}`
    assert.equal((await vault.renew({ lease_id: lease })).lease_id, lease)
    assert.equal((await vault.unwrap({ token: wrapping })).data.name, 'old')
    await assert.rejects(vault.unwrap({ token: wrapping }), isRefusal(400, 'wrapping token'))
    await this.#open(nodeVault({ endpoint: address, token: batch }))
    await this.#encrypt('old')
    await this.#open(vault)
    await vault.transitCreateKey({ name: 'new' })
    await this.#encrypt('new')
    await this.#open(vault, 'new')
  }

  /** With the token and all else that it had. */
  async #isSame(vault: NodeVault): Promise<void> {
    const { token, signature } = this.#had
    assert.equal(vault.token, token)
    assert.equal((await vault.tokenLookupSelf()).data.display_name, `userpass-${WORKER.name}`)
    assert.deepEqual((await vault.read('cubbyhole/mine')).data, { colour: 'green' })
    assert.equal((await vault.write('transit/verify/signs', { input: PLAINTEXT, signature })).data.valid, true)
    await this.#open(vault)
  }

  async #encrypt(name: string): Promise<void> {
    const { ciphertext } = (await this.#vault.encryptData({ name, plaintext: PLAINTEXT })).data
    this.#ciphertexts.push([name, ciphertext])
  }

  /** Every ciphertext that the session made with a key. */
  async #open(vault: NodeVault, wanted = 'old'): Promise<void> {
    for (const [name, ciphertext] of this.#ciphertexts)
      if (name === wanted) assert.equal((await vault.decryptData({ name, ciphertext })).data.plaintext, PLAINTEXT)
  }

  #at(address: string): NodeVault {
    this.#vault.endpoint = address
    return this.#vault
  }
}

/** What sops sends for a file: with the method PUT, and a token that may do nothing else. */
class SopsRequests implements Session {
  readonly #token: string
  #ciphertext = ''

  constructor(token: string) {
    this.#token = token
  }

  async begin(address: string): Promise<void> {
    this.#ciphertext = await this.#encrypt(address)
  }

  async refused(address: string): Promise<void> {
    const { status, body } = await this.#put(address, 'decrypt', { ciphertext: this.#ciphertext })
    assert.deepEqual([status, body.errors], [400, [DISABLED]])
  }

  async fenced(address: string): Promise<void> {
    await this.#decrypt(address)
  }

  async goOn(address: string): Promise<void> {
    await this.#decrypt(address)
    this.#ciphertext = await this.#encrypt(address)
    await this.#decrypt(address)
  }

  async #encrypt(address: string): Promise<string> {
    const { status, body } = await this.#put(address, 'encrypt', { plaintext: PLAINTEXT })
    assert.equal(status, 200, JSON.stringify(body))
    return String(body.data?.ciphertext)
  }

  async #decrypt(address: string): Promise<void> {
    const { status, body } = await this.#put(address, 'decrypt', { ciphertext: this.#ciphertext })
    assert.deepEqual([status, body.data], [200, { plaintext: PLAINTEXT }])
  }

  #put(address: string, operation: string, body: object) {
    return api({ address }, 'PUT', `transit/${operation}/sops`, body, this.#token)
  }
}

test('node-vault: a session goes through a failover with no change but the address', async (context) => {
  const clusters = await pair(context)
  await clusters.primary.must('POST', 'transit/keys/sops', {})
  const ofFile = new SopsRequests(await batchToken(clusters.primary, 'sops'))
  await failOver(clusters, [new NodeVaultSession(), ofFile])
})

test('docs/clients.md: no answer is 412 but those to X-Vault-Index', () => {
  assert.ok(page.includes('No answer is 412, except to a client that asks for the state'))
  const late = Object.entries(ERRORS).filter(([, { status }]) => Number(status) === 412)
  assert.deepEqual(
    late.map(([code]) => code),
    ['state_missing', 'write_lost'],
  )
})
