// T99 (I28): three real clusters are joined, used and promoted, and take what nobody should send. Every secret that any
// of them was given or gave is looked for in all that they log, record and say of themselves, and in their files.
import { strict as assert } from 'node:assert'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { runClient } from '../../fixtures/cli-run.ts'
import { DR, operationToken, promote } from '../../fixtures/failing-over.ts'
import { activate, addRegion, Cluster, levelled, takeBack } from '../../fixtures/real-cluster.ts'
import { type ApiAnswer, temporaryDirectory } from '../../fixtures/server-process.ts'
import { ToldSecrets } from '../../fixtures/told-secrets.ts'
import { until } from '../../fixtures/until.ts'

const PERFORMANCE = 'sys/replication/performance'
/** Members of requests and answers whose texts are secret, at any depth. */
const SECRET_MEMBERS: ReadonlySet<string> = new Set([
  ...['client_token', 'token', 'root_token', 'dr_operation_token', 'secret_id', 'password', 'kept'],
  ...['otp', 'key', 'keys', 'keys_base64', 'plaintext', 'hmac_key'],
])
/** Begin keys that no client is told of, as those of the certificates: PKCS #8 of P-256 and of Ed25519 (RFC 5958). */
const KEY_BEGINNINGS: readonly string[] = ['308187020100301306072a8648ce3d0201', '302e020100300506032b6570'].flatMap(
  (hex) => {
    const bytes = Buffer.from(hex, 'hex')
    return [hex, bytes.toString('latin1'), bytes.subarray(0, 12).toString('base64')]
  },
)

const temporary = temporaryDirectory()
const authorities = join(temporary.path, 'authorities')
const secrets = new ToldSecrets()
/** By what it is called: all that is to hold no secret. */
const places: Record<string, string> = {}
let clusters: readonly [Cluster, Cluster, Cluster]

/** Appends to a place. */
function tell(place: string, text: string): void {
  places[place] = `${places[place] ?? ''}${text}\n`
}

/** A new secret, long enough to be nothing else by chance. */
function canary(from: string): string {
  const text = `canary${randomBytes(18).toString('hex')}`
  secrets.add(from, text)
  return text
}

/** Adds the texts of secret members. */
function addSecretsOf(from: string, value: unknown, isSecret = false): void {
  if (typeof value === 'string') {
    if (isSecret) addSecret(from, value)
  } else if (value !== null && typeof value === 'object') {
    const members = Object.entries(value)
    const isList = Array.isArray(value)
    for (const [name, one] of members) {
      // A version of a key is a member of `keys`.
      const isPart = isSecret && typeof one === 'string'
      addSecretsOf(isList ? from : `${name} of ${from}`, one, SECRET_MEMBERS.has(name) || isPart)
    }
  }
}

function addSecret(from: string, text: string): void {
  if (text === '') return
  secrets.add(from, text)
  const [, claims] = text.split('.')
  // A token for a secondary holds the token that opens it.
  if (text.startsWith('ey') && claims !== undefined) {
    const { jti } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { readonly jti: string }
    secrets.add(`the inner token of ${from}`, jti)
  }
}

/** From now on its secrets are known, and what its refusals say is kept. */
function watch(cluster: Cluster): void {
  const { call } = cluster
  secrets.add(`the share of ${cluster.name}`, cluster.share)
  secrets.add(`the root token of ${cluster.name}`, cluster.token)
  cluster.call = async (...request): Promise<ApiAnswer> => {
    const [method, path, body] = request
    addSecretsOf(`${method} ${path}`, body)
    const answer = await call.apply(cluster, request)
    addSecretsOf(`${method} ${path}`, answer.body)
    if (answer.status >= 400) tell('errors', JSON.stringify(answer.body))
    return answer
  }
}

/** A request that is to be refused. */
async function refused(cluster: Cluster, path: string, body: object, token?: string): Promise<void> {
  const { status } = await cluster.call('POST', path, body, token)
  assert(status >= 400 && status < 500, `${path}: ${status}`)
}

/** What a cluster says of itself to anybody, and to its operator. */
async function keepStatus(cluster: Cluster): Promise<void> {
  for (const path of ['sys/replication/status', `${DR}/status`, `${PERFORMANCE}/status`, 'sys/leader', 'sys/health']) {
    tell('status', JSON.stringify((await cluster.call('GET', path, undefined, '')).body))
  }
  for (const path of [
    'sys/seal-status',
    'sys/generate-root/attempt',
    `${DR}/secondary/generate-operation-token/attempt`,
  ])
    tell('status', JSON.stringify((await cluster.call('GET', path, undefined, '')).body))
  const metrics = await fetch(`${cluster.address}/v1/sys/metrics?format=prometheus`)
  tell('metrics', await metrics.text())
  const { stdout, stderr } = await runClient(['operator', 'replication', 'status'], {
    env: { VAULT_ADDR: cluster.address, VAULT_TOKEN: cluster.token },
  })
  tell('the picture', stdout + stderr)
  for (const file of ['cmdline', 'environ']) tell(file, readFileSync(`/proc/${cluster.pid}/${file}`, 'latin1'))
}

