// A performance secondary hands over what is asked in a namespace; its primary judges the caller as one of that.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { SECONDARY, startTwoClusters, type TwoClusters } from '../fixtures/two-clusters.ts'

let pair: TwoClusters
before(async () => {
  pair = await startTwoClusters()
  const { primary } = pair
  for (const name of ['w1', 'w2']) {
    assert.equal((await primary.call('POST', `sys/namespaces/${name}`, {})).status, 200)
    assert.equal((await primary.call('POST', `${name}/sys/mounts/transit`, { type: 'transit' })).status, 204)
  }
  await primary.call('POST', 'sys/mounts/transit', { type: 'transit' })
  const policy = 'path "transit/*" { capabilities = ["create", "read", "update"] }'
  await primary.call('POST', 'w1/sys/policies/acl/keys', { policy })
  await pair.follow()
})
after(() => pair.close())

async function tokenIn(namespace: string, settings: object): Promise<string> {
  const { status, body } = await pair.secondary.call('POST', 'auth/token/create', settings, 'root', { namespace })
  assert.equal(status, 200, JSON.stringify(body))
  return (body.auth as { client_token: string }).client_token
}

test('a token of a namespace makes a key there, with the policies of that namespace', async () => {
  const { primary, secondary } = pair
  for (const settings of [{ policies: ['keys'] }, { policies: ['keys'], type: 'batch' }]) {
    const token = await tokenIn('w1', settings)
    const name = `of-${token.slice(0, 3)}`
    pair.handed()
    const made = await secondary.call('POST', `transit/keys/${name}`, {}, token, { namespace: 'w1' })
    assert.equal(made.status, 200, JSON.stringify(made.body))
    assert.deepEqual(pair.handed(), ['transit-key-create'])
    assert.equal((await primary.call('GET', `w1/transit/keys/${name}`)).status, 200)
    assert.equal((await primary.call('GET', `transit/keys/${name}`)).status, 404)
    for (const namespace of ['', 'w2'])
      assert.equal((await secondary.call('POST', 'transit/keys/other', {}, token, { namespace })).status, 403)
  }
})

test('a PATCH is handed over, and is a merge patch there as well', async () => {
  const { primary, secondary } = pair
  await primary.call('POST', 'sys/namespaces/w1', { custom_metadata: { kept: 'a', gone: 'b' } })
  await pair.follow()
  pair.handed()
  const body = { custom_metadata: { gone: null, fresh: 'c' } }
  const patched = await secondary.call('PATCH', 'sys/namespaces/w1?custom_metadata=x', body)
  assert.equal(patched.status, 200, JSON.stringify(patched.body))
  assert.deepEqual(pair.handed(), ['namespaces-patch'])
  const { data } = (await primary.call('GET', 'sys/namespaces/w1')).body
  assert.deepEqual(data?.custom_metadata, { kept: 'a', fresh: 'c' })
})

test('a policy of that name in another namespace is none of the token', async () => {
  const { secondary } = pair
  const token = await tokenIn('w2', { policies: ['keys'] })
  assert.equal((await secondary.call('POST', 'transit/keys/k', {}, token, { namespace: 'w2' })).status, 403)
  const ofRoot = await tokenIn('', { policies: ['keys'] })
  assert.equal((await secondary.call('POST', 'transit/keys/k', {}, ofRoot, { namespace: 'w1' })).status, 403)
})

test('the primary carries out nothing in a namespace that only the root offers', async () => {
  const { primary } = pair
  await primary.call('POST', 'w1/sys/policies/acl/all', { policy: 'path "*" { capabilities = ["update", "sudo"] }' })
  const namespace = primary.node.namespaces.byPath('w1/')?.id ?? ''
  const mount = [...primary.node.mounts.mounted()].find(({ path }) => path === 'w1/sys/')?.entry.uuid ?? ''
  const caller = { policies: ['all'], namespace, entityId: '', displayName: '', metadata: null, tokenType: 'service' }
  const device = { type: 'file', options: { file_path: '/nowhere/a.log' } }
  for (const [endpoint, path, body] of [
    ['audit-enable', 'audit/a', device],
    ['cors-write', 'config/cors', { enabled: true, allowed_origins: '*' }],
    ['group-policy-application-write', 'config/group-policy-application', { group_policy_application_mode: 'any' }],
    ['rotate', 'rotate', {}],
  ] as const) {
    const request = { id: 'a', endpoint, mount, path, givenNames: undefined, method: 'update' as const, query: '' }
    const rest = { contentType: undefined, passed: undefined, remoteAddress: '127.0.0.1', wrapTtlSeconds: 0 }
    const sent = { ...request, ...rest, body: Buffer.from(JSON.stringify(body)), caller } as never
    const refused = { name: 'Refusal', message: /unsupported path|namespace is not sealable/ }
    await assert.rejects(primary.node.core.answersTo(SECONDARY).carryOut(sent), refused, endpoint)
  }
})

