// Whole servers in virtual time: what a performance secondary serves by itself, what it hands over, and what it does
// without its primary.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeProtectedHeader } from 'jose'
import { ROOT } from '../../src/api/namespace.ts'
import type { CloudAuth } from '../../src/engines/cloud/cloud.ts'
import type { Transit } from '../../src/engines/transit/transit.ts'
import type { ReplicatedServer } from '../fixtures/replicated-server.ts'
import { performanceServers, type ReplicatedServers } from '../fixtures/replicated-servers.ts'

const plaintext = 'YQ=='
const LOGIN = 'auth/userpass/login/ann'

/** A set with a key and a user. */
async function started(seed: number) {
  const { servers, primary, secondary } = await performanceServers(seed)
  const level = () => servers.level(primary, secondary, 60_000, 'performance')
  await primary.must('POST', 'sys/mounts/transit', { type: 'transit' })
  await primary.must('POST', 'transit/keys/k', { exportable: true })
  await primary.must('POST', 'sys/auth/userpass', { type: 'userpass' })
  await primary.must('POST', 'auth/userpass/users/ann', { password: 'x' })
  await primary.must('POST', 'auth/userpass/users/bob', { password: 'x' })
  await servers.time.pass(12_000)
  await level()
  return { servers, primary, secondary, level }
}

const errorsOf = ({ body }: { readonly body: object }): string => String((body as { errors?: unknown }).errors)
type Auth = { readonly client_token: string; readonly entity_id: string; readonly policies: readonly string[] }
const logIn = async (cluster: ReplicatedServer, path = LOGIN): Promise<Auth> =>
  (await cluster.must('POST', path, { password: 'x' }, '')).body.auth as unknown as Auth
const sealed = async (cluster: ReplicatedServer, key = 'k') =>
  String((await cluster.must('POST', `transit/encrypt/${key}`, { plaintext })).body.data?.ciphertext)
const versionOf = (ciphertext: string): number => Number(ciphertext.split(':')[1]?.slice(1))

/** The token of a wrapped answer. */
async function wrapped({ time }: ReplicatedServers, { server, rootToken }: ReplicatedServer): Promise<string> {
  const { body } = await time.until(server.call('POST', 'sys/wrapping/wrap', { a: 1 }, rootToken, { wrapTtl: '60' }))
  return (body.wrap_info as { readonly token: string }).token
}

test('T71: with its link down a secondary reads, seals and logs known users in, also after a restart', async () => {
  const { servers, primary, secondary } = await started(1)
  const { entity_id: entity } = await logIn(secondary)
  const token = secondary.rootToken
  await servers.time.pass(1_000)
  servers.cut(primary, secondary)
  await servers.time.pass(20_000)
  for (const isRestarted of [false, true]) {
    if (isRestarted) {
      const [share] = primary.server.shares
      secondary.kill()
      await secondary.restart()
      await secondary.must('POST', 'sys/unseal', { key: share?.toString('hex') }, '')
      secondary.rootToken = token
    }
    assert.equal((await secondary.must('GET', 'transit/keys/k')).body.data?.latest_version, 1)
    const ciphertext = await sealed(secondary)
    assert.equal((await secondary.must('POST', 'transit/decrypt/k', { ciphertext })).body.data?.plaintext, plaintext)
    assert.equal((await logIn(secondary)).entity_id, entity)
    const { client_token } = await logIn(secondary)
    await secondary.must('POST', 'cubbyhole/mine', { a: 1 }, client_token)
    await secondary.must('POST', 'auth/token/renew-self', {}, client_token)
    await wrapped(servers, secondary)
  }
})

test('T71: with its link down what writes for the set is refused within ten seconds, never queued', async () => {
  const { servers, primary, secondary, level } = await started(2)
  servers.cut(primary, secondary)
  // At once the link does not know of it yet; later it does.
  for (const waitMs of [0, 20_000]) {
    await servers.time.pass(waitMs)
    for (const [method, path, body] of [
      ['POST', 'transit/keys/new', {}],
      ['POST', 'transit/encrypt/upserted', { plaintext }],
      ['POST', 'transit/keys/k/rotate', {}],
      ['POST', 'sys/policies/acl/p', { policy: 'path "a" {}' }],
      ['DELETE', 'sys/mounts/transit', undefined],
      ['POST', 'auth/userpass/login/bob', { password: 'x' }],
    ] as const) {
      const startMs = servers.time.nowMs
      const answer = await secondary.call(method, path, body)
      assert.equal(answer.status, 503, `${path} ${JSON.stringify(answer.body)}`)
      assert.match(errorsOf(answer), /primary.*https:\/\/one:8200/)
      assert.ok(servers.time.nowMs - startMs <= 10_000, `${path} took ${servers.time.nowMs - startMs} ms`)
    }
  }
  servers.heal(primary, secondary)
  await servers.time.pass(30_000)
  await level()
  assert.deepEqual((await primary.must('LIST', 'transit/keys')).body.data?.keys, ['k'])
  assert.equal((await primary.must('GET', 'transit/keys/k')).body.data?.latest_version, 1)
  assert.equal((await primary.call('GET', 'sys/policies/acl/p')).status, 404)
  await secondary.must('POST', 'transit/keys/new')
})