/** All its files; what was deleted may still be in their free pages. */
function keepFiles(cluster: Cluster): void {
  for (const name of readdirSync(cluster.directory, { recursive: true, withFileTypes: true })) {
    if (name.isFile()) tell('files', readFileSync(join(name.parentPath, name.name), 'latin1'))
  }
}

/** As an operator ends it: what it logged is kept. */
async function ended(cluster: Cluster): Promise<void> {
  await cluster.stop()
  tell('log', cluster.output())
}

/** XOR of what the server gave and the password. */
function decoded({ body: { encoded_token: encoded } }: ApiAnswer, otp: string): string {
  const pad = Buffer.from(otp)
  return Buffer.from(Buffer.from(String(encoded), 'base64').map((byte, at) => byte ^ (pad[at] ?? 0))).toString()
}

/** A token that the answer is wrapped in. */
async function wrapped(cluster: Cluster, body: object): Promise<string> {
  const response = await fetch(`${cluster.address}/v1/sys/wrapping/wrap`, {
    method: 'POST',
    headers: { 'X-Vault-Token': cluster.token, 'X-Vault-Wrap-TTL': '60s' },
    body: JSON.stringify(body),
  })
  const { wrap_info: info } = (await response.json()) as { readonly wrap_info: { readonly token: string } }
  secrets.add('a wrapping token', info.token)
  return info.token
}

/** An operation token, by the share. */
async function tokenOfShares(secondary: Cluster): Promise<string> {
  const path = `${DR}/secondary/generate-operation-token`
  const { otp, nonce } = (await secondary.call('POST', `${path}/attempt`, {}, '')).body as Record<string, string>
  await refused(secondary, `${path}/update`, { nonce, key: randomBytes(33).toString('hex') }, '')
  const again = (await secondary.call('POST', `${path}/attempt`, {}, '')).body as Record<string, string>
  const [password, number] = [again.otp ?? otp ?? '', again.nonce ?? nonce]
  const made = await secondary.call('POST', `${path}/update`, { nonce: number, key: secondary.share }, '')
  const token = decoded(made, password)
  secrets.add('an operation token', token)
  return token
}

before(async () => {
  mkdirSync(authorities)
  const more = `log_level = "trace"\nreplication {\n  allowed_ca_paths = ["${authorities}"]\n}`
  const one = await Cluster.make('one', temporary.path, { more })
  const two = await Cluster.make('two', temporary.path, { more })
  const three = await Cluster.make('three', temporary.path, { more, threads: 2 })
  clusters = [one, two, three]
  for (const cluster of clusters) watch(cluster)
})
after(async () => {
  for (const cluster of clusters) await cluster.end()
  temporary.cleanUp()
})

/** Where a cluster records, also what it does as a secondary. */
const auditOf = (cluster: Cluster): string => join(temporary.path, `${cluster.name}.audit`)

async function record(cluster: Cluster): Promise<void> {
  const options = { file_path: auditOf(cluster) }
  await cluster.must('POST', `sys/audit/${cluster.name}`, { type: 'file', local: true, options })
}

test('what an activation takes and gives, also where it is refused', async () => {
  const [one, two, three] = clusters
  await record(one)
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  for (const line of pem.split('\n').slice(1, -2)) secrets.add('a key in a file of authorities', line)
  const [key, words] = [join(authorities, 'key.pem'), join(authorities, 'words.pem')]
  writeFileSync(key, pem)
  writeFileSync(words, `${canary('a file of authorities')}\n`)
  for (const family of [DR, PERFORMANCE]) {
    const enable = `${family}/secondary/enable`
    await refused(two, enable, { token: canary('a token of nobody') })
    await refused(two, enable, { token: `ey${canary('no token at all')}` })
    const { body } = await one.call('POST', `${family}/primary/secondary-token`, { id: 'early' })
    tell('errors', JSON.stringify(body))
    await one.must('POST', `${family}/primary/enable`, {})
    const made = await one.must('POST', `${family}/primary/secondary-token`, { id: 'late' })
    const { token } = made.body.wrap_info as { readonly token: string }
    for (const file of [key, words]) await refused(two, enable, { token, ca_file: file })
    await refused(two, enable, { token: token.slice(0, -4), primary_api_addr: one.address })
    await one.must('POST', `${family}/primary/revoke-secondary`, { id: 'late' })
    await refused(two, enable, { token })
  }
  await activate(one, two)
  await addRegion(one, three)
  secrets.add('the root token of the region', three.token)
  await record(three)
  await levelled(one, three, 'performance')
  assert.equal((await two.status()).mode, 'secondary')
})

