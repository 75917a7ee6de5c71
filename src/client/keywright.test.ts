import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { type ApiDouble, envelope, ROOT_TOKEN, refused, startApiDouble } from '../../test/fixtures/api-double.ts'
import { ERRORS } from '../api/errors.ts'
import type { RefusalRow } from '../api/refusals/row.ts'
import { mayBeDone } from './error-messages.ts'
import { ApiError, type ClientSettings, ConnectionError, Keywright } from './keywright.ts'

let api: ApiDouble
beforeEach(async () => {
  api = await startApiDouble()
})
afterEach(() => api.close())

function client(more: Partial<ClientSettings> = {}): Keywright {
  return new Keywright({ address: api.address, token: ROOT_TOKEN, ...more })
}

const asked = (): string[] => api.asked.map(({ method, target, body }) => `${method} ${target} ${body}`)

test('keywright: fields go into the path where the pattern names them, and into the body otherwise', async () => {
  const { ciphertext } = await client().write('transit/encrypt/:name', { name: 'x', plaintext: 'YQ==' })
  assert.equal(ciphertext, 'vault:v1:YQ==')
  assert.deepEqual(asked(), ['POST /v1/transit/encrypt/x {"plaintext":"YQ=="}'])
  const { headers } = api.asked[0] ?? assert.fail()
  assert.equal(headers['x-vault-token'], ROOT_TOKEN)
  assert.equal(headers['x-vault-request'], 'true')
  assert.equal(headers['content-type'], 'application/json')
})

test('keywright: reading gives the data, finding gives undefined where there is nothing', async () => {
  api.keys.set('x', 'ed25519')
  const key = await client().read('transit/keys/:name', { name: 'x' })
  assert.equal(key.type, 'ed25519')
  assert.equal(await client().find('transit/keys/:name', { name: 'none' }), undefined)
  await assert.rejects(
    client().read('transit/keys/:name', { name: 'none' }),
    (error) => error instanceof ApiError && error.status === 404 && error.nothingThere,
  )
})

test('keywright: a list is GET with list=true, and empty where there is nothing', async () => {
  assert.deepEqual(await client().list('transit/keys'), { keys: [] })
  api.keys.set('x', 'ed25519')
  assert.deepEqual((await client().list('transit/keys')).keys, ['x'])
  assert.deepEqual(asked(), ['GET /v1/transit/keys?list=true ', 'GET /v1/transit/keys?list=true '])
})

test('keywright: what is deleted answers nothing', async () => {
  assert.equal(await client().delete('transit/keys/:name', { name: 'x' }), undefined)
  assert.deepEqual(asked(), ['DELETE /v1/transit/keys/x '])
})

test('keywright: plain answers are what they are', async () => {
  assert.equal((await client().read('sys/seal-status')).sealed, false)
})

test('keywright: an answer with a token gives the token', async () => {
  api.answer = () => ({ status: 200, body: envelope({ auth: { client_token: 'hvs.new' } }) })
  const { client_token } = await client().write('auth/token/create', { ttl: '1h', policies: ['app'] })
  assert.equal(client_token, 'hvs.new')
})

test('keywright: with wrapping the answer is a wrapping token, and unwrap gives the envelope', async () => {
  const wrap_info = { token: 'hvs.wrap', accessor: 'a', ttl: 60, creation_time: 'T', creation_path: 'p' }
  const secret = envelope({ data: { plaintext: 'YQ==' } })
  api.answer = ({ target }) => ({
    status: 200,
    body: target === '/v1/sys/wrapping/unwrap' ? secret : envelope({ wrap_info }),
  })
  const info = await client().wrapping('1m').write('transit/decrypt/:name', { name: 'x', ciphertext: 'vault:v1:YQ==' })
  assert.equal(info.token, 'hvs.wrap')
  assert.equal(api.asked[0]?.headers['x-vault-wrap-ttl'], '1m')
  const opened = await client().unwrap<{ plaintext: string }>(info.token)
  assert.equal(opened.data.plaintext, 'YQ==')
  assert.equal(api.asked[1]?.headers['x-vault-token'], 'hvs.wrap')
  assert.equal(api.asked[1]?.headers['x-vault-wrap-ttl'], undefined)
})

