// The thread that serves and the one that writes, in a real process: what was answered holds for the next request.
import { strict as assert } from 'node:assert'
import { after, before, test } from 'node:test'
import { api, type ServerProcess, startServerProcess, temporaryDirectory } from '../../fixtures/server-process.ts'
import { until } from '../../fixtures/until.ts'

const ROUNDS = 100

let server: ServerProcess
const directory = temporaryDirectory()
before(async () => {
  server = await startServerProcess({ directory: `${directory.path}/data` })
  await api(server, 'POST', 'sys/mounts/transit', { type: 'transit' })
})
after(async () => {
  await server.stop()
  directory.cleanUp()
})

const tokenOf = (body: Record<string, unknown>): string => String((body.auth as Record<string, unknown>).client_token)

test('P-28: a revoked token is refused at the next request', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const token = tokenOf((await api(server, 'POST', 'auth/token/create', { policies: ['default'] })).body)
    assert.equal((await api(server, 'GET', 'auth/token/lookup-self', undefined, token)).status, 200)
    await api(server, 'POST', 'auth/token/revoke', { token })
    assert.equal((await api(server, 'GET', 'auth/token/lookup-self', undefined, token)).status, 403, `round ${round}`)
  }
})

test('A-12: a changed policy counts from the next request on', async () => {
  const token = tokenOf((await api(server, 'POST', 'auth/token/create', { policies: ['p'] })).body)
  for (let round = 0; round < ROUNDS; round++) {
    const granted = round % 2 === 0
    const policy = `path "sys/mounts" { capabilities = ["${granted ? 'read' : 'deny'}"] }`
    await api(server, 'POST', 'sys/policies/acl/p', { policy })
    assert.equal(
      (await api(server, 'GET', 'sys/mounts', undefined, token)).status,
      granted ? 200 : 403,
      `round ${round}`,
    )
  }
})

test('a rotated key encrypts with its new version at the next request', async () => {
  await api(server, 'POST', 'transit/keys/k')
  for (let version = 2; version < ROUNDS; version++) {
    await api(server, 'POST', 'transit/keys/k/rotate')
    const { body } = await api(server, 'POST', 'transit/encrypt/k', { plaintext: 'YQ==' })
    assert.equal(body.data?.key_version, version)
  }
})

test('a key made by encrypt, read by the other thread, deleted, is gone at the next request', async () => {
  for (let round = 0; round < ROUNDS / 4; round++) {
    assert.equal((await api(server, 'POST', 'transit/encrypt/fresh', { plaintext: 'YQ==' })).status, 200)
    await api(server, 'POST', 'transit/keys/fresh/config', { deletion_allowed: true })
    assert.equal((await api(server, 'DELETE', 'transit/keys/fresh')).status, 204)
    assert.equal((await api(server, 'GET', 'transit/keys/fresh')).status, 404, `round ${round}`)
  }
})

test('a mount is there, and gone, at the next request, and its data with it', async () => {
  for (let round = 0; round < ROUNDS / 4; round++) {
    await api(server, 'POST', 'sys/mounts/second', { type: 'transit' })
    assert.equal((await api(server, 'POST', 'second/keys/k')).status, 200)
    assert.equal((await api(server, 'DELETE', 'sys/mounts/second')).status, 204)
    assert.equal((await api(server, 'GET', 'second/keys/k')).status, 404, `round ${round}`)
    await api(server, 'POST', 'sys/mounts/second', { type: 'transit' })
    assert.equal(
      (await api(server, 'GET', 'second/keys/k')).status,
      404,
      'a new mount at the path has none of the old data',
    )
    await api(server, 'DELETE', 'sys/mounts/second')
  }
})

test('a limited token serves exactly so many requests, though the thread that serves cannot count', async () => {
  const token = tokenOf((await api(server, 'POST', 'auth/token/create', { num_uses: 7 })).body)
  const answers = await Promise.all(
    Array.from({ length: 40 }, () => api(server, 'GET', 'auth/token/lookup-self', undefined, token)),
  )
  assert.equal(answers.filter(({ status }) => status === 200).length, 7)
})

test('sealing closes both threads, unsealing opens both', async () => {
  const shown = /Unseal Key: (\S+)/.exec(server.output())?.[1]
  assert.equal((await api(server, 'PUT', 'sys/seal')).status, 204)
  assert.equal((await api(server, 'POST', 'transit/encrypt/k', { plaintext: 'YQ==' })).status, 503)
  assert.equal((await api(server, 'POST', 'transit/keys/k/rotate')).status, 503)
  assert.equal((await api(server, 'PUT', 'sys/unseal', { key: shown })).status, 200)
  assert.equal((await api(server, 'POST', 'transit/encrypt/k', { plaintext: 'YQ==' })).status, 200)
  assert.equal((await api(server, 'POST', 'transit/keys/k/rotate')).status, 200)
})

test('P-28, T-03: the end of a parent is the end of its children and batch tokens at the next request', async () => {
  const policy = 'path "auth/token/*" { capabilities = ["create", "update", "read", "sudo"] }'
  await api(server, 'POST', 'sys/policies/acl/maker', { policy })
  const isLive = async (token: string): Promise<boolean> =>
    (await api(server, 'GET', 'auth/token/lookup-self', undefined, token)).status === 200
  for (let round = 0; round < ROUNDS / 4; round++) {
    const make = async (fields: object, by?: string): Promise<string> =>
      tokenOf((await api(server, 'POST', 'auth/token/create', { policies: ['maker'], ...fields }, by)).body)
    const parent = await make({})
    const [child, batch] = [await make({}, parent), await make({ type: 'batch' }, parent)]
    const grandchild = await make({ type: 'batch' }, child)
    for (const token of [child, batch, grandchild]) assert.equal(await isLive(token), true)
    await api(server, 'POST', 'auth/token/revoke', { token: parent })
    for (const token of [child, batch, grandchild]) assert.equal(await isLive(token), false, `round ${round}`)
  }
})