/** Notes the jobs that the transit mount at `path` has done elsewhere on this cluster. */
function jobsOf({ server }: ReplicatedServer, path: string): string[] {
  const uuid = server.node.mounts.find(ROOT, path)?.uuid ?? assert.fail('the mount is there')
  const { slow } = server.node.mounts.engineOf(uuid) as Transit
  const { run } = slow
  const jobs: string[] = []
  Object.assign(slow, {
    run: (...[job, ...input]: Parameters<typeof run>) => {
      jobs.push(job.name)
      return run(job, ...input)
    },
  })
  return jobs
}

test('the wrapping key of a shared mount is made by the primary alone, and that of a local one here', async () => {
  const { servers, primary, secondary, level } = await started(12)
  await primary.must('POST', 'sys/mounts/later', { type: 'transit' })
  await secondary.must('POST', 'sys/mounts/own', { type: 'transit', local: true })
  await level()
  const made = { one: jobsOf(primary, 'transit/'), two: jobsOf(secondary, 'transit/') }
  const { public_key: key } = (await secondary.must('GET', 'transit/wrapping_key')).body.data ?? {}
  assert.deepEqual([made.two, made.one.length > 0], [[], true])
  await level()
  servers.cut(primary, secondary)
  await servers.time.pass(20_000)
  assert.equal((await secondary.must('GET', 'transit/wrapping_key')).body.data?.public_key, key)
  const later = jobsOf(secondary, 'later/')
  const refused = await secondary.call('GET', 'later/wrapping_key')
  assert.equal(refused.status, 503)
  assert.match(errorsOf(refused), /cannot be reached: nothing was written/)
  assert.deepEqual(later, [])
  await secondary.must('GET', 'own/wrapping_key')
})

test('each cluster signs identity tokens with its own keys, for local mounts too, and with its link down', async () => {
  const { servers, primary, secondary, level } = await started(13)
  await primary.must('POST', 'sys/auth/cloud', { type: 'cloud' })
  await level()
  await secondary.must('POST', 'sys/auth/own', { type: 'cloud', local: true })
  const signed = async ({ server }: ReplicatedServer, path: string) => {
    const uuid = server.node.mounts.find(ROOT, path)?.uuid ?? assert.fail('the mount is there')
    const cloud = server.node.mounts.engineOf(uuid) as CloudAuth
    const token = await servers.time.until(cloud.mintToken('aud', 60))
    return decodeProtectedHeader(token).kid
  }
  const kidsOf = async (cluster: ReplicatedServer): Promise<unknown[]> => {
    const { body } = await cluster.must('GET', 'identity/oidc/plugins/.well-known/keys', undefined, '')
    return (body.keys as { readonly kid: unknown }[]).map(({ kid }) => kid)
  }
  servers.cut(primary, secondary)
  await servers.time.pass(20_000)
  const kid = await signed(secondary, 'auth/own/')
  assert.equal(await signed(secondary, 'auth/cloud/'), kid)
  secondary.aheadMs = 25 * 3_600_000
  const next = await signed(secondary, 'auth/cloud/')
  const published = await kidsOf(secondary)
  assert.deepEqual([published[0], published[2]], [next, kid])
  servers.heal(primary, secondary)
  await servers.time.pass(30_000)
  await level()
  assert.deepEqual(await kidsOf(primary), [])
  const ofPrimary = await signed(primary, 'auth/cloud/')
  await level()
  // New keys of servers in virtual time come from one small stock, so two clusters may have drawn the same.
  assert.deepEqual([(await kidsOf(primary))[0], (await kidsOf(primary)).length], [ofPrimary, 2])
  assert.deepEqual(await kidsOf(secondary), published)
})

