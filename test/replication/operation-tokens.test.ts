// Operation tokens of a secondary for disaster recovery: whole servers, over the simulated network, in virtual time.
// The ids are those of README.md here.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decrypt, generateKey, readMessage } from 'openpgp'
import { bodyText } from '../../src/core/exchange.ts'
import { dropOperationTokens } from '../../src/replication/set/operation-tokens.ts'
import { SETS_FOLDER } from '../../src/replication/set/records.ts'
import { systemScope } from '../../src/storage/contract.ts'
import { entriesIn } from '../fixtures/audit-log.ts'
import { type Called, wireRequest } from '../fixtures/memory-server.ts'
import type { ReplicatedServer, StartOptions } from '../fixtures/replicated-server.ts'
import { ReplicatedServers } from '../fixtures/replicated-servers.ts'

const DR = 'sys/replication/dr/secondary'
const ATTEMPT = `${DR}/generate-operation-token/attempt`
const UPDATE = `${DR}/generate-operation-token/update`
const DELETE = `${DR}/operation-token/delete`
const PUBLIC_KEY = `${DR}/generate-public-key`

/** The status without an attempt, with all ten members that clients read. */
const IDLE = {
  nonce: '',
  started: false,
  progress: 0,
  required: 3,
  complete: false,
  encoded_token: '',
  encoded_root_token: '',
  pgp_fingerprint: '',
  otp: '',
  otp_length: 28,
}

const FIVE: StartOptions = { shares: 5, threshold: 3 }

/** A primary with these shares, and a secondary that follows it. */
async function followed(seed: number, options: StartOptions = FIVE, ofSecondary: StartOptions = {}) {
  const servers = new ReplicatedServers(seed)
  const primary = await servers.start('one', undefined, options)
  const secondary = await servers.start('two', undefined, ofSecondary)
  await servers.activate(primary, secondary)
  await servers.level(primary, secondary)
  await servers.time.pass(1_000)
  await servers.level(primary, secondary)
  return { servers, primary, secondary, shares: primary.server.shares }
}

/** What the caller without a token gets. */
const open = (cluster: ReplicatedServer, method: string, path: string, body?: object): Promise<Called> =>
  cluster.call(method, path, body, '')
const errorsOf = ({ body }: Called): string => ((body.errors as string[] | undefined) ?? []).join(' ')
const hex = (share: Buffer | undefined): string => share?.toString('hex') ?? assert.fail('there is such a share')

/** A call from an address, without a token. */
async function from(cluster: ReplicatedServer, address: string, path: string, body: object) {
  const { core } = cluster.server.node
  const request = { ...wireRequest('POST', path, body, ''), remoteAddress: address }
  const response = await core.handle(request)
  return { status: response.status, headers: response.headers, body: JSON.parse(bodyText(response)) }
}

/** The algorithm of clients: base64 without padding, XOR with the password. */
function decoded(encoded: unknown, otp: string): string {
  assert.doesNotMatch(String(encoded), /=/)
  const bytes = Buffer.from(String(encoded), 'base64')
  assert.equal(bytes.length, otp.length)
  return Buffer.from(bytes.map((byte, at) => byte ^ otp.charCodeAt(at))).toString('latin1')
}

/** An operation token, made with as many of the shares as are needed. */
async function tokenOf(secondary: ReplicatedServer, shares: readonly Buffer[]): Promise<string> {
  const { nonce, otp, required } = (await open(secondary, 'POST', ATTEMPT, {})).body
  let last: Called['body'] = {}
  for (const share of shares.slice(0, Number(required)))
    last = (await open(secondary, 'POST', UPDATE, { key: hex(share), nonce })).body
  assert.equal(last.complete, true, JSON.stringify(last))
  return decoded(last.encoded_token, String(otp))
}

/** The status of a call that an operation token opens, and that changes nothing but a key that nobody has used. */
async function accepted(secondary: ReplicatedServer, dr_operation_token: string): Promise<number> {
  return (await open(secondary, 'POST', PUBLIC_KEY, { dr_operation_token })).status
}

