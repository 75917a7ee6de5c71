// What is recorded of each kind of request, and what happens where it cannot be: a whole server in this process.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { ShownDevice } from '../../src/api/audit.ts'
import { NotRecorded } from '../../src/audit/recorder.ts'
import type { ServerChain } from '../../src/audit/verify.ts'
import type { Exchange, WireRequest } from '../../src/core/exchange.ts'
import { forward } from '../../src/core/forward.ts'
import { inlineWork, type SlowWork } from '../../src/lib/slow-work.ts'
import { realWorld } from '../../src/lib/world.ts'
import { systemScope } from '../../src/storage/contract.ts'
import type { View } from '../../src/storage/sealed-storage.ts'
import { type AuditEntry, byRequest, readEntries, requirePairs, verifyLog } from '../fixtures/audit-log.ts'
import {
  type Called,
  type MemoryServer,
  type MemoryServerOptions,
  startMemoryServer,
  wireRequest,
} from '../fixtures/memory-server.ts'
import { temporaryDirectory } from '../fixtures/server-process.ts'
import { steppedTime } from '../fixtures/stepped-time.ts'
import { ends, until } from '../fixtures/until.ts'

const directory = temporaryDirectory()
/** What a test that fails leaves open would keep the process. */
const listening: { drop(): void }[] = []
after(() => {
  for (const one of listening) one.drop()
  directory.cleanUp()
})

const UUID = '6f1d2c3b-0a4e-4f58-9c67-7b8a9d0e1f23'
let count = 0
type Audited = MemoryServer & { readonly file: string }

async function start(options: Readonly<Record<string, string>> = {}, of: MemoryServerOptions = {}): Promise<Audited> {
  const server = await startMemoryServer(of)
  const file = join(directory.path, `audit-${++count}.log`)
  await server.call('POST', 'sys/mounts/transit', { type: 'transit' })
  await server.call('POST', 'transit/keys/k', {})
  const made = await server.call('POST', 'sys/audit/file', { type: 'file', options: { file_path: file, ...options } })
  assert.equal(made.status, 204, JSON.stringify(made.body))
  return { ...server, file }
}

const hashOf = async (server: MemoryServer, input: string, path = 'file'): Promise<string> =>
  String((await server.call('POST', `sys/audit-hash/${path}`, { input })).body.data?.hash)

/** The entries of the last request but those of `audit-hash`. */
const lastOf = (file: string) => {
  const entries = readEntries(file).filter(({ request }) => !request.path.startsWith('sys/audit-hash'))
  const id = entries.at(-1)?.request.id ?? ''
  return byRequest(entries).get(id) ?? []
}

test('P-35: an encryption is recorded before and after, with HMACs that audit-hash finds again', async () => {
  const server = await start()
  const { body } = await server.call('POST', 'transit/encrypt/k', { plaintext: 'c29tZQ==', key_version: 1 })
  const [request, response] = lastOf(server.file)
  assert.equal(request?.type, 'request')
  assert.equal(response?.type, 'response')
  assert.equal(request?.request.id, body.request_id)
  assert.deepEqual(request?.request.data, { plaintext: await hashOf(server, 'c29tZQ=='), key_version: 1 })
  assert.deepEqual(response?.response?.data, {
    ciphertext: await hashOf(server, String(body.data?.ciphertext)),
    key_version: 1,
  })
  assert.deepEqual(response?.request, request?.request)
  const token = await hashOf(server, 'root')
  assert.equal(request?.request.client_token, token)
  assert.equal(request?.auth?.client_token, token)
  assert.deepEqual(
    [request?.request.operation, request?.request.path, request?.request.mount_type, request?.request.remote_address],
    ['update', 'transit/encrypt/k', 'transit', '127.0.0.1'],
  )
  assert.deepEqual(request?.auth?.policies, ['root'])
  requirePairs(readEntries(server.file))
})

test('a refusal is recorded on both sides, with its reason', async () => {
  const server = await start()
  const cases = [
    { call: ['GET', 'transit/keys/k', undefined, 'no-such-token'] as const, error: 'permission denied' },
    { call: ['GET', 'transit/keys/k', undefined, ''] as const, error: 'permission denied' },
    { call: ['GET', 'transit/nothing'] as const, error: 'unsupported path' },
    { call: ['GET', 'nowhere'] as const, error: 'no handler for route "nowhere". route entry not found.' },
    { call: ['GET', 'a/../b'] as const, error: /segment/ },
    { call: ['PATCH', 'transit/keys/k'] as const, error: /unsupported operation/ },
    { call: ['POST', 'transit/decrypt/k', { ciphertext: 'x' }] as const, error: /./ },
    { call: ['POST', 'transit/datakey/odd/k', {}] as const, error: /Invalid path/ },
  ]
  for (const { call, error } of cases) {
    const before = readEntries(server.file).length
    const [method, path, body, token] = call as readonly [string, string, object?, string?]
    const { status } = await server.call(method, path, body, token)
    assert(status >= 400, path)
    const entries = readEntries(server.file).slice(before)
    assert.deepEqual(
      entries.map(({ type }) => type),
      ['request', 'response'],
      call[1],
    )
    const told = entries.at(-1)?.error ?? ''
    assert(typeof error === 'string' ? told === error : error.test(told), told)
    assert.equal(entries[0]?.request.id, entries[1]?.request.id)
  }
})