test('P-29: a token with ten uses serves exactly ten of 1,000 requests at once, over all threads', async () => {
  const token = tokenOf((await api(server, 'POST', 'auth/token/create', { num_uses: 10 })).body)
  const answers = await Promise.all(
    Array.from({ length: 1_000 }, () => api(server, 'GET', 'auth/token/lookup-self', undefined, token)),
  )
  assert.equal(answers.filter(({ status }) => status === 200).length, 10)
  assert.equal(answers.filter(({ status }) => status === 403).length, 990)
})

test('a policy with an end grants nothing from then on, in every thread, without another write', async () => {
  const policy = 'path "sys/mounts" { capabilities = ["read"] }'
  // An end that this test does not reach, however long it takes.
  await api(server, 'POST', 'sys/policies/acl/short', { policy, ttl: '1h' })
  const token = tokenOf((await api(server, 'POST', 'auth/token/create', { policies: ['short'] })).body)
  const answers = () =>
    Promise.all(Array.from({ length: 20 }, () => api(server, 'GET', 'sys/mounts', undefined, token)))
  const statuses = async () => new Set((await answers()).map(({ status }) => status))
  assert.deepEqual(await statuses(), new Set([200]))
  await api(server, 'POST', 'sys/policies/acl/short', { policy, ttl: '2s' })
  await new Promise((done) => setTimeout(done, 2_010))
  assert.deepEqual(await statuses(), new Set([403]))
  await until(async () => {
    const { keys } = (await api(server, 'GET', 'sys/policies/acl?list=true')).body.data as { keys: string[] }
    return !keys.includes('short')
  }, 'the policy that ended is listed no more')
})

test('I-05: a name that is locked out is so over all threads, and unlocked over all threads', async () => {
  await api(server, 'POST', 'sys/auth/people', { type: 'userpass' })
  await api(server, 'POST', 'auth/people/users/ann', { password: 'right' })
  const mounts = (await api(server, 'GET', 'sys/auth')).body.data as Record<string, { accessor: string }>
  const logIn = async (password: string) =>
    (await api(server, 'POST', 'auth/people/login/ann', { password }, '')).status
  const guesses = await Promise.all(Array.from({ length: 40 }, () => logIn('wrong')))
  assert.equal(guesses.filter((status) => status === 400).length, 5)
  // Each comes by a connection of its own choice: some to each thread.
  assert.deepEqual(new Set(await Promise.all(Array.from({ length: 40 }, () => logIn('right')))), new Set([403]))
  await api(server, 'POST', `sys/locked-users/${mounts['people/']?.accessor}/unlock/ann`)
  assert.deepEqual(new Set(await Promise.all(Array.from({ length: 8 }, () => logIn('right')))), new Set([200]))
})

test('T-21, P-32: of 100 who unwrap at once, over all threads and in either form, one gets the answer', async () => {
  for (const format of ['', 'jwt']) {
    const answer = await fetch(`${server.address}/v1/sys/mounts`, {
      headers: { 'X-Vault-Token': 'root', 'X-Vault-Wrap-TTL': '60', 'X-Vault-Wrap-Format': format },
    })
    const { token } = ((await answer.json()) as { wrap_info: { token: string } }).wrap_info
    assert.equal(token.startsWith('eyJ'), format === 'jwt')
    const looked = await api(server, 'POST', 'sys/wrapping/lookup', { token }, '')
    assert.equal(looked.body.data?.creation_path, 'sys/mounts')
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        i % 2 === 0
          ? api(server, 'POST', 'sys/wrapping/unwrap', undefined, token)
          : api(server, 'POST', 'sys/wrapping/unwrap', { token }),
      ),
    )
    assert.equal(answers.filter(({ status }) => status === 200).length, 1)
    assert.equal(answers.filter(({ status }) => status === 400).length, 99)
  }
})

test('V-09: whoever asks the seal to change is noted once, whichever thread refuses or serves it', async () => {
  const noted = () =>
    server
      .output()
      .split('\n')
      .filter((line) => line.includes('The seal was asked to change')).length
  const before = noted()
  const unpermitted = await fetch(`${server.address}/v1/sys/seal`, { method: 'PUT' })
  assert.equal(unpermitted.status, 403)
  for (let i = 0; i < 3; i++) await api(server, 'PUT', 'sys/unseal', { key: 'AAAA' })
  await until(() => noted() >= before + 4, 'the lines in the log')
  assert.equal(noted() - before, 4)
})

test('headers that are recorded may have any name: writes go on', async () => {
  const names = ['constructor', 'toString', 'x-tenant']
  for (const name of names) {
    assert.equal((await api(server, 'POST', `sys/config/auditing/request-headers/${name}`, {})).status, 204)
  }
  assert.equal((await api(server, 'POST', 'transit/keys/recorded')).status, 200)
  for (const name of names) {
    assert.equal((await api(server, 'DELETE', `sys/config/auditing/request-headers/${name}`)).status, 204)
  }
})