for (const [shareCount, threshold] of [
  [1, 1],
  [5, 2],
  [5, 3],
] as const) {
  for (const own of ['', 'p'.repeat(28)]) {
    const whose = own === '' ? 'a password that is told once' : 'an own password'
    test(`T88: ${threshold} of ${shareCount} shares of the primary make a token, with ${whose}`, async () => {
      const { secondary, shares } = await followed(88, { shares: shareCount, threshold })
      const idle = { ...IDLE, required: threshold }
      assert.deepEqual((await open(secondary, 'GET', ATTEMPT)).body, idle)
      const started = (await open(secondary, 'POST', ATTEMPT, own === '' ? {} : { otp: own })).body
      const { nonce } = started
      const otp = own === '' ? String(started.otp) : own
      assert.match(otp, /^[0-9A-Za-z]{28}$/)
      const running = { ...idle, nonce, started: true }
      assert.deepEqual(started, { ...running, otp: own === '' ? otp : '' })
      assert.deepEqual((await open(secondary, 'GET', ATTEMPT)).body, running)
      for (let progress = 1; progress < threshold; progress++) {
        const { body } = await open(secondary, 'POST', UPDATE, { key: hex(shares[shareCount - progress]), nonce })
        assert.deepEqual(body, { ...running, progress })
      }
      const { body } = await open(secondary, 'PUT', UPDATE, { key: shares[0]?.toString('base64'), nonce })
      const { encoded_token } = body
      assert.deepEqual(body, { ...running, progress: threshold, complete: true, encoded_token, otp_length: 0 })
      const token = decoded(encoded_token, otp)
      assert.match(token, /^hvs\.[0-9A-Za-z]{24}$/)
      assert.equal(await accepted(secondary, token), 200)
      assert.deepEqual((await open(secondary, 'GET', ATTEMPT)).body, idle)
    })
  }
}

const KEYS = [
  { name: 'RSA', type: 'rsa', rsaBits: 2048 },
  { name: 'Curve25519', type: 'ecc', curve: 'curve25519Legacy' },
  { name: 'P-256', type: 'ecc', curve: 'nistP256' },
] as const
for (const { name, ...kind } of KEYS) {
  test(`T88: an operation token is encrypted to an OpenPGP key of ${name}, and no password is made`, async () => {
    const { secondary, shares } = await followed(88, {})
    const made = { userIDs: { name: 'holder' }, date: new Date(Date.UTC(2020, 0, 1)), format: 'object' } as const
    const { privateKey } = await generateKey({ ...made, ...kind })
    const pgp_key = Buffer.from(privateKey.toPublic().write()).toString('base64')
    const started = (await open(secondary, 'POST', ATTEMPT, { pgp_key })).body
    const { nonce } = started
    assert.deepEqual([started.otp, started.pgp_fingerprint], ['', privateKey.getFingerprint()])
    const { body } = await open(secondary, 'POST', UPDATE, { key: hex(shares[0]), nonce })
    assert.deepEqual([body.complete, body.encoded_root_token], [true, ''])
    const message = await readMessage({ binaryMessage: Buffer.from(String(body.encoded_token), 'base64') })
    const opened = await decrypt({ message, decryptionKeys: privateKey, date: new Date(Date.UTC(2099, 0, 1)) })
    assert.equal(await accepted(secondary, String(opened.data)), 200)
  })
}

test('T89: a share counts once, for the attempt with its nonce, in either form and of the right length', async () => {
  const { secondary, shares } = await followed(89)
  const none = await open(secondary, 'POST', UPDATE, { key: hex(shares[0]), nonce: 'x' })
  assert.deepEqual([none.status, errorsOf(none)], [400, 'no operation token generation in progress'])
  const { nonce } = (await open(secondary, 'POST', ATTEMPT, {})).body
  const give = (key: unknown, its: unknown = nonce) => open(secondary, 'POST', UPDATE, { key, nonce: its })
  assert.equal((await give(hex(shares[0]))).body.progress, 1)
  const refused: readonly (readonly [unknown, unknown, RegExp])[] = [
    ['', nonce, /'key' must be specified/],
    [hex(shares[1]).slice(0, 30), nonce, /'key' must be a valid hex or base64 string/],
    [`${hex(shares[1])}00`, nonce, /'key' must be a valid hex or base64 string/],
    ['no share at all!', nonce, /'key' must be a valid hex or base64 string/],
    [hex(shares[1]), '', /incorrect nonce supplied/],
    [hex(shares[1]), '00000000-0000-4000-8000-000000000000', /incorrect nonce supplied/],
    [hex(shares[0]), nonce, /given key has already been provided/],
    [shares[0]?.toString('base64'), nonce, /given key has already been provided/],
  ]
  for (const [key, its, sentence] of refused) {
    const answer = await give(key, its)
    assert.equal(answer.status, 400, JSON.stringify(answer.body))
    assert.match(errorsOf(answer), sentence)
    assert.ok(!errorsOf(answer).includes(String(nonce)), 'the right nonce is never told')
  }
  assert.deepEqual((await open(secondary, 'GET', ATTEMPT)).body, { ...IDLE, nonce, started: true, progress: 1 })
  assert.equal((await give(shares[1]?.toString('base64'))).body.progress, 2)
  assert.equal((await give(hex(shares[2]).toUpperCase())).body.complete, true)
})