test('no entity is made in a namespace that the primary has locked', async () => {
  const { primary, secondary } = pair
  await primary.call('POST', 'w2/sys/auth/userpass', { type: 'userpass' })
  await primary.call('POST', 'w2/auth/userpass/users/ann', { password: 'x' })
  await pair.follow()
  const { unlock_key } = (await primary.call('POST', 'sys/namespaces/api-lock/lock/w2')).body.data ?? {}
  // The secondary has not heard of it.
  const login = await secondary.call('POST', 'auth/userpass/login/ann', { password: 'x' }, '', { namespace: 'w2' })
  assert.equal(login.status, 503, JSON.stringify(login.body))
  await primary.call('POST', 'sys/namespaces/api-lock/unlock/w2', { unlock_key })
  await pair.follow()
})

test('the primary takes no caller that no token can be, and none into a namespace that is shut', async () => {
  const { primary } = pair
  const mount = [...primary.node.mounts.mounted()].find(({ path }) => path === 'w1/transit/')?.entry.uuid ?? ''
  const namespace = primary.node.namespaces.byPath('w1/')?.id ?? ''
  const other = primary.node.namespaces.byPath('w2/')?.id ?? ''
  const caller = { policies: ['keys'], namespace, entityId: '', displayName: '', metadata: null, tokenType: 'service' }
  const ask = (name: string, changes: object) =>
    primary.node.core.answersTo(SECONDARY).carryOut({
      id: 'a',
      endpoint: 'transit-key-create',
      mount,
      path: `keys/${name}`,
      givenNames: undefined,
      method: 'update',
      query: '',
      body: Buffer.from('{}'),
      contentType: undefined,
      passed: undefined,
      remoteAddress: '127.0.0.1',
      wrapTtlSeconds: 0,
      caller: { ...caller, ...changes } as never,
    })
  const refused = (status: number) => ({ name: 'Refusal', status })
  await assert.rejects(ask('x', { policies: ['root'] }), refused(403))
  await assert.rejects(ask('x', { namespace: other }), refused(403))
  await assert.rejects(ask('x', { namespace: 'abcdef' }), refused(403))
  for (const bad of ['', 'a/b', '../root', 'x'.repeat(40), 5, undefined])
    await assert.rejects(ask('x', { namespace: bad }), refused(400))
  assert.equal(((await ask('fine', {})).answer.data as { name: string }).name, 'fine')
  const { body } = await primary.call('POST', 'sys/namespaces/api-lock/lock/w1', {})
  await assert.rejects(ask('locked', {}), refused(503))
  const key = { unlock_key: body.data?.unlock_key }
  assert.equal((await primary.call('POST', 'sys/namespaces/api-lock/unlock/w1', key)).status, 204)
})

test('T-18: a secondary removes what it alone has of a namespace that its primary deleted', async () => {
  const { primary, secondary } = pair
  const made = await primary.call('POST', 'sys/namespaces/short', {})
  const id = String(made.body.data?.id)
  assert.equal((await primary.call('POST', 'sys/namespaces/other', {})).status, 200)
  await pair.follow()
  const inside = { namespace: 'short' }
  for (const name of ['here', 'moved']) {
    const settings = { type: 'transit', local: true }
    assert.equal((await secondary.call('POST', `sys/mounts/${name}`, settings, 'root', inside)).status, 204)
    assert.equal((await secondary.call('POST', `${name}/keys/k`, {}, 'root', inside)).status, 200)
  }
  await tokenIn('short', {})
  assert.equal((await secondary.call('POST', 'cubbyhole/x', { a: 1 }, 'root', inside)).status, 204)
  const move = { from: 'short/moved', to: 'other/moved' }
  assert.equal((await secondary.call('POST', 'sys/remount', move)).status, 200)
  const moved = [...secondary.node.mounts.mounted()].find(({ path }) => path === 'other/moved/')?.entry.uuid ?? ''
  assert.equal((await primary.call('DELETE', 'sys/namespaces/short')).status, 200)
  await pair.follow()
  const left = async () =>
    (await secondary.store.scan('', '', 100_000))
      .map(({ key }) => key)
      .filter((key) => key.includes(id) && !key.includes(moved))
  for (let turns = 0; turns < 10_000 && (await left()).length > 1; turns++)
    await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(await left(), [`root/core/gone-namespace/${id}`])
  assert.equal((await secondary.call('GET', 'moved/keys/k', undefined, 'root', { namespace: 'other' })).status, 200)
})