test('T73: the primary judges a handed request by its own policies, and refuses what is not for it', async () => {
  const { primary, secondary, level } = await started(3)
  const policy = (path: string) => ({ policy: `path "${path}" { capabilities = ["create", "update", "delete"] }` })
  await primary.must('POST', 'sys/policies/acl/maker', policy('transit/keys/*'))
  await level()
  const made = await secondary.must('POST', 'auth/token/create', { policies: ['maker'], no_default_policy: true })
  const token = (made.body.auth as unknown as Auth).client_token
  await secondary.must('POST', 'transit/keys/mine', {}, token)
  // The primary takes it back, and its secondary has not heard of it.
  await primary.must('POST', 'sys/policies/acl/maker', policy('transit/keys/none'))
  const refused = await secondary.call('POST', 'transit/keys/other', {}, token)
  assert.equal(refused.status, 403)
  assert.match(errorsOf(refused), /permission denied/)
  assert.equal((await primary.call('GET', 'transit/keys/other')).status, 404)
  await secondary.must('POST', 'sys/mounts/own', { type: 'transit', local: true })
  await secondary.must('POST', 'own/keys/k')
  assert.equal((await primary.call('GET', 'own/keys/k')).status, 404)
  for (const [path, body] of [
    ['sys/rekey/init', { secret_shares: 1, secret_threshold: 1 }],
    ['sys/storage/snapshot', {}],
  ] as const) {
    const answer = await secondary.call('POST', path, body)
    assert.equal(answer.status, 400, path)
    assert.match(errorsOf(answer), /send the request to the primary/)
  }
})

test('T74: while a key is rotated a secondary seals, with versions that the primary has, in order', async () => {
  const { servers, primary, secondary } = await started(4)
  let last = 1
  for (let turn = 0; turn < 40; turn++) {
    if (turn % 8 === 3) await primary.must('POST', 'transit/keys/k/rotate')
    const ciphertext = await sealed(secondary)
    const version = versionOf(ciphertext)
    assert.ok(version >= last, `${version} behind ${last}`)
    last = version
    assert.equal((await primary.must('POST', 'transit/decrypt/k', { ciphertext })).body.data?.plaintext, plaintext)
    await servers.time.pass(20)
  }
  assert.equal(last, 6)
})

test('T75: what the primary lets no one decrypt any more a secondary does not either, once it has heard', async () => {
  const { primary, secondary, level } = await started(5)
  const old = await sealed(secondary)
  await secondary.must('POST', 'transit/keys/k/rotate')
  await primary.must('POST', 'transit/keys/k/rotate')
  await level()
  assert.equal((await secondary.must('POST', 'transit/decrypt/k', { ciphertext: old })).body.data?.plaintext, plaintext)
  await secondary.must('POST', 'transit/keys/k/config', { min_decryption_version: 2, min_encryption_version: 2 })
  await level()
  assert.equal((await secondary.call('POST', 'transit/decrypt/k', { ciphertext: old })).status, 400)
  await primary.must('POST', 'transit/keys/k/trim', { min_available_version: 2 })
  await level()
  assert.equal((await secondary.must('GET', 'transit/keys/k')).body.data?.min_available_version, 2)
  assert.equal((await secondary.call('POST', 'transit/decrypt/k', { ciphertext: old })).status, 400)
  assert.equal(versionOf(await sealed(secondary)), 3)
})

test('T76: a policy that the primary tightens holds on the secondary, for tokens that it gave before', async () => {
  const { primary, secondary, level } = await started(6)
  const policy = (capability: string) => ({ policy: `path "transit/keys/k" { capabilities = ["${capability}"] }` })
  await primary.must('POST', 'sys/policies/acl/reader', policy('read'))
  await level()
  for (const type of ['service', 'batch']) {
    const made = await secondary.must('POST', 'auth/token/create', { policies: ['reader'], type })
    const token = (made.body.auth as unknown as Auth).client_token
    assert.equal((await secondary.call('GET', 'transit/keys/k', undefined, token)).status, 200)
    await primary.must('POST', 'sys/policies/acl/reader', policy('deny'))
    await level()
    assert.equal((await secondary.call('GET', 'transit/keys/k', undefined, token)).status, 403)
    await primary.must('POST', 'sys/policies/acl/reader', policy('read'))
    await level()
  }
})