test('T89: a wrong share at the threshold keeps attempt and nonce, and right shares make the token then', async () => {
  const { secondary, shares } = await followed(89)
  const { nonce, otp } = (await open(secondary, 'POST', ATTEMPT, {})).body
  const give = (share: Buffer | undefined) => open(secondary, 'POST', UPDATE, { key: hex(share), nonce })
  const wrong = Buffer.from(shares[2] as Buffer)
  wrong[5] = (wrong[5] ?? 0) ^ 1
  for (const share of [shares[0], shares[1]]) await give(share)
  const answer = await give(wrong)
  assert.equal(answer.status, 400)
  assert.match(errorsOf(answer), /operation token generation aborted: the shares do not give the key/)
  assert.deepEqual((await open(secondary, 'GET', ATTEMPT)).body, { ...IDLE, nonce, started: true })
  for (const share of [shares[4], shares[3]]) await give(share)
  const { body } = await give(shares[0])
  assert.equal(await accepted(secondary, decoded(body.encoded_token, String(otp))), 200)
})

test('T90: one attempt at a time; a cancel may name the one that is meant', async () => {
  const { servers, secondary, shares } = await followed(90)
  const start = (body: object = {}) => open(secondary, 'POST', ATTEMPT, body)
  const { nonce } = (await start()).body
  await open(secondary, 'POST', UPDATE, { key: hex(shares[0]), nonce })
  const again = await start({ otp: 'a'.repeat(28) })
  assert.deepEqual([again.status, errorsOf(again)], [400, 'operation token generation already in progress'])
  const other = await open(secondary, 'DELETE', `${ATTEMPT}?nonce=another`)
  assert.equal(other.status, 400)
  assert.ok(!errorsOf(other).includes(String(nonce)))
  assert.equal((await open(secondary, 'GET', ATTEMPT)).body.progress, 1)
  assert.equal((await open(secondary, 'DELETE', `${ATTEMPT}?nonce=${nonce}`)).status, 204)
  for (const path of [ATTEMPT, `${ATTEMPT}?nonce=another`])
    assert.equal((await open(secondary, 'DELETE', path)).status, 204)
  assert.deepEqual((await open(secondary, 'GET', ATTEMPT)).body, IDLE)
  // What was given before counts for no other attempt.
  const second = (await start()).body
  assert.notEqual(second.nonce, nonce)
  assert.equal((await open(secondary, 'POST', UPDATE, { key: hex(shares[0]), nonce: second.nonce })).body.progress, 1)
  await servers.time.pass(10 * 60_000)
  assert.deepEqual((await open(secondary, 'GET', ATTEMPT)).body, IDLE)
})

test('T90: a password of another length, and one beside a key, start nothing', async () => {
  const { secondary } = await followed(90)
  for (const body of [
    { otp: 'a'.repeat(27) },
    { otp: 'ä'.repeat(14) },
    { otp: 'a'.repeat(28), pgp_key: 'AAAA' },
    { pgp_key: 'AAAA' },
  ]) {
    const { status, body: answer } = await open(secondary, 'POST', ATTEMPT, body)
    assert.equal(status, 400, JSON.stringify(answer))
  }
  assert.deepEqual((await open(secondary, 'GET', ATTEMPT)).body, IDLE)
})