test('help, wrapping and lists are recorded; the state of the server is not', async () => {
  const server = await start()
  const before = readEntries(server.file).length
  await server.call('GET', 'transit/keys/k?help=1')
  await server.call('HELP', 'transit/keys/k')
  await server.call('LIST', 'transit/keys')
  for (const path of ['sys/health', 'sys/seal-status', 'sys/leader', 'sys/init'])
    await server.call('GET', path, undefined, '')
  await server.call('POST', 'sys/unseal', { reset: true }, '')
  const wrapped = await server.call('GET', 'transit/keys/k', undefined, 'root', { wrapTtl: '60s' })
  const entries = readEntries(server.file).slice(before)
  requirePairs(entries)
  assert.deepEqual(
    entries.filter(({ type }) => type === 'request').map(({ request }) => request.path),
    ['transit/keys/k', 'transit/keys/k', 'transit/keys', 'transit/keys/k'],
  )
  const info = wrapped.body.wrap_info as unknown as Record<string, unknown>
  const told = entries.at(-1)?.response?.wrap_info as Record<string, unknown>
  assert.equal(told.token, await hashOf(server, String(info.token)))
  assert.equal(told.accessor, await hashOf(server, String(info.accessor)))
  assert.deepEqual([told.ttl, told.creation_path], [60, 'transit/keys/k'])
  assert.equal(entries.at(-1)?.request.wrap_ttl, 60)
  // T-21: what is opened is no clearer than what was wrapped, and a second try is recorded, too.
  await server.call('POST', 'sys/wrapping/unwrap', {}, String(info.token))
  const opened = readFileSync(server.file, 'utf8')
  assert.equal(opened.includes('aes256-gcm96'), false)
  await server.call('POST', 'sys/wrapping/unwrap', {}, String(info.token))
  assert.equal(lastOf(server.file).at(-1)?.error, 'wrapping token is not valid or does not exist')
})

test('U-01: a token that stands in the path is no clearer than one that stands elsewhere', async () => {
  const server = await start()
  await server.call('GET', 'auth/token/lookup/hvs.CANARY')
  assert.equal(lastOf(server.file)[0]?.request.path, `auth/token/lookup/${await hashOf(server, 'hvs.CANARY')}`)
  assert.equal(readFileSync(server.file, 'utf8').includes('CANARY'), false)
})

/** What the log has of a token in the paths of requests that lead nowhere, or are refused early. */
test('U-01: a token in a path is hidden where no endpoint is known, and in what repeats the path', async () => {
  const server = await start()
  const hash = await hashOf(server, 'hvs.CANARY')
  const cases = [
    { method: 'PATCH', path: 'auth/token/lookup/hvs.CANARY' },
    { method: 'DELETE', path: 'auth/token/lookup/hvs.CANARY' },
    { method: 'GET', path: 'auth/token/lookup/hvs.CANARY', headers: { namespace: 'other' } },
    { method: 'GET', path: 'other/auth/token/lookup/hvs.CANARY' },
    { method: 'GET', path: 'auth/token/lookup/hvs.CANARY', headers: { wrapTtl: 'bad' } },
    { method: 'GET', path: 'auth/token/lookup/hvs.CANARY', headers: { wrapTtl: '60' } },
    { method: 'POST', path: 'auth/token/renew/hvs.CANARY' },
    { method: 'POST', path: 'auth/token/revoke/hvs.CANARY' },
    { method: 'POST', path: 'sys/wrapping/unwrap/hvs.CANARY' },
    { method: 'GET', path: 'nowhere/hvs.CANARY' },
    { method: 'GET', path: 'nowhere/../%68vs.CANARY' },
  ]
  for (const { method, path, headers = {} } of cases) {
    await server.call(method, path, method === 'POST' ? {} : undefined, 'root', headers)
    assert.match(String(lastOf(server.file)[0]?.request.path), new RegExp(`/${hash}$`), `${method} ${path}`)
  }
  // Tokens of one's own have no form: the place tells.
  await server.call('PATCH', 'auth/token/lookup/CANARY')
  await server.call('POST', 'sys/wrapping/unwrap/CANARY', {})
  await server.call('GET', 'sys/leases/nothing/hCANARY-of-many-characters')
  // A wrapped answer names the path that it came from.
  const own = await server.call('POST', 'auth/token/create', { id: 'OWNCANARY', policies: ['default'] })
  assert.equal(own.status, 200)
  const wrapped = await server.call('GET', 'auth/token/lookup/OWNCANARY', undefined, 'root', { wrapTtl: '60' })
  assert.equal(wrapped.status, 200)
  const { token = '' } = wrapped.body.wrap_info as unknown as Record<string, string>
  assert.equal((await server.call('POST', 'sys/wrapping/rewrap', { token })).status, 200)
  assert.equal(readFileSync(server.file, 'utf8').includes('CANARY'), false)
  await server.call('PATCH', 'transit/keys/k')
  assert.equal(lastOf(server.file)[0]?.request.path, 'transit/keys/k')
})

test('U-01: the token of a path is hidden where it stands, whatever else has the same text', async () => {
  const server = await start()
  for (const id of ['auth', 'token', 'look', 'o']) {
    assert.equal((await server.call('POST', 'auth/token/create', { id, policies: ['default'] })).status, 200)
    assert.equal((await server.call('GET', `auth/token/lookup/${id}`)).status, 200)
    assert.equal(lastOf(server.file)[0]?.request.path, `auth/token/lookup/${await hashOf(server, id)}`)
  }
})

test('U-01: a secret that is sent as a number is no clearer than one that is a text', async () => {
  const server = await start()
  await server.call('POST', 'sys/auth/userpass', { type: 'userpass' })
  const made = await server.call('POST', 'auth/userpass/users/kim', { password: 8412345678, token_num_uses: 3 })
  assert.equal(made.status, 204)
  const hash = await hashOf(server, '8412345678')
  assert.deepEqual(lastOf(server.file)[0]?.request.data, { password: hash, token_num_uses: 3 })
  const login = await server.call('POST', 'auth/userpass/login/kim', { password: 8412345678 }, '')
  assert.equal(login.status, 200)
  assert.deepEqual(lastOf(server.file)[0]?.request.data, { password: hash })
  await server.call('POST', 'auth/userpass/login/kim', { password: [8412345678, { deep: 8412345678 }] }, '')
  const item = { plaintext: 8412345678, key_version: 1 }
  await server.call('POST', 'transit/encrypt/k', { batch_input: [item, 8412345678] })
  const batch = lastOf(server.file)[0]?.request.data?.batch_input
  assert.deepEqual(batch, [{ plaintext: hash, key_version: 1 }, hash])
  assert.equal(readFileSync(server.file, 'utf8').includes('8412345678'), false)
})