test('a first login makes the entity on the primary; at a local mount the alias stays here', async () => {
  const { primary, secondary, level } = await started(7)
  const { entity_id: shared, client_token } = await logIn(secondary)
  const onPrimary = await primary.must('GET', `identity/entity/id/${shared}`)
  assert.ok(Array.isArray(onPrimary.body.data?.aliases) && onPrimary.body.data.aliases.length === 1)
  assert.equal((await primary.call('GET', 'auth/token/lookup-self', undefined, client_token)).status, 403)
  await secondary.must('POST', 'sys/auth/own', { type: 'userpass', local: true })
  await secondary.must('POST', 'auth/own/users/cy', { password: 'x' })
  const { entity_id: own } = await logIn(secondary, 'auth/own/login/cy')
  assert.notEqual(own, shared)
  await level()
  assert.deepEqual((await primary.must('GET', `identity/entity/id/${own}`)).body.data?.aliases, [])
  const here = (await secondary.must('GET', `identity/entity/id/${own}`)).body.data?.aliases as { name: string }[]
  assert.deepEqual(
    here.map(({ name }) => name),
    ['cy'],
  )
  // Policies and groups of the entity are of the set.
  await primary.must('POST', 'sys/policies/acl/keys', { policy: 'path "transit/keys/k" { capabilities = ["read"] }' })
  await primary.must('POST', 'identity/group', { name: 'staff', policies: ['keys'], member_entity_ids: [own] })
  await level()
  const { client_token: token } = await logIn(secondary, 'auth/own/login/cy')
  assert.equal((await secondary.call('GET', 'transit/keys/k', undefined, token)).status, 200)
})

test('an entity that is deleted on the primary leaves no login broken here', async () => {
  const { servers, primary, secondary, level } = await started(8)
  await secondary.must('POST', 'sys/auth/own', { type: 'userpass', local: true })
  await secondary.must('POST', 'auth/own/users/cy', { password: 'x' })
  for (const path of [LOGIN, 'auth/own/login/cy']) {
    const { entity_id: first, client_token: token } = await logIn(secondary, path)
    await level()
    await primary.must('DELETE', `identity/entity/id/${first}`)
    await level()
    assert.equal((await secondary.call('GET', 'auth/token/lookup-self', undefined, token)).status, 403, path)
    const { entity_id: second } = await logIn(secondary, path)
    assert.notEqual(second, first)
    await servers.time.pass(1_000)
    await level()
    assert.equal((await logIn(secondary, path)).entity_id, second)
    assert.equal((await primary.must('GET', `identity/entity/id/${second}`)).status, 200)
  }
})

test('lockout, quotas, leases and wrapped answers are of each cluster', async () => {
  const { servers, primary, secondary, level } = await started(9)
  await primary.must('POST', 'sys/quotas/rate-limit/few', { path: 'transit/', rate: 3, interval: '1h' })
  await primary.must('POST', 'auth/userpass/users/dan', { password: 'x' })
  await level()
  for (let attempt = 0; attempt < 6; attempt++)
    await secondary.call('POST', 'auth/userpass/login/dan', { password: 'wrong' }, '')
  assert.equal((await secondary.call('POST', 'auth/userpass/login/dan', { password: 'x' }, '')).status, 403)
  assert.equal((await primary.call('POST', 'auth/userpass/login/dan', { password: 'x' }, '')).status, 200)
  for (const cluster of [secondary, primary]) {
    const statuses: number[] = []
    for (let turn = 0; turn < 4; turn++) statuses.push((await cluster.call('GET', 'transit/keys/k')).status)
    assert.deepEqual(statuses, [200, 200, 200, 429], cluster.name)
  }
  const token = await wrapped(servers, secondary)
  assert.equal((await primary.call('POST', 'sys/wrapping/unwrap', { token })).status, 400)
  assert.equal((await secondary.must('POST', 'sys/wrapping/unwrap', { token })).body.data?.a, 1)
  const leases = async (cluster: ReplicatedServer) =>
    (await cluster.call('LIST', 'sys/leases/lookup/auth/userpass/login/ann')).body.data?.keys
  await logIn(secondary)
  await level()
  assert.deepEqual([((await leases(secondary)) as unknown[]).length, await leases(primary)], [1, undefined])
})

test('secret ids are looked up by a secondary also where the set never had a role', async () => {
  const { primary, secondary, level } = await started(13)
  await primary.must('POST', 'sys/auth/approle', { type: 'approle' })
  await level()
  for (const cluster of [secondary, primary]) {
    const role = 'auth/approle/role/r'
    assert.equal((await cluster.call('POST', `${role}/secret-id/lookup`, { secret_id: 'x' })).status, 204)
    const byAccessor = await cluster.call('POST', `${role}/secret-id-accessor/lookup`, { secret_id_accessor: 'x' })
    assert.equal(byAccessor.status, 404)
  }
  assert.deepEqual(
    secondary.server.logged.filter((line) => line.includes(' error ')),
    [],
  )
})