test('T90, T92: a restart drops the attempt and keeps the token', async () => {
  const { servers, secondary, shares } = await followed(90)
  const token = await tokenOf(secondary, shares)
  const { nonce } = (await open(secondary, 'POST', ATTEMPT, {})).body
  await open(secondary, 'POST', UPDATE, { key: hex(shares[0]), nonce })
  secondary.kill()
  await secondary.restart()
  assert.equal((await open(secondary, 'GET', ATTEMPT)).status, 503)
  for (const share of shares.slice(0, 3)) await open(secondary, 'POST', 'sys/unseal', { key: hex(share) })
  await servers.time.pass(1_000)
  assert.deepEqual((await open(secondary, 'GET', ATTEMPT)).body, IDLE)
  assert.equal((await open(secondary, 'POST', UPDATE, { key: hex(shares[1]), nonce })).status, 400)
  assert.equal(await accepted(secondary, token), 200)
})

/** Calls with these bodies, all at once, from addresses of a network that has not called before. */
const fromEverywhere = (cluster: ReplicatedServer, network: string, path: string, bodies: readonly object[]) =>
  Promise.all(bodies.map((body, at) => from(cluster, `${network}.${at % 250}.${Math.floor(at / 250)}`, path, body)))

test('T91: 1,000 parallel updates make one token at most, and none of fewer shares than are needed', async () => {
  const { servers, secondary, shares } = await followed(91)
  const all = <T>(work: Promise<T>): Promise<T> => servers.time.until(work)
  const starts = await all(fromEverywhere(secondary, '10.1', ATTEMPT, Array(100).fill({})))
  const started = starts.filter(({ status }) => status === 200)
  assert.equal(started.length, 1)
  const [first = assert.fail()] = started
  const { nonce, otp } = first.body
  const updates = (network: string, from: readonly Buffer[]) =>
    all(
      fromEverywhere(
        secondary,
        network,
        UPDATE,
        Array.from({ length: 1_000 }, (_, at) => ({ key: hex(from[at % from.length]), nonce })),
      ),
    )
  const few = await updates('10.2', shares.slice(0, 2))
  assert.equal((await open(secondary, 'GET', ATTEMPT)).body.progress, 2)
  const enough = await updates('10.3', shares)
  const complete = [...few, ...enough].filter(({ body }) => body.complete === true)
  assert.equal(complete.length, 1)
  assert.ok(few.every(({ body }) => body.complete !== true))
  for (const { status, body } of [...few, ...enough]) {
    assert.ok([200, 400, 429].includes(status), `${status} ${JSON.stringify(body)}`)
    assert.ok(!JSON.stringify(body).includes(otp), 'the password is told once')
  }
  assert.deepEqual((await open(secondary, 'GET', ATTEMPT)).body, IDLE)
  assert.equal(await accepted(secondary, decoded(complete[0]?.body.encoded_token, otp)), 200)
})

test('T92: a token that deleted itself is none any more; the others stay', async () => {
  const { secondary, shares } = await followed(92)
  const [first, second] = [await tokenOf(secondary, shares), await tokenOf(secondary, shares)]
  assert.equal((await open(secondary, 'POST', DELETE, { dr_operation_token: first })).status, 204)
  assert.equal((await open(secondary, 'POST', DELETE, { dr_operation_token: first })).status, 403)
  assert.deepEqual([await accepted(secondary, first), await accepted(secondary, second)], [403, 200])
})

test('T92: what promotion and the end of a set drop is every token', async () => {
  const { servers, secondary, shares } = await followed(92)
  const tokens = [await tokenOf(secondary, shares), await tokenOf(secondary, shares)]
  const view = secondary.server.node.storage.view(systemScope, SETS_FOLDER)
  await servers.time.until(view.transaction((tx) => dropOperationTokens(tx)))
  for (const token of tokens) assert.equal(await accepted(secondary, token), 403)
})