test('P-34: of a withheld answer no token is left, wrapped or not, in any form', async () => {
  const server = await start()
  const { audit } = server.node
  const accessors = async () => (await server.call('LIST', 'auth/token/accessors')).body.data?.keys as readonly string[]
  const finish = audit.finish
  const cases = [
    { call: ['POST', 'auth/token/create', {}], headers: {} },
    { call: ['POST', 'auth/token/create', {}], headers: { wrapTtl: '60' } },
    { call: ['POST', 'auth/token/create', {}], headers: { wrapTtl: '60', wrapFormat: 'jwt' } },
    { call: ['GET', 'sys/policies/acl/default', undefined], headers: { wrapTtl: '60', wrapFormat: 'jwt' } },
  ] as const
  for (const { call, headers } of cases) {
    const [method, path, body] = call
    const before = await accessors()
    let made = before
    audit.finish = async (of) => {
      audit.finish = finish
      made = await accessors()
      audit.drop(of)
      throw new NotRecorded('no device')
    }
    const { status } = await server.call(method, path, body, 'root', headers)
    assert.equal(status, 500)
    assert(made.length > before.length, 'something was made')
    assert.deepEqual(await accessors(), before, `${path} ${JSON.stringify(headers)}`)
  }
})

/** The next answer is recorded by no device. */
function loseNextAnswer({ node: { audit } }: MemoryServer): void {
  const { finish } = audit
  audit.finish = async (of) => {
    audit.finish = finish
    audit.drop(of)
    throw new NotRecorded('no device')
  }
}

test('P-34, S-04: new shares that are in force are given, recorded or not; those that wait are withheld', async () => {
  for (const [place, token] of [
    ['sys/rekey', ''],
    ['sys/rotate/root', 'root'],
  ] as const) {
    for (const require_verification of [false, true]) {
      const logged: string[] = []
      const server = await start({}, { log: (_level, message) => logged.push(message) })
      const give = async (path: string, body: object) =>
        (await server.call('POST', `${place}/${path}`, body, token)).body
      const dataOf = ({ data, ...plain }: Called['body']): Record<string, unknown> => data ?? plain
      const begun = await give('init', { secret_shares: 1, secret_threshold: 1, require_verification })
      const { nonce } = dataOf(begun)
      const key = server.shares[0]?.toString('hex')
      loseNextAnswer(server)
      const answer = await give('update', { key, nonce })
      assert.equal(logged.filter((line) => line.includes('the only copy')).length, require_verification ? 0 : 1)
      if (require_verification)
        assert.deepEqual(answer.errors, ['No audit device could record the answer, so it is withheld'])
      const opening = require_verification ? key : (dataOf(answer).keys as string[])[0]
      assert.equal((await server.call('POST', 'sys/seal')).status, 204)
      assert.equal((await server.call('POST', 'sys/unseal', { key: opening }, '')).body.sealed, false)
    }
  }
})

test('P-34: a root token by shares is given, recorded or not', async () => {
  const logged: string[] = []
  const server = await start({}, { log: (_level, message) => logged.push(message) })
  const { body } = await server.call('POST', 'sys/generate-root/attempt', {}, '')
  const { otp, nonce } = body as unknown as { readonly otp: string; readonly nonce: string }
  loseNextAnswer(server)
  const key = server.shares[0]?.toString('hex')
  const given = await server.call('POST', 'sys/generate-root/update', { key, nonce }, '')
  const { encoded_token: encoded } = given.body as unknown as { readonly encoded_token: string }
  const pad = Buffer.from(otp)
  const token = Buffer.from(Buffer.from(encoded, 'base64').map((byte, at) => byte ^ (pad[at] ?? 0))).toString()
  assert.equal((await server.call('GET', 'auth/token/lookup-self', undefined, token)).status, 200)
  assert.equal(logged.filter((line) => line.includes('the only copy')).length, 1)
})

test('P-34, T-21: what an unwrapping took out is given, recorded or not', async () => {
  const server = await start()
  const wrapped = async () => {
    const { body } = await server.call('GET', 'transit/keys/k', undefined, 'root', { wrapTtl: '60' })
    return (body.wrap_info as unknown as Record<string, string>).token
  }
  for (const [path, headers] of [
    ['unwrap', {}],
    ['unwrap', { wrapTtl: '60' }],
    ['rewrap', {}],
  ] as const) {
    const token = await wrapped()
    loseNextAnswer(server)
    const { body } = await server.call('POST', `sys/wrapping/${path}`, { token }, 'root', headers)
    const next = (body.wrap_info as unknown as Record<string, string> | null)?.token
    const opened = next === undefined ? body : (await server.call('POST', 'sys/wrapping/unwrap', { token: next })).body
    assert.equal(opened.data?.name, 'k', path)
    loseNextAnswer(server)
    assert.equal((await server.call('POST', `sys/wrapping/${path}`, { token })).status, 500, 'a refusal is no copy')
  }
})

test('P-34, T-21: so is what a wrapping token reads from its cubbyhole, which goes with it', async () => {
  const server = await start()
  const { body } = await server.call('GET', 'transit/keys/k', undefined, 'root', { wrapTtl: '60' })
  const { token = '' } = body.wrap_info as unknown as Record<string, string>
  loseNextAnswer(server)
  const read = await server.call('GET', 'cubbyhole/response', undefined, token)
  assert.equal(JSON.parse(String(read.body.data?.response)).data.name, 'k')
  assert.equal((await server.call('GET', 'cubbyhole/response', undefined, token)).status, 403)
})

test('P-34: what a token reads from its cubbyhole with its last use is given wrapped, too', async () => {
  const server = await start()
  const made = await server.call('POST', 'auth/token/create', { policies: ['default'], num_uses: 2 })
  const token = String((made.body.auth as unknown as Record<string, string>).client_token)
  assert.equal((await server.call('POST', 'cubbyhole/kept', { a: 'b' }, token)).status, 204)
  loseNextAnswer(server)
  const read = await server.call('GET', 'cubbyhole/kept', undefined, token, { wrapTtl: '60' })
  const wrapped = String((read.body.wrap_info as unknown as Record<string, string>)?.token)
  const { body } = await server.call('POST', 'sys/wrapping/unwrap', undefined, wrapped)
  assert.deepEqual(body.data, { a: 'b' })
})