test('keywright: mounts, namespaces and tokens of another kind', async () => {
  api.answer = () => ({ status: 204 })
  let token = 'hvs.1'
  const kw = client({ mounts: { transit: 'team/kms/' }, namespace: 'a', token: () => token })
  await kw.write('transit/keys/:name/rotate', { name: 'x' })
  token = 'hvs.2'
  await kw.with({ namespace: 'b', mounts: {} }).write('transit/keys/:name/rotate', { name: 'x' })
  const seen = api.asked.map(({ target, headers }) => [target, headers['x-vault-token'], headers['x-vault-namespace']])
  assert.deepEqual(seen, [
    ['/v1/team/kms/keys/x/rotate', 'hvs.1', 'a'],
    ['/v1/transit/keys/x/rotate', 'hvs.2', 'b'],
  ])
})

test('keywright: a namespace below the one of the client', async () => {
  const team = client().in('team/')
  for (const each of [
    team,
    team.in('a'),
    team.in('/a/b'),
    client({ namespace: 'x/' }).in('y'),
    team.with({ namespace: '' }),
  ])
    await each.read('sys/mounts').catch(() => undefined)
  assert.deepEqual(
    api.asked.map(({ headers }) => headers['x-vault-namespace']),
    ['team', 'team/a', 'team/a/b', 'x/y', undefined],
  )
})

test('keywright: what asks about the server itself has no namespace, and a PATCH is a merge patch', async () => {
  const team = client({ namespace: 'team' })
  await team.read('sys/health').catch(() => undefined)
  await team.send('PATCH', 'sys/namespaces/a', { custom_metadata: { n: null } }).catch(() => undefined)
  const [health, patch] = api.asked
  assert.equal(health?.headers['x-vault-namespace'], undefined)
  assert.deepEqual(
    [patch?.method, patch?.headers['content-type'], patch?.headers['x-vault-namespace'], patch?.body],
    ['PATCH', 'application/merge-patch+json', 'team', '{"custom_metadata":{"n":null}}'],
  )
})

test('keywright: what would lead to another path is not sent', async () => {
  for (const name of ['', 'a/b', '..', '.']) {
    await assert.rejects(client().read('transit/keys/:name', { name }), TypeError)
  }
  for (const path of ['', 'a//b', '../b', '/a']) {
    await assert.rejects(client().read('sys/mounts/:path...', { path }), TypeError)
  }
  assert.deepEqual(api.asked, [])
})

test('keywright: names are escaped', async () => {
  api.answer = () => ({ status: 204 })
  await client().read('sys/mounts/:path...', { path: 'a b/c?d' })
  assert.deepEqual(asked(), ['GET /v1/sys/mounts/a%20b/c%3Fd '])
})

test('keywright: a refusal says what was asked and what was said', async () => {
  const text = '2 errors occurred:\n\t* permission denied\n\t* needs update\n\n'
  api.answer = () => ({ status: 403, body: { errors: [text] } })
  const failed = await client()
    .write('transit/encrypt/:name', { name: 'x', plaintext: 'c2VjcmV0' })
    .catch((e) => e)
  assert.ok(failed instanceof ApiError)
  assert.deepEqual([failed.status, failed.messages], [403, ['permission denied', 'needs update']])
  const url = `${api.address}/v1/transit/encrypt/x`
  assert.deepEqual(failed.request, { method: 'POST', path: 'transit/encrypt/x', url })
  const said = 'POST transit/encrypt/x was answered with 403: permission denied; needs update'
  assert.equal(failed.message, said)
})

test('keywright: a batch of which items failed is an error with data', async () => {
  const data = { batch_results: [{ error: 'bad' }] }
  api.answer = () => ({ status: 400, body: envelope({ data }) })
  const failed = await client()
    .write('transit/encrypt/:name', { name: 'x' })
    .catch((e) => e)
  assert.ok(failed instanceof ApiError)
  assert.deepEqual([failed.status, failed.data], [400, data])
})

test('keywright: a plain answer with the status of an error keeps what it says', async () => {
  api.answer = () => ({ status: 501, body: { initialized: false, sealed: true } })
  const failed = await client()
    .read('sys/health')
    .catch((e) => e)
  assert.ok(failed instanceof ApiError)
  assert.deepEqual([failed.status, failed.data], [501, { initialized: false, sealed: true }])
})

test('keywright: warnings are handed on', async () => {
  api.answer = () => ({ status: 200, body: envelope({ warnings: ['mind'] }) })
  const warnings: string[] = []
  await client({ onWarning: (text, { path }) => warnings.push(`${path}: ${text}`) }).write('sys/seal')
  assert.deepEqual(warnings, ['sys/seal: mind'])
})