test('what callers of a region give and get', async () => {
  const [one, , three] = clusters
  const must = async (path: string, body: object): Promise<ApiAnswer> => three.must('POST', path, body)
  await must('sys/mounts/transit', { type: 'transit' })
  await must('sys/auth/userpass', { type: 'userpass' })
  await must('auth/userpass/users/kim', { password: canary('a password') })
  const login = await must('auth/userpass/login/kim', { password: '' }).catch((cause: Error) => cause.message)
  assert.match(String(login), /40[03]/)
  const password = canary('a new password')
  await must('auth/userpass/users/kim/password', { password })
  const { body } = await three.call('POST', 'auth/userpass/login/kim', { password }, '')
  const { client_token: kim } = body.auth as { readonly client_token: string }
  await three.must('POST', 'auth/token/create', { policies: ['default'] })
  await must('cubbyhole/mine', { kept: canary('a cubbyhole') })
  await must('transit/keys/k', { exportable: true })
  const plaintext = Buffer.from(canary('a plaintext')).toString('base64')
  const { body: sealed } = await must('transit/encrypt/k', { plaintext })
  await must('transit/decrypt/k', { ciphertext: sealed.data?.ciphertext })
  await must('transit/datakey/plaintext/k', {})
  await three.must('GET', 'transit/export/encryption-key/k')
  const token = await wrapped(three, { kept: canary('a wrapped answer') })
  await must('sys/wrapping/unwrap', { token })
  // A token of one cluster is nothing in the other.
  for (const cluster of [one, three]) await refused(cluster, 'transit/encrypt/k', { plaintext }, canary('a stranger'))
  await refused(one, 'transit/encrypt/k', { plaintext }, kim)
  await refused(three, 'transit/encrypt/k', { plaintext }, one.token)
  await levelled(one, three, 'performance')
  for (const cluster of clusters) await keepStatus(cluster)
})

test('what a failover takes and gives, and a rekey behind it', async () => {
  const [one, two, three] = clusters
  for (const path of ['secondary/promote', 'secondary/update-primary', 'secondary/disable'])
    await refused(two, `${DR}/${path}`, { dr_operation_token: canary('an operation token of nobody') }, '')
  const tokenOfSet = await operationToken(one)
  const token = await tokenOfShares(two)
  await refused(two, `${DR}/secondary/update-primary`, { dr_operation_token: token, token: canary('a bad token') }, '')
  await levelled(one, two)
  await one.must('POST', `${DR}/primary/demote`)
  assert.equal((await promote(two, token)).status, 200)
  two.token = one.token
  await until(async () => (await two.status()).mode === 'primary', 'it is the primary')
  await takeBack(two, one, tokenOfSet)
  await levelled(two, one)
  const key = await two.must('POST', `${PERFORMANCE}/primary/secondary-token`, { id: three.name })
  const { token: given } = key.body.wrap_info as { readonly token: string }
  await refused(three, `${PERFORMANCE}/secondary/update-primary`, { token: canary('a bad one') })
  await three.must('POST', `${PERFORMANCE}/secondary/update-primary`, { token: given })
  await levelled(two, three, 'performance')
  const begun = await two.must('POST', 'sys/rekey/init', { secret_shares: 1, secret_threshold: 1 })
  const { nonce } = begun.body as unknown as { readonly nonce: string }
  const rekeyed = await two.must('POST', 'sys/rekey/update', { nonce, key: two.share })
  const [share] = rekeyed.body.keys as string[]
  await two.must('POST', 'sys/rotate')
  await levelled(two, one)
  await levelled(two, three, 'performance')
  for (const cluster of clusters) {
    cluster.share = share ?? assert.fail('there is a share')
    await ended(cluster)
    await cluster.restart()
  }
  await levelled(two, three, 'performance')
  for (const cluster of clusters) await keepStatus(cluster)
})

test('T99: no secret of it is in a log, an error, a status, or in a file', async () => {
  const [one, , three] = clusters
  for (const cluster of clusters) await ended(cluster)
  for (const cluster of clusters) keepFiles(cluster)
  for (const cluster of [one, three]) tell('audit', readFileSync(auditOf(cluster), 'latin1'))
  assert(secrets.count > 50, `${secrets.count}`)
  // Each place would hold one, if any did.
  for (const path of [`${DR}/secondary/promote`, `${PERFORMANCE}/secondary/update-primary`, 'sys/rekey/update'])
    assert(places.audit?.includes(`"path":"${path}"`), path)
  for (const words of ['A secondary follows', 'A request was answered', 'A secondary was not let in'])
    assert(places.log?.includes(words), words)
  const found = secrets.foundIn(places)
  for (const [place, content] of Object.entries(places)) {
    if (KEY_BEGINNINGS.some((each) => content.includes(each))) found.push(`a private key is in ${place}`)
  }
  assert.deepEqual(found, [])
})