test('a login that the primary carries out is counted, and locked, where its caller is alone', async () => {
  const { servers, primary, secondary, level } = await started(12)
  await primary.must('POST', 'sys/auth/approle', { type: 'approle' })
  await primary.must('POST', 'auth/approle/role/r', { secret_id_num_uses: 50 })
  const { role_id } = (await primary.must('GET', 'auth/approle/role/r/role-id')).body.data ?? {}
  const { accessor } = (await primary.must('GET', 'sys/auth/approle')).body.data ?? {}
  // A use of it is counted on the primary.
  const { secret_id: good } = (await primary.must('POST', 'auth/approle/role/r/secret-id')).body.data ?? {}
  await level()
  const statusOf = async (cluster: ReplicatedServer, secret_id: unknown) =>
    (await cluster.call('POST', 'auth/approle/login', { role_id, secret_id }, '')).status
  const tried = async (cluster: ReplicatedServer, ...secrets: readonly unknown[]) => {
    const statuses: number[] = []
    for (const secret of secrets) statuses.push(await statusOf(cluster, secret))
    return statuses
  }
  const lockedOn = async (cluster: ReplicatedServer) => (await cluster.must('GET', 'sys/locked-users')).body.data?.total
  const four = ['bad', 'bad', 'bad', 'bad']
  for (const cluster of [primary, secondary])
    assert.deepEqual(
      await tried(cluster, ...four, good, ...four, good),
      [400, 400, 400, 400, 200, 400, 400, 400, 400, 200],
      cluster.name,
    )
  assert.deepEqual(await tried(primary, ...four, 'bad', good), [400, 400, 400, 400, 400, 403])
  assert.deepEqual([await lockedOn(primary), await lockedOn(secondary)], [1, 0])
  assert.equal(await statusOf(secondary, good), 200)
  assert.equal(await statusOf(primary, good), 403)
  // A secret id that is gone there, and is still here: what the primary says counts here, and not there.
  await primary.must('POST', `sys/locked-users/${accessor}/unlock/${role_id}`)
  for (let turn = 0; turn < 5; turn++) {
    const { secret_id } = (await primary.must('POST', 'auth/approle/role/r/secret-id')).body.data ?? {}
    await level()
    await primary.must('POST', 'auth/approle/role/r/secret-id/destroy', { secret_id })
    assert.equal(await statusOf(secondary, secret_id), 400)
  }
  assert.deepEqual([await lockedOn(primary), await lockedOn(secondary)], [0, 1])
  assert.deepEqual([await statusOf(primary, good), await statusOf(secondary, good)], [200, 403])
  await secondary.must('POST', `sys/locked-users/${accessor}/unlock/${role_id}`)
  // Nothing is known of the credentials while the primary is away.
  servers.cut(primary, secondary)
  await servers.time.pass(20_000)
  assert.deepEqual(await tried(secondary, good, good, good, good, good, good), [503, 503, 503, 503, 503, 503])
  assert.equal(await lockedOn(secondary), 0)
})

test('keys of the set rotate by themselves on the primary alone, those of a local mount here', async () => {
  const { servers, primary, secondary, level } = await started(10)
  await secondary.must('POST', 'sys/mounts/own', { type: 'transit', local: true })
  await secondary.must('POST', 'own/keys/k', { auto_rotate_period: '1h' })
  await primary.must('POST', 'transit/keys/k/config', { auto_rotate_period: '1h' })
  await level()
  const versions = async () => {
    const read = async (cluster: ReplicatedServer, path: string) =>
      (await cluster.must('GET', path)).body.data?.latest_version
    return [
      await read(primary, 'transit/keys/k'),
      await read(secondary, 'transit/keys/k'),
      await read(secondary, 'own/keys/k'),
    ]
  }
  servers.cut(primary, secondary)
  await servers.time.pass(3_700_000)
  assert.deepEqual(await versions(), [2, 1, 2])
  servers.heal(primary, secondary)
  await servers.time.pass(60_000)
  await level()
  assert.deepEqual(await versions(), [2, 2, 2])
  assert.ok(secondary.server.node.mounts.find(ROOT, 'own/')?.local)
})