test('keywright: what may pass is tried again', async () => {
  api.answer = () => (api.asked.length === 1 ? refused(500, 'busy') : { status: 204 })
  await client().write('sys/seal')
  assert.equal(api.asked.length, 2)
})

for (const { status, message } of [
  { status: 400, message: 'bad' },
  { status: 501, message: 'not initialized' },
  { status: 503, message: 'Vault is sealed' },
  { status: 503, message: 'The primary gave no answer in time: whether the request was carried out is not known' },
]) {
  test(`keywright: ${status} "${message}" is not tried again`, async () => {
    api.answer = () => refused(status, message)
    await assert.rejects(client().write('sys/seal'), ApiError)
    assert.equal(api.asked.length, 1)
  })
}

test('keywright: a read that may have been carried out is tried again', async () => {
  const known = envelope({ data: { keys: ['k'] } })
  const late = refused(503, 'The request took too long; whether it was carried out is not known')
  api.answer = () => (api.asked.length === 1 ? late : { status: 200, body: known })
  assert.deepEqual(await client().list('transit/keys'), { keys: ['k'] })
  assert.equal(api.asked.length, 2)
})

test('keywright: each refusal that asks to look before a request is sent again keeps the client from that', () => {
  for (const [code, { status, message, remedy }] of Object.entries<RefusalRow>(ERRORS)) {
    const asksToLook = status >= 500 && remedy.includes('before it is sent again')
    assert.equal(mayBeDone(status, [(message as (...given: string[]) => string)('')]), asksToLook, code)
  }
})

test('keywright: a signal ends the request, and the wait between attempts', async () => {
  const abort = new AbortController()
  const reason = new Error('enough')
  api.answer = () => {
    if (api.asked.length === 1) queueMicrotask(() => abort.abort(reason))
    return refused(500, 'busy')
  }
  const { signal } = abort
  await assert.rejects(client({ retries: 9 }).write('sys/seal', {}, { signal }), (error) => error === reason)
  await assert.rejects(client().write('sys/seal', {}, { signal }), (error) => error === reason)
  assert.equal(api.asked.length, 1)
})

test('keywright: no answer in time, and no server at all', async () => {
  const slow = client({ timeoutMs: 30, fetch: hanging })
  const late = await slow.read('sys/health').catch((error) => error)
  assert.ok(late instanceof ConnectionError)
  assert.ok(late.timedOut)
  await api.close()
  const gone = await client()
    .read('sys/health')
    .catch((error) => error)
  assert.ok(gone instanceof ConnectionError)
  assert.ok(!gone.timedOut)
  assert.equal(gone.message, `GET ${api.address}/v1/sys/health: no answer came`)
})

const hanging: typeof fetch = (_, init) =>
  new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)))

test('keywright: an answer that is not of the API', async () => {
  api.answer = () => ({ status: 200, body: '<html>' })
  await assert.rejects(client().read('sys/health'), /is not JSON/)
})

test('keywright: a redirect of a standby is followed once', async () => {
  const active = await startApiDouble()
  api.answer = ({ target }) => ({ status: 307, headers: { Location: active.address + target } })
  await client()
    .write('transit/keys/:name', { name: 'x', type: 'ed25519' })
    .catch(() => {})
  assert.equal(active.asked[0]?.headers['x-vault-token'], ROOT_TOKEN)
  assert.equal(active.asked[0]?.body, '{"type":"ed25519"}')
  await active.close()
})

test('keywright: an address that is none', () => {
  assert.throws(() => new Keywright({ address: 'kms.example:8200' }), TypeError)
  assert.throws(() => new Keywright({ address: 'nowhere' }), TypeError)
})

/** Never called: the compiler must refuse the marked lines, and accept the others. */
export async function typesOnly(kw: Keywright): Promise<void> {
  // @ts-expect-error no such path
  await kw.read('transit/nothing')
  // @ts-expect-error the path has no such method
  await kw.delete('sys/health')
  // @ts-expect-error the name is missing
  await kw.write('transit/encrypt/:name')
  // @ts-expect-error no such field
  await kw.write('transit/encrypt/:name', { name: 'x', plain: '' })
  // @ts-expect-error a number is no text
  await kw.write('transit/encrypt/:name', { name: 'x', plaintext: 1 })
  const { wrap } = { wrap: kw.wrapping('5m') }
  const token: string = (await wrap.write('auth/token/create')).token
  const accessor: string = (await kw.write('auth/token/create')).accessor
  const sealed: boolean = (await kw.read('sys/seal-status')).sealed
  assert.ok(token && accessor && sealed)
}