test('T92: the store has a digest of the token alone, and the primary nothing of it', async () => {
  const { servers, primary, secondary, shares } = await followed(92)
  const before = await servers.time.until(secondary.server.store.lastIndex())
  const token = await tokenOf(secondary, shares)
  await servers.level(primary, secondary)
  await servers.requireSame(primary, secondary)
  const { store, node } = secondary.server
  const entries = await servers.time.until(
    node.storage.view(systemScope, SETS_FOLDER).transaction((tx) => tx.scan('', '', 100)),
  )
  assert.equal(entries.filter(({ key }) => key.startsWith('dr/operation-token/')).length, 1)
  for (const { key, value } of entries) assert.ok(!key.includes(token) && !value.includes(token), key)
  const change = (await servers.time.until(store.changesSince(before, 10_000))).flatMap(({ operations }) => operations)
  const written = change.filter(({ key }) => key.includes('/dr/operation-token/'))
  assert.deepEqual(
    written.map((one) => one.class),
    ['ignored'],
  )
})

const tokenIn = ({ body }: Called): string => (body.auth as { readonly client_token: string }).client_token

/** A batch token of the primary. */
async function batchToken(primary: ReplicatedServer, wanted: object): Promise<string> {
  const asked = { type: 'batch', no_parent: true, ttl: '1h', ...wanted }
  return tokenIn(await primary.must('POST', 'auth/token/create', asked))
}

test('T93: of tokens of the primary a batch token without a parent counts, whose policy allows the path', async () => {
  const { servers, primary, secondary } = await followed(93, {})
  const policy = (name: string, rule: string) =>
    primary.must('PUT', `sys/policies/acl/${name}`, { policy: `path "${PUBLIC_KEY}" { ${rule} }` })
  await policy('right', 'capabilities = ["update"]')
  await policy('reader', 'capabilities = ["read", "list", "delete", "create"]')
  await policy('denied', 'capabilities = ["deny"]')
  await policy('nameless', 'capabilities = ["update"] denied_parameters = { "note" = [] }')
  await policy('withdrawn', 'capabilities = ["update"]')
  const right = await batchToken(primary, { policies: ['right'] })
  const mixed = await batchToken(primary, { policies: ['right', 'denied'] })
  const nameless = await batchToken(primary, { policies: ['nameless'] })
  const withdrawn = await batchToken(primary, { policies: ['withdrawn'] })
  const role = {
    allowed_policies: ['right'],
    orphan: true,
    token_type: 'batch',
    renewable: false,
    token_bound_cidrs: ['10.0.0.0/8'],
  }
  await primary.must('POST', 'auth/token/roles/bound', role)
  const bound = tokenIn(await primary.must('POST', 'auth/token/create/bound', { policies: ['right'], ttl: '1h' }))
  const wrong = {
    expired: await batchToken(primary, { policies: ['right'], ttl: '30s' }),
    'non-orphan': await batchToken(primary, { policies: ['right'], no_parent: false }),
    'of a policy without update': await batchToken(primary, { policies: ['reader'] }),
    'of no policy about the path': await batchToken(primary, { policies: ['default'] }),
    'denied by one of its policies': mixed,
    'of a policy that is gone': withdrawn,
    'used from an address that it is not bound to': bound,
    'a service token of the same policy': tokenIn(
      await primary.must('POST', 'auth/token/create', { policies: ['right'], no_parent: true }),
    ),
    'a root token': 'root',
    'changed in a character': `${right.slice(0, 60)}${right[60] === 'A' ? 'B' : 'A'}${right.slice(61)}`,
    'made up': `hvs.${'a'.repeat(24)}`,
  }
  assert.equal((await primary.call('POST', PUBLIC_KEY, {}, right)).status, 400, 'it may, and a primary makes no key')
  await servers.level(primary, secondary)
  assert.equal(await accepted(secondary, withdrawn), 200, 'while its policy is there')
  await primary.must('DELETE', 'sys/policies/acl/withdrawn')
  await servers.level(primary, secondary)
  await servers.time.pass(60_000)
  assert.equal(await accepted(secondary, right), 200)
  for (const [kind, token] of Object.entries(wrong)) {
    const answer = await open(secondary, 'POST', PUBLIC_KEY, { dr_operation_token: token })
    assert.equal(answer.status, 403, `a token that is ${kind}: ${JSON.stringify(answer.body)}`)
    assert.match(
      errorsOf(answer),
      /^permission denied: "dr_operation_token" must be an operation token of this cluster, or/,
    )
    assert.match(errorsOf(answer), /Root tokens and service tokens do not count/)
    // Limits are another matter.
    await servers.time.pass(60_000)
  }
  assert.equal(
    (await servers.time.until(from(secondary, '10.1.2.3', PUBLIC_KEY, { dr_operation_token: bound }))).status,
    200,
  )
  assert.equal(await accepted(secondary, nameless), 200)
  const named = await open(secondary, 'POST', PUBLIC_KEY, { dr_operation_token: nameless, note: 'x' })
  assert.equal(named.status, 403, 'rules about parameters count')
})