test('P-36: a request that was begun where no device was is recorded whole where it is carried out', async () => {
  const server = await start()
  const passedOn: unknown[] = []
  const to = async (request: WireRequest) => {
    passedOn.push(request.passedOn?.recordedBy)
    return { status: 204, body: undefined }
  }
  for (const uuids of [[], ['u']]) {
    const exchange = { id: 'x', request: wireRequest('POST', 'a', {}), record: { set: { uuids } }, trace: undefined }
    await forward(exchange as unknown as Exchange, to)
  }
  assert.deepEqual(passedOn, [[], ['u']])
  const here = server.node.audit.list().map(({ uuid }) => uuid)
  // The thread that carries it out then writes both entries, or the second alone.
  for (const [recordedBy, types] of [
    [[], ['request', 'response']],
    [here, ['response']],
    // Its device is gone: those that are there get both.
    [['gone'], ['request', 'response']],
  ] as const) {
    const id = `passed-on-${recordedBy}`
    const request = wireRequest('GET', 'transit/keys/k', undefined, 'root')
    await server.node.core.handle({ ...request, passedOn: { id, trace: undefined, recordedBy } })
    const own = byRequest(readEntries(server.file)).get(id) ?? []
    assert.deepEqual(
      own.map(({ type }) => type),
      types,
    )
  }
})

test('P-36: a device that is enabled between two threads gets no answer to what it has no request of', async () => {
  const server = await start()
  const first = server.node.audit.list().map(({ uuid }) => uuid)
  const late = join(directory.path, 'late.log')
  assert.equal((await server.call('PUT', 'sys/audit/late', { type: 'file', options: { file_path: late } })).status, 204)
  const both = server.node.audit.list().map(({ uuid }) => uuid)
  assert.equal(both.length, 2)
  for (const [id, recordedBy] of [
    ['of-the-first', first],
    ['of-both', both],
  ] as const) {
    const request = wireRequest('GET', 'transit/keys/k', undefined, 'root')
    await server.node.core.handle({ ...request, passedOn: { id, trace: undefined, recordedBy } })
  }
  const typesIn = (file: string, id: string) => (byRequest(readEntries(file)).get(id) ?? []).map(({ type }) => type)
  assert.deepEqual([typesIn(server.file, 'of-the-first'), typesIn(late, 'of-the-first')], [['response'], []])
  assert.deepEqual([typesIn(server.file, 'of-both'), typesIn(late, 'of-both')], [['response'], ['response']])
  // What was lent for the one request is given back: both end with the server.
  await server.node.operations.seal()
  assert.equal(verifyLog(late).faults.length, 0)
})

test('P-36: a request that a quota refuses is recorded where it spent a use of its token', async () => {
  const server = await start()
  await server.call('POST', 'sys/auth/userpass', { type: 'userpass' })
  const quota = { path: 'transit/', rate: 1, secondary_rate: 1, interval: 600, group_by: 'entity_then_ip' }
  assert.equal((await server.call('POST', 'sys/quotas/rate-limit/few', quota)).status, 204)
  const limited = async () => {
    const { body } = await server.call('POST', 'auth/token/create', { policies: ['default'], num_uses: 1 })
    return (body.auth as unknown as Record<string, string>).client_token ?? ''
  }
  const refused = async (token: string) => {
    const before = readEntries(server.file).length
    assert.equal((await server.call('GET', 'transit/keys/k', undefined, token)).status, 429)
    return readEntries(server.file).slice(before)
  }
  const [first, second] = [await limited(), await limited()]
  await server.call('GET', 'transit/keys/k', undefined, first)
  const entries = await refused(second)
  assert.deepEqual(
    entries.map(({ type }) => type),
    ['request', 'response'],
  )
  for (const { error, auth } of entries) {
    assert.match(String(error), /quota exceeded/)
    assert.equal(auth?.remaining_uses, 0)
  }
  // What spends nothing is counted, and no more.
  assert.deepEqual(await refused('root'), [])
})

test('U-02: two devices write the same request each in its own way', async () => {
  const server = await start()
  const raw = join(directory.path, `raw-${++count}.log`)
  const options = { file_path: raw, log_raw: 'true', hmac_accessor: 'false', elide_list_responses: 'true' }
  assert.equal((await server.call('POST', 'sys/audit/raw', { type: 'file', options })).status, 204)
  const { body } = await server.call('POST', 'auth/token/create', { policies: ['default'] })
  const auth = body.auth as unknown as Record<string, string>
  const [, clear] = lastOf(raw)
  const [, hashed] = lastOf(server.file)
  assert.equal(clear?.response?.auth?.client_token, auth.client_token)
  assert.equal(clear?.response?.auth?.accessor, auth.accessor)
  assert.deepEqual(clear?.request.data, { policies: ['default'] })
  assert.equal(hashed?.response?.auth?.client_token, await hashOf(server, auth.client_token ?? ''))
  assert.notEqual(await hashOf(server, 'x'), await hashOf(server, 'x', 'raw'))
  await server.call('LIST', 'transit/keys')
  assert.deepEqual(lastOf(raw).at(-1)?.response?.data, { keys: 1 })
  assert.deepEqual(lastOf(server.file).at(-1)?.response?.data, { keys: [await hashOf(server, 'k')] })
})

test('fields that a mount declares harmless are readable, those of another mount are not', async () => {
  const server = await start()
  const config = { audit_non_hmac_request_keys: ['context'], audit_non_hmac_response_keys: ['name'] }
  assert.equal((await server.call('POST', 'sys/mounts/transit/tune', config)).status, 204)
  const tuned = await server.call('GET', 'sys/mounts/transit/tune')
  assert.deepEqual(tuned.body.data?.audit_non_hmac_request_keys, ['context'])
  await server.call('POST', 'transit/keys/other', { context: 'open', type: 'aes256-gcm96' })
  const [request, response] = lastOf(server.file)
  assert.deepEqual(request?.request.data, { context: 'open', type: await hashOf(server, 'aes256-gcm96') })
  assert.equal(response?.response?.data?.name, 'other')
})

