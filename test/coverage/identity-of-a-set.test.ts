// What an operator changes on the primary ends what logins gave on a secondary, which has a half of it alone.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ROOT } from '../../src/api/namespace.ts'
import { keysOf, namesInRoot } from '../fixtures/identity-server.ts'
import { aliasOfEntity, CHANGES_OF_ALIASES } from '../fixtures/login-groups.ts'
import { startTwoClusters } from '../fixtures/two-clusters.ts'

/** Two clusters, and the entities of two logins on the secondary, one of them with a group. */
async function twoClustersWithGroup() {
  const pair = await startTwoClusters()
  const { primary, secondary } = pair
  await primary.call('POST', 'sys/auth/userpass', { type: 'userpass' })
  const mount = primary.node.mounts.find(ROOT, 'auth/userpass/')
  assert.ok(mount !== undefined)
  const group = await primary.call('POST', 'identity/group', { type: 'external', policies: ['p'] })
  const alias = { name: 'staff', mount_accessor: mount.accessor, canonical_id: group.body.data?.id }
  await primary.call('POST', 'identity/group-alias', alias)
  await pair.follow()
  const logIn = (name: string, groups: readonly string[]) =>
    secondary.node.identities.entityOfLogin(mount, { name, metadata: {} }, groups)
  const policiesOf = async (id: string) => {
    const subject = await secondary.node.identities.subject(id)
    return subject && namesInRoot(subject)
  }
  const [id, other] = [await logIn('ann', ['staff']), await logIn('bob', [])]
  await pair.follow()
  assert.deepEqual(await policiesOf(id), ['p'])
  return { ...pair, logIn, policiesOf, id, other }
}

for (const { name, change, isDone } of CHANGES_OF_ALIASES) {
  test(`F8: an alias that the primary saw ${name} gives no groups of before on a secondary`, async (t) => {
    const { primary, secondary, close, follow, logIn, policiesOf, id, other } = await twoClustersWithGroup()
    t.after(close)
    const given = await keysOf(secondary, 'local-identity/')
    assert.equal(given.length, 2)
    await change(primary, id, other)
    await follow()
    assert.ok(await isDone(secondary, id))
    assert.deepEqual(await policiesOf(id), [])
    await secondary.node.aliasSweep.runNow()
    assert.deepEqual(await keysOf(secondary, 'local-identity/'), given)
    await secondary.node.aliasSweep.runNow()
    assert.deepEqual(await keysOf(secondary, 'local-identity/'), [])
    const alias = await aliasOfEntity(secondary, id)
    assert.equal(await logIn(String(alias?.name), ['staff']), id)
    assert.deepEqual(await policiesOf(id), ['p'])
  })
}

test('F8: groups of a login count once its alias has come, whatever the secondary knew of it before', async (t) => {
  const { primary, close, follow, cut, logIn, policiesOf, id } = await twoClustersWithGroup()
  t.after(close)
  const alias = await aliasOfEntity(primary, id)
  await primary.call('POST', `identity/entity-alias/id/${alias?.id}`, { name: 'new' })
  assert.equal(await logIn('new', ['staff']), id, 'the primary knows it')
  assert.deepEqual(await policiesOf(id), [])
  await follow()
  assert.deepEqual(await policiesOf(id), ['p'])
  cut()
  assert.equal(await logIn('new', ['staff']), id)
  assert.deepEqual(await policiesOf(id), ['p'])
})