test('T93: a batch token of a login counts, until its mount or entity is gone', async () => {
  const { servers, primary, secondary } = await followed(93, {})
  const policy = `path "${PUBLIC_KEY}" { capabilities = ["update"] }`
  await primary.must('PUT', 'sys/policies/acl/right', { policy })
  await primary.must('POST', 'sys/auth/userpass', { type: 'userpass' })
  await primary.must('POST', 'auth/userpass/users/ann', { password: 'long enough', token_type: 'batch' })
  const login = await primary.must('POST', 'auth/userpass/login/ann', { password: 'long enough' }, '')
  const token = tokenIn(login)
  const { entity_id } = login.body.auth as { readonly entity_id: string }
  const after = async (changes: () => Promise<unknown>): Promise<number> => {
    await changes()
    await servers.level(primary, secondary)
    return accepted(secondary, token)
  }
  const entity = `identity/entity/id/${entity_id}`
  assert.equal(await after(async () => {}), 403)
  assert.equal(await after(() => primary.must('POST', entity, { policies: ['right'] })), 200)
  assert.equal(await after(() => primary.must('POST', entity, { disabled: true })), 403)
  assert.equal(await after(() => primary.must('POST', entity, { disabled: false })), 200)
  assert.equal(await after(() => primary.must('DELETE', 'sys/auth/userpass')), 403)
})

test('while the copy is not whole, holders of shares may make a token too: it may never be', async () => {
  const servers = new ReplicatedServers(94)
  const [primary, secondary] = [await servers.start('one', undefined, FIVE), await servers.start('two')]
  await servers.activate(primary, secondary)
  assert.equal((await secondary.status()).mode, 'bootstrapping')
  const token = await tokenOf(secondary, primary.server.shares)
  assert.equal((await secondary.status()).mode, 'bootstrapping')
  assert.equal((await open(secondary, 'POST', DELETE, { dr_operation_token: token.replace('hvs', 'hvb') })).status, 403)
  await servers.level(primary, secondary)
  assert.equal(await accepted(secondary, token), 200, 'what is copied leaves it alone')
})

test('a batch token is not deleted, and who may not delete learns no more than of any wrong token', async () => {
  const { servers, primary, secondary } = await followed(93, {})
  await primary.must('PUT', 'sys/policies/acl/right', { policy: `path "${DELETE}" { capabilities = ["update"] }` })
  await primary.must('PUT', 'sys/policies/acl/other', { policy: `path "${PUBLIC_KEY}" { capabilities = ["update"] }` })
  const [right, other] = [
    await batchToken(primary, { policies: ['right'] }),
    await batchToken(primary, { policies: ['other'] }),
  ]
  await servers.level(primary, secondary)
  const refused = await open(secondary, 'POST', DELETE, { dr_operation_token: right })
  assert.deepEqual(
    [refused.status, errorsOf(refused)],
    [400, 'A batch token is nowhere stored, and ends by itself when its TTL is over'],
  )
  assert.equal((await open(secondary, 'POST', DELETE, { dr_operation_token: other })).status, 403)
})

test('a missing operation token is named; in the header an operation token does not count', async () => {
  const { secondary, shares } = await followed(94)
  const token = await tokenOf(secondary, shares)
  for (const path of [DELETE, PUBLIC_KEY]) {
    for (const body of [{}, { dr_operation_token: '' }]) {
      const answer = await open(secondary, 'POST', path, body)
      assert.equal(answer.status, 400)
      assert.match(errorsOf(answer), /dr_operation_token/)
    }
  }
  assert.equal((await secondary.call('POST', DELETE, {}, token)).status, 400)
  const inHeader = await secondary.call('POST', PUBLIC_KEY, {}, token)
  assert.equal(inHeader.status, 403)
  assert.match(errorsOf(inHeader), /X-Vault-Token must be a batch token of the set without a parent/)
})