test('V-10: no login mount can declare its credentials harmless, in requests or in answers', async () => {
  const server = await start()
  const keys = ['jwt', 'client_secret', 'password', 'secret_id', 'token', 'id', 'tenant_id', 'role', 'bind_secret_id']
  const tuned = { audit_non_hmac_request_keys: keys, audit_non_hmac_response_keys: keys }
  await server.call('POST', 'sys/auth/cloud', { type: 'cloud' })
  await server.call('POST', 'sys/auth/approle', { type: 'approle' })
  await server.call('POST', 'sys/auth/userpass', { type: 'userpass' })
  for (const mount of ['cloud', 'approle', 'userpass', 'token'])
    assert.equal((await server.call('POST', `sys/auth/${mount}/tune`, tuned)).status, 204, mount)
  const tenant = 'aaaaaaaa-0000-4000-8000-000000000001'
  const config = { tenant_id: tenant, resource: 'https://r/', client_secret: 'S3CRET-client' }
  assert.equal((await server.call('POST', 'auth/cloud/config', config)).status, 204)
  // What is ordinary stays the operator's to say.
  assert.equal(lastOf(server.file)[0]?.request.data?.tenant_id, tenant)
  const { body } = await server.call('GET', 'auth/cloud/config')
  assert.equal(body.data?.client_secret, 'S3CRET-client')
  assert.equal(lastOf(server.file)[1]?.response?.data?.client_secret, await hashOf(server, 'S3CRET-client'))
  await server.call('POST', 'auth/cloud/login', { role: 'open-role', jwt: 'S3CRET-jwt' }, '')
  assert.deepEqual(lastOf(server.file)[0]?.request.data?.role, 'open-role')
  await server.call('POST', 'auth/userpass/users/u', { password: 'S3CRET-password' })
  await server.call('POST', 'auth/approle/role/r', { policies: 'default' })
  const made = (await server.call('POST', 'auth/approle/role/r/secret-id', {})).body.data as { secret_id: string }
  await server.call('POST', 'auth/approle/login', { role_id: 'x', secret_id: made.secret_id }, '')
  const token = ((await server.call('POST', 'auth/token/create', {})).body.auth as { client_token: string })
    .client_token
  await server.call('POST', 'auth/token/lookup', { token })
  const lines = readFileSync(server.file, 'utf8')
  for (const secret of ['S3CRET', made.secret_id, token]) assert.equal(lines.includes(secret), false, secret)
})

test('U-03: the headers that are asked for are recorded, as they were asked for', async () => {
  const server = await start()
  assert.equal((await server.call('POST', 'sys/config/auditing/request-headers/X-Open', {})).status, 204)
  assert.equal((await server.call('POST', 'sys/config/auditing/request-headers/x-closed', { hmac: true })).status, 204)
  assert.deepEqual(server.node.auditedHeaders(), ['x-open', 'x-closed'])
  const audited = { 'x-open': 'seen', 'x-closed': 'hidden', 'x-other': 'gone' }
  await server.call('GET', 'transit/keys/k', undefined, 'root', { audited })
  assert.deepEqual(lastOf(server.file)[0]?.request.headers, {
    'x-open': ['seen'],
    'x-closed': [await hashOf(server, 'hidden')],
  })
  assert.equal((await server.call('DELETE', 'sys/config/auditing/request-headers/X-OPEN')).status, 204)
  assert.deepEqual(server.node.auditedHeaders(), ['x-closed'])
  const barred = ['X-Vault-Token', 'authorization', 'Proxy-Authorization', 'cookie', 'Set-Cookie']
  for (const name of [...barred, 'X-Amz-Security-Token', 'X-Vault-Inline-Auth-Parameter-Password'])
    assert.equal((await server.call('POST', `sys/config/auditing/request-headers/${name}`, {})).status, 400, name)
})

/**
 * Takes lines at a Unix socket, until it goes away: that is told to whoever writes at once, and nobody else can be at
 * its place meanwhile, as at a port of loopback.
 */
class Collector {
  text = ''
  readonly #sockets = new Set<Socket>()
  readonly #server = createServer((socket) => {
    this.#sockets.add(socket)
    socket.on('error', () => {})
    socket.on('data', (data: Buffer) => {
      this.text += data.toString('latin1')
    })
  })

  async listen(path: string): Promise<void> {
    listening.push(this)
    this.#server.listen(path)
    await once(this.#server, 'listening')
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.drop()
    await closed
  }

  drop(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
  }

  get entries(): AuditEntry[] {
    // What follows the last end of a line is still on its way.
    const lines = this.text.split('\n').slice(0, -1)
    return lines.map((line) => JSON.parse(line)).filter(({ type }) => type !== 'chain')
  }
}

/** A server whose only device is a socket, and what takes its lines. */
async function startWithSocket(slow?: SlowWork): Promise<{ server: MemoryServer; collector: Collector; path: string }> {
  const server = await startMemoryServer(slow === undefined ? {} : { slow })
  await server.call('POST', 'sys/mounts/transit', { type: 'transit' })
  await server.call('POST', 'transit/keys/k', {})
  const collector = new Collector()
  const path = join(directory.path, `collector-${++count}`)
  await collector.listen(path)
  const made = await server.call('POST', 'sys/audit/socket', {
    type: 'socket',
    options: { address: path, socket_type: 'unix' },
  })
  assert.equal(made.status, 204, JSON.stringify(made.body))
  return { server, collector, path }
}

const contents = async (server: MemoryServer): Promise<unknown> =>
  Promise.all(
    ['transit/keys', 'sys/policies/acl'].map(async (path) => (await server.call('LIST', path)).body.data?.keys),
  )

test('P-34: what nobody can record does not happen, and is told; it goes on when a device is back', async () => {
  const { server, collector, path: socket } = await startWithSocket()
  const before = await contents(server)
  await collector.close()
  await until(async () => (await server.call('GET', 'transit/keys/k')).status === 500)
  for (const call of [
    ['POST', 'transit/keys/new', {}],
    ['POST', 'transit/encrypt/k', { plaintext: 'c29tZQ==' }],
    ['POST', 'transit/encrypt/made', { plaintext: 'c29tZQ==' }],
    ['POST', 'sys/policies/acl/new', { policy: 'path "a" {}' }],
    ['DELETE', 'sys/mounts/transit'],
    ['POST', 'auth/token/create', {}],
    ['GET', 'nowhere'],
  ] as const) {
    const [method, path, sent] = call as readonly [string, string, object?]
    const { status, body } = await server.call(method, path, sent)
    assert.equal(status, 500, path)
    assert.match(String((body.errors as unknown as string[])[0]), /^No audit device could record the /)
  }
  assert.equal((await server.call('GET', 'sys/health', undefined, '')).status, 200)
  const again = new Collector()
  await again.listen(socket)
  await until(async () => (await server.call('GET', 'transit/keys/k')).status === 200)
  assert.deepEqual(await contents(server), before)
  await until(async () => again.entries.at(-1)?.type === 'response')
  // The device may come back between the request that it could not record and the refusal, which is then there alone.
  requirePairs(again.entries.slice(again.entries.findIndex(({ type }) => type === 'request')))
  assert.match(again.text, /"event":"start"/)
  await server.node.audit.stop()
  await again.close()
})