test('a wrong method is a 405 where another one is served, and tells nothing of any other path', async () => {
  const { secondary } = await followed(94, {})
  for (const [method, path] of [
    ['GET', `${DR}/promote`],
    ['DELETE', PUBLIC_KEY],
    ['LIST', UPDATE],
    ['GET', DELETE],
    ['POST', 'sys/replication/dr/status'],
  ] as const) {
    const answer = await open(secondary, method, path)
    assert.deepEqual([answer.status, errorsOf(answer)], [405, 'unsupported operation'], `${method} ${path}`)
  }
  for (const [method, path] of [
    ['GET', 'sys/replication/dr/primary/demote'],
    ['DELETE', 'sys/mounts'],
    ['GET', 'sys/replication/dr/secondary/none'],
    ['DELETE', 'auth/token/create'],
  ] as const) {
    const answer = await open(secondary, method, path)
    const expected = [400, 'path disabled in replication DR secondary mode']
    assert.deepEqual([answer.status, errorsOf(answer)], expected, `${method} ${path}`)
  }
})

test('generate-public-key takes a batch token of the set in the header', async () => {
  const { servers, primary, secondary } = await followed(95, {})
  await primary.must('PUT', 'sys/policies/acl/right', { policy: `path "${PUBLIC_KEY}" { capabilities = ["update"] }` })
  const right = await batchToken(primary, { policies: ['right'] })
  await servers.level(primary, secondary)
  const { status, body } = await secondary.call('POST', PUBLIC_KEY, undefined, right)
  assert.equal(status, 200, JSON.stringify(body))
  assert.match(String(body.data?.secondary_public_key), /./)
  assert.equal((await secondary.call('POST', PUBLIC_KEY, {}, 'root')).status, 403)
  const performance = 'sys/replication/performance/secondary/generate-public-key'
  assert.match(
    errorsOf(await secondary.call('POST', performance, {}, right)),
    /path disabled in replication DR secondary mode/,
  )
})

test('on a cluster that is no DR secondary there is no attempt and no operation token', async () => {
  const { primary } = await followed(96)
  for (const [method, path, body] of [
    ['GET', ATTEMPT, undefined],
    ['POST', ATTEMPT, {}],
    ['DELETE', ATTEMPT, undefined],
    ['POST', UPDATE, { key: 'a'.repeat(66), nonce: 'x' }],
    ['POST', DELETE, { dr_operation_token: `hvs.${'a'.repeat(24)}` }],
  ] as const) {
    const answer = await open(primary, method, path, body)
    assert.equal(answer.status, 400, `${method} ${path}`)
    assert.match(
      errorsOf(answer),
      /Only a secondary for disaster recovery does that, and this cluster is in mode primary/,
    )
  }
  const alone = await new ReplicatedServers(97).start('one')
  assert.equal((await open(alone, 'GET', ATTEMPT)).status, 400)
  assert.equal((await alone.call('POST', PUBLIC_KEY)).status, 200)
  assert.equal((await open(alone, 'POST', PUBLIC_KEY, {})).status, 403)
})

test('with the setting off, the attempt asks for a batch token of the set besides', async () => {
  const { servers, primary, secondary, shares } = await followed(
    98,
    {},
    { facts: { operationTokensAskForToken: true } },
  )
  const rule = (path: string, what: string) => `path "${path}" { capabilities = [${what}] }\n`
  const policy = rule(ATTEMPT, '"read", "update", "delete"') + rule(UPDATE, '"update"')
  await primary.must('PUT', 'sys/policies/acl/attempts', { policy })
  await primary.must('PUT', 'sys/policies/acl/reads', { policy: rule(ATTEMPT, '"read"') })
  const [may, reads] = [
    await batchToken(primary, { policies: ['attempts'] }),
    await batchToken(primary, { policies: ['reads'] }),
  ]
  await servers.level(primary, secondary)
  for (const token of ['', 'root', reads]) {
    assert.equal((await secondary.call('POST', ATTEMPT, {}, token)).status, 403)
    assert.equal((await secondary.call('POST', UPDATE, { key: hex(shares[0]), nonce: 'x' }, token)).status, 403)
    assert.equal((await secondary.call('DELETE', ATTEMPT, undefined, token)).status, 403)
    assert.equal((await secondary.call('GET', ATTEMPT, undefined, token)).status, token === reads ? 200 : 403)
  }
  const { nonce, otp } = (await secondary.must('POST', ATTEMPT, {}, may)).body
  const { body } = await secondary.must('POST', UPDATE, { key: hex(shares[0]), nonce }, may)
  assert.equal(await accepted(secondary, decoded(body.encoded_token, String(otp))), 200)
  assert.equal((await secondary.call('DELETE', ATTEMPT, undefined, may)).status, 204)
})