test('P-34: an answer that cannot be recorded is withheld, and its token is of no use', async () => {
  // A password is hashed as long as the test wants it.
  let held = Promise.withResolvers<void>()
  held.resolve()
  let hashing = Promise.withResolvers<void>()
  const work = inlineWork(realWorld())
  const slow: SlowWork = {
    ...work,
    run: (job, input) => {
      hashing.resolve()
      return held.promise.then(() => work.run(job, input))
    },
  }
  const { server, collector } = await startWithSocket(slow)
  await server.call('POST', 'sys/auth/userpass', { type: 'userpass' })
  await server.call('POST', 'auth/userpass/users/kim', { password: 'correct horse' })
  const tokens = async () => (await server.node.tokens.view.list('token/id/')).length
  const before = await tokens()
  held = Promise.withResolvers()
  hashing = Promise.withResolvers()
  const login = server.node.core.handle(wireRequest('POST', 'auth/userpass/login/kim', { password: 'correct horse' }))
  // The collector goes while the password is hashed, and that is noticed. The server itself must have told that the
  // first entry is stored: what the collector has read may be ahead of the end of the write here.
  await hashing.promise
  await collector.close()
  await until(async () => (await server.call('GET', 'transit/keys/k')).status === 500, 'the device is lost')
  held.resolve()
  const answer = await login
  assert.equal(answer.status, 500)
  assert.match(String(answer.body), /the answer, so it is withheld/)
  assert.equal(await tokens(), before)
  await server.node.audit.stop()
})

test('the last answers of a server that is sealed, and of a device that goes, are recorded by who began', async () => {
  const server = await start()
  const second = join(directory.path, `second-${++count}.log`)
  await server.call('POST', 'sys/audit/second', { type: 'file', options: { file_path: second } })
  await server.call('GET', 'transit/keys/k')
  assert.equal((await server.call('DELETE', 'sys/audit/second')).status, 204)
  await server.call('GET', 'transit/keys/k')
  assert.deepEqual(
    readEntries(second).map(({ type, request }) => [type, request.path]),
    [
      ['request', 'transit/keys/k'],
      ['response', 'transit/keys/k'],
      ['request', 'sys/audit/second'],
      ['response', 'sys/audit/second'],
    ],
  )
  assert.equal((await server.call('POST', 'sys/seal')).status, 204)
  assert.equal((await server.call('GET', 'transit/keys/k')).status, 503)
  requirePairs(readEntries(server.file))
  assert.equal(readEntries(server.file).at(-1)?.request.path, 'sys/seal')
  await until(async () => verifyLog(server.file).faults.length === 0)
  for (const file of [second, server.file]) assert.deepEqual(verifyLog(file).faults, [])
  await server.node.operations.unseal(server.shares[0] as Buffer)
  await server.call('GET', 'transit/keys/k')
  assert.equal(readEntries(server.file).at(-1)?.request.path, 'transit/keys/k')
  const publicKey = String((await server.call('GET', 'sys/audit-streams')).body.data?.public_key)
  await server.node.audit.stop()
  const { faults, chains } = verifyLog(server.file, { publicKey })
  assert.deepEqual(faults, [])
  // The trial of the new device, and each opening.
  assert.equal(chains.length, 3)
})

test('a request that began before its device was removed is recorded by it to the end', async () => {
  const inline = inlineWork(realWorld())
  const gate = Promise.withResolvers<void>()
  const slow: SlowWork = { ...inline, run: (job, input) => gate.promise.then(() => inline.run(job, input)) }
  const server = await start({}, { slow })
  const second = join(directory.path, `second-${++count}.log`)
  await server.call('POST', 'sys/audit/second', { type: 'file', options: { file_path: second } })
  const paths = () => readEntries(second).map(({ type, request }) => [type, request.path])
  const creation = server.call('POST', 'transit/keys/slow', { type: 'rsa-2048' })
  await until(async () => paths().length === 1)
  assert.equal((await server.call('DELETE', 'sys/audit/second')).status, 204)
  // What begins from here on is none of its business.
  await server.call('GET', 'transit/keys/k')
  gate.resolve()
  assert.equal((await creation).status, 200)
  assert.deepEqual(paths(), [
    ['request', 'transit/keys/slow'],
    ['request', 'sys/audit/second'],
    ['response', 'sys/audit/second'],
    ['response', 'transit/keys/slow'],
  ])
  await until(async () => verifyLog(second).faults.length === 0)
  assert.deepEqual(verifyLog(second).faults, [])
})

test('a rotated file is left, and the chain goes on in the new one', async () => {
  const server = await start()
  await server.call('GET', 'transit/keys/k')
  const { file } = server
  renameSync(file, `${file}.1`)
  await server.call('GET', 'transit/keys/k')
  await server.node.audit.reopen()
  await server.call('GET', 'transit/keys/k')
  await server.node.audit.reopen()
  await server.call('GET', 'transit/keys/k')
  await server.node.audit.stop()
  assert.equal(readEntries(`${file}.1`).length, 4)
  assert.equal(readEntries(file).length, 4)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  const both = join(directory.path, `both-${++count}.log`)
  appendFileSync(both, readFileSync(`${file}.1`))
  appendFileSync(both, readFileSync(file))
  assert.deepEqual(verifyLog(both).faults, [])
  assert.match(verifyLog(file).faults.join(), /begins at number/)
})

test('a file that cannot be opened anew keeps the one there is', async () => {
  const server = await start()
  rmSync(server.file)
  mkdirSync(server.file)
  await server.node.audit.reopen()
  assert.equal((await server.call('GET', 'transit/keys/k')).status, 200)
  await server.node.audit.stop()
})

test('P-39: a socket that takes nothing holds nobody up where a file has the entry', async () => {
  const time = steppedTime(0)
  const server = await start({}, { world: { timers: time.timers } })
  const stalled = createServer((socket) => socket.pause().on('error', () => {}))
  listening.push({ drop: () => stalled.close() })
  stalled.listen(0, '127.0.0.1')
  await once(stalled, 'listening')
  const { port } = stalled.address() as AddressInfo
  // Whoever were held up would be so for ever: no time passes.
  const options = { address: `127.0.0.1:${port}`, write_timeout: '60s' }
  assert.equal((await server.call('POST', 'sys/audit/stalled', { type: 'socket', options })).status, 204)
  for (let i = 0; i < 200; i++) {
    const answer = server.call('POST', 'transit/encrypt/k', { plaintext: 'c29t'.repeat(25_000) })
    assert.equal((await ends(answer, 'the answer')).status, 200)
  }
  requirePairs(readEntries(server.file))
  const stopped = server.node.audit.stop()
  await time.advance(120_000)
  await ends(stopped, 'the stop')
})

test('devices are made, listed and removed by who may', async () => {
  const server = await start()
  const make = (path: string, body: object) => server.call('POST', `sys/audit/${path}`, body)
  const file = join(directory.path, `more-${++count}.log`)
  const refused = [
    ['file', { type: 'file', options: { file_path: file } }, /^path already in use$/],
    ['other', { type: 'file', options: { file_path: '/dev/full' } }, /is no regular file/],
    ['other', { type: 'file', options: { file_path: join(directory.path, 'no', 'such') } }, /directory does not exist/],
    ['other', { type: 'file', options: {} }, /^file_path is required$/],
    ['other', { type: 'nope' }, /^unknown backend type/],
    ['other', { type: 'socket', options: { address: '127.0.0.1:1' } }, /cannot be written: it cannot be connected/],
    ['other', { type: 'file', options: { file_path: file, prefix: 'x' } }, /configuration file only/],
    ['other', {}, /Missing required field "type"/],
    ['a b', { type: 'file', options: { file_path: file } }, /must be letters/],
  ] as const
  for (const [path, body, why] of refused) {
    const { status, body: told } = await make(encodeURIComponent(path), body)
    assert.equal(status, 400, JSON.stringify(body))
    assert.match(String((told.errors as unknown as string[])[0]), why)
  }
  assert.equal((await make('other', { type: 'file', description: 'd', options: { file_path: file } })).status, 204)
  const { body } = await server.call('GET', 'sys/audit')
  assert.deepEqual(body.data?.['other/'], {
    type: 'file',
    description: 'd',
    options: { file_path: file },
    local: false,
    path: 'other/',
  })
  assert.equal((await server.call('DELETE', 'sys/audit/other')).status, 204)
  assert.equal((await server.call('DELETE', 'sys/audit/other')).status, 204)
  assert.deepEqual(Object.keys((await server.call('GET', 'sys/audit')).body.data ?? {}), ['file/'])
  assert.equal((await server.call('POST', 'sys/audit-hash/other', { input: 'x' })).status, 400)
})

test('4.18: the configuration can keep requests from making devices', async () => {
  const server = await startMemoryServer({ audit: { settings: { declared: [], allowsApi: false } } })
  const { status, body } = await server.call('POST', 'sys/audit/file', {
    type: 'file',
    options: { file_path: join(directory.path, `never-${++count}.log`) },
  })
  assert.equal(status, 400)
  assert.match(String((body.errors as unknown as string[])[0]), /unsafe_allow_api_audit_creation = false/)
})