test('guesses are slowed by address, a good token from elsewhere is not, and time mends it', async () => {
  const { servers, secondary, shares } = await followed(99)
  const token = await tokenOf(secondary, shares)
  const guess = (address: string, dr_operation_token: string) =>
    servers.time.until(from(secondary, address, PUBLIC_KEY, { dr_operation_token }))
  const statuses: number[] = []
  for (let each = 0; each < 30; each++) statuses.push((await guess('192.0.2.1', `hvs.guess-${each}`)).status)
  assert.deepEqual(statuses.slice(0, 20), Array(20).fill(403))
  assert.deepEqual(statuses.slice(20), Array(10).fill(429))
  const slowed = await guess('192.0.2.1', token)
  assert.equal(slowed.status, 429, 'even the right one is not looked at')
  assert.match(String(slowed.headers?.['Retry-After'] ?? slowed.headers?.['retry-after']), /^[0-9]+$/)
  assert.equal((await guess('192.0.2.2', token)).status, 200)
  await servers.time.pass(10 * 60_000)
  assert.equal((await guess('192.0.2.1', token)).status, 200)
})

test('P-60: shares that are refused are slowed as those of root tokens are', async () => {
  const { servers, secondary, shares } = await followed(99)
  const { nonce } = (await open(secondary, 'POST', ATTEMPT, {})).body
  const give = (address: string, share: Buffer | undefined) =>
    servers.time.until(from(secondary, address, UPDATE, { key: hex(share), nonce }))
  await give('192.0.2.2', shares[0])
  const statuses: number[] = []
  for (let each = 0; each < 25; each++) statuses.push((await give('192.0.2.1', shares[0])).status)
  assert.deepEqual(statuses, [...Array(20).fill(400), ...Array(5).fill(429)])
  assert.equal((await give('192.0.2.2', shares[1])).body.progress, 2)
})

test('S-09: every call is audited, and no entry has a token, a share or a password', async () => {
  const { servers, primary, secondary, shares } = await followed(100)
  await primary.must('POST', 'sys/audit/file', { type: 'file', options: { file_path: '/audit.log' } })
  await servers.level(primary, secondary)
  const { nonce, otp } = (await open(secondary, 'POST', ATTEMPT, {})).body
  await open(secondary, 'GET', ATTEMPT)
  let encoded: unknown
  for (const share of shares.slice(0, 3))
    encoded = (await open(secondary, 'POST', UPDATE, { key: hex(share), nonce })).body.encoded_token
  const token = decoded(encoded, String(otp))
  await open(secondary, 'POST', DELETE, { dr_operation_token: `${token.slice(0, -1)}.` })
  await open(secondary, 'POST', DELETE, { dr_operation_token: token })
  await open(secondary, 'DELETE', ATTEMPT)
  const text = secondary.server.machine.files.read('/audit.log').toString()
  for (const secret of [token, String(otp), String(encoded), ...shares.map((share) => hex(share))])
    assert.ok(!text.includes(secret), `${secret} is in the log`)
  const calls = entriesIn(text).filter(({ type }) => type === 'response')
  const paths = calls.map(({ request }) => `${request?.operation} ${request?.path}`)
  assert.deepEqual(
    paths.filter((path) => path.includes('replication')),
    [
      `update ${ATTEMPT}`,
      `read ${ATTEMPT}`,
      ...Array(3).fill(`update ${UPDATE}`),
      ...Array(2).fill(`update ${DELETE}`),
      `delete ${ATTEMPT}`,
    ],
  )
})