test('declared devices are there at the first request, and only the file takes them away', async () => {
  const file = join(directory.path, `declared-${++count}.log`)
  const device = {
    path: 'log/',
    type: 'file',
    description: '',
    options: { file_path: file, prefix: 'kw ' },
    local: false,
  }
  const settings = { declared: [device], allowsApi: true }
  const first = await startMemoryServer({ audit: { settings } })
  await first.call('GET', 'sys/mounts')
  const { status, body } = await first.call('DELETE', 'sys/audit/log')
  assert.equal(status, 400)
  assert.match(String((body.errors as unknown as string[])[0]), /take audit "file" "log" out of it/)
  const hash = await hashOf(first, 'x', 'log')
  await first.node.audit.stop()
  assert.match(readFileSync(file, 'utf8'), /^kw \{"time":/)
  const key = first.shares[0] as Buffer
  const second = await startMemoryServer({ audit: { settings }, store: first.store, key })
  assert.equal(await hashOf(second, 'x', 'log'), hash)
  await second.node.audit.stop()
  assert.deepEqual(verifyLog(file).faults, [])
  const third = await startMemoryServer({ store: first.store, key })
  assert.deepEqual((await third.call('GET', 'sys/audit')).body.data, {})
})

const coreOf = ({ node }: MemoryServer): View => node.storage.view(systemScope, 'root/core/')

const declaredAt = (path: string, file: string): ShownDevice => ({
  path,
  type: 'file',
  description: 'declared',
  options: { file_path: file },
  local: false,
})

test('F8: a declared device neither deletes nor hides the one that a request made at its path', async () => {
  const first = await start()
  const key = first.shares[0] as Buffer
  const before = await hashOf(first, 'x')
  await first.node.audit.stop()
  const file = join(directory.path, `declared-${++count}.log`)
  const settings = { declared: [declaredAt('file/', file)], allowsApi: true }
  const both = await startMemoryServer({ audit: { settings }, store: first.store, key })
  const lines = (path: string): number => readFileSync(path, 'utf8').split('\n').length
  const linesBefore = lines(first.file)
  await both.call('GET', 'sys/mounts')
  assert.ok(lines(first.file) > linesBefore)
  assert.ok(lines(file) > 1)
  const shown = (await both.call('GET', 'sys/audit')).body.data ?? {}
  assert.deepEqual(
    Object.values(shown).map((one) => (one as ShownDevice).options.file_path),
    [first.file],
  )
  assert.equal(await hashOf(both, 'x'), before)
  assert.equal((await both.call('DELETE', 'sys/audit/file')).status, 204)
  assert.match(String((await both.call('DELETE', 'sys/audit/file')).body.errors), /take audit "file" "file" out of it/)
  await both.node.audit.stop()
  const last = await startMemoryServer({ store: first.store, key })
  assert.deepEqual((await last.call('GET', 'sys/audit')).body.data, {})
})

test('F8: what earlier releases stored as local moves when the server opens, and stays on it', async () => {
  const file = join(directory.path, `declared-${++count}.log`)
  const settings = { declared: [declaredAt('log/', file)], allowsApi: true }
  const old = await startMemoryServer({ audit: { settings } })
  const hash = await hashOf(old, 'x', 'log')
  const core = coreOf(old)
  await old.node.audit.stop()
  const [uuid = ''] = await core.list('declared-audit/')
  const moved = { [`declared-audit/${uuid}`]: `local-audit/${uuid}`, 'audit-history': 'audit-origin' }
  for (const [now, then] of Object.entries(moved)) {
    const bytes = (await core.get(now)) ?? assert.fail(now)
    await core.transaction(async (tx) => tx.delete(now))
    await core.transaction(async (tx) => tx.put(then, bytes))
  }
  const said: string[] = []
  const log = (_level: string, message: string): void => void said.push(message)
  const again = await startMemoryServer({ audit: { settings }, store: old.store, key: old.shares[0] as Buffer, log })
  assert.equal(await hashOf(again, 'x', 'log'), hash)
  for (const [now, then] of Object.entries(moved)) {
    assert.notEqual(await core.get(now), undefined, now)
    assert.equal(await core.get(then), undefined, then)
  }
  assert.deepEqual(
    said.filter((one) => one.includes('restored')),
    [],
  )
  await again.node.audit.stop()
})

test('F8: a device that cannot be opened here keeps no server sealed, and alone it lets nothing be done', async () => {
  const first = await start()
  const core = coreOf(first)
  const [uuid = ''] = await core.list('audit/')
  const stored = JSON.parse(((await core.get(`audit/${uuid}`)) ?? assert.fail('no device')).toString())
  const put = (path: string, device: object): Promise<void> =>
    core.transaction(async (tx) => tx.put(path, Buffer.from(JSON.stringify(device))))
  const newer = { ...stored, uuid: UUID, path: 'newer/', type: 'tape' }
  await put(`audit/${UUID}`, newer)
  await first.node.audit.stop()
  const said: string[] = []
  const log = (level: string, message: string): void => void said.push(`${level}: ${message}`)
  const server = await startMemoryServer({ store: first.store, key: first.shares[0] as Buffer, log })
  assert.equal((await server.call('GET', 'sys/mounts')).status, 200)
  assert.deepEqual(
    said.filter((one) => one.includes('udit device')),
    ['error: An audit device cannot be opened and records nothing'],
  )
  await core.transaction(async (tx) => tx.delete(`audit/${uuid}`))
  assert.equal((await server.call('GET', 'sys/mounts')).status, 500)
  await put(`audit/${UUID}`, { ...newer, type: 'file' })
  assert.equal((await server.call('GET', 'sys/mounts')).status, 200)
  await server.node.audit.stop()
})

test('F8: a store without the keys of this cluster and of its set gets them when it is opened', async () => {
  const first = await startMemoryServer()
  const core = coreOf(first)
  const names = ['audit-key', 'index-key']
  const made = await Promise.all(names.map((name) => core.get(name)))
  assert.deepEqual(
    made.map((bytes) => bytes?.length),
    [48, 32],
  )
  for (const name of names) await core.transaction(async (tx) => tx.delete(name))
  await startMemoryServer({ store: first.store, key: first.shares[0] as Buffer })
  const again = await Promise.all(names.map((name) => core.get(name)))
  assert.deepEqual(
    again.map((bytes) => bytes?.length),
    [48, 32],
  )
  const index = await first.store.lastIndex()
  await startMemoryServer({ store: first.store, key: first.shares[0] as Buffer })
  const changes = await first.store.changesSince(index, 100)
  const written = changes.flatMap(({ operations }) => operations.map(({ key }) => key))
  assert.deepEqual(
    written.filter((key) => /audit-key|index-key|sys\/token/.test(key)),
    [],
  )
})

test('the running server tells how far its chains are', async () => {
  const server = await start()
  await server.call('GET', 'transit/keys/k')
  const { body } = await server.call('GET', 'sys/audit-streams')
  const streams = body.data?.streams as readonly ServerChain[]
  const publicKey = String(body.data?.public_key)
  assert.deepEqual(verifyLog(server.file, { publicKey, server: streams }).faults, [])
  const cut = readFileSync(server.file, 'utf8').split('\n').slice(0, -4).join('\n')
  const shorter = join(directory.path, `cut-${++count}.log`)
  appendFileSync(shorter, `${cut}\n`)
  assert.match(verifyLog(shorter, { publicKey, server: streams }).faults.join(), /the server wrote chain/)
  await server.node.audit.stop()
})

test('an audit device in the data directory is refused, by whatever way its path goes there', async (context) => {
  const { path, cleanUp } = temporaryDirectory()
  context.after(cleanUp)
  const data = join(path, 'data')
  mkdirSync(data)
  symlinkSync(data, join(path, 'link'))
  const settings = { declared: [], allowsApi: true, dataDirectory: data }
  const own = await startMemoryServer({ audit: { settings } })
  const enable = (name: string, file: string) =>
    own.call('POST', `sys/audit/${name}`, { type: 'file', options: { file_path: file } })
  for (const file of [join(data, 'a.log'), join(path, 'link/a.log'), `${path}/x/../data/a.log`]) {
    const { status, body } = await enable('inside', file)
    assert.equal(status, 400, file)
    assert.match(String(body.errors), /option file_path: .*data directory.*outside it/)
  }
  assert.deepEqual(readdirSync(data), [])
  assert.equal((await enable('beside', join(path, 'a.log'))).status, 204)
  await own.node.audit.stop()
})
