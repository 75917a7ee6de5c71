// Policies, and what is told about them, in the namespaces of a whole server. What they allow there is compared with an
// oracle in test/coverage/namespace-policies.test.ts.
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { type PlantedNamespaces, plantNamespaces } from '../../../test/fixtures/planted-namespaces.ts'

let tree: PlantedNamespaces
beforeEach(async () => {
  tree = await plantNamespaces('w/', 'w/in/', 'w/in/deep/', 'wx/', 'x/')
})

const read = (path: string): object => ({ policy: `path "${path}" { capabilities = ["read", "update"] }` })
const errorsOf = ({ body }: { readonly body: Readonly<Record<string, unknown>> }): string => JSON.stringify(body.errors)

test('each namespace has its policies: the built-in ones, and no root outside the root', async () => {
  const { ask, must } = tree
  await must('', 'POST', 'sys/policies/acl/default', read('of-the-root'))
  await must('w/', 'POST', 'sys/policy/p', read('t'))
  const listed = async (namespace: string) => (await must(namespace, 'LIST', 'sys/policies/acl')).body.data?.keys
  assert.deepEqual(await listed(''), ['default', 'root'])
  assert.deepEqual(await listed('w/'), ['default', 'p'])
  assert.deepEqual(await listed('w/in/'), ['default'])
  assert.ok(String((await must('w/', 'GET', 'sys/policy/default')).body.data?.rules).includes('auth/token/lookup-self'))
  assert.deepEqual((await ask('', 'GET', 'sys/policies/acl/p')).status, 404)
  assert.equal((await ask('w/', 'GET', 'sys/policies/acl/root')).status, 404)
  assert.equal((await ask('w/', 'POST', 'sys/policies/acl/root', read('t'))).status, 400)
  assert.equal((await ask('w/', 'DELETE', 'sys/policies/acl/default')).status, 400)
  await must('w/in/', 'DELETE', 'sys/policies/acl/p')
  assert.deepEqual(await listed('w/'), ['default', 'p'])
})

test('password policies are of a namespace', async () => {
  const { ask, must } = tree
  const policy = (letter: string) => ({ policy: `length = 4\nrule "charset" { charset = "${letter}" }` })
  await must('', 'POST', 'sys/policies/password/pp', policy('a'))
  await must('w/', 'POST', 'sys/policies/password/pp', policy('b'))
  const made = async (namespace: string) =>
    (await must(namespace, 'GET', 'sys/policies/password/pp/generate')).body.data?.password
  assert.deepEqual([await made(''), await made('w/')], ['aaaa', 'bbbb'])
  assert.equal((await ask('w/in/', 'GET', 'sys/policies/password/pp')).status, 404)
  assert.equal((await ask('x/', 'LIST', 'sys/policies/password')).status, 404)
  await must('w/', 'DELETE', 'sys/policies/password/pp')
  assert.equal(await made(''), 'aaaa')
})

test('T16: a hint names the path within the namespace that was asked', async () => {
  const { ask, tokenOf } = tree
  const token = await tokenOf('w/', ['none'])
  const hint = 'this token needs the capability \\"read\\" on \\"sys/mounts\\"'
  for (const [namespace, path] of [
    ['w/in/', 'sys/mounts'],
    ['w/', 'in/sys/mounts'],
    ['', 'w/in/sys/mounts'],
  ] as const)
    assert.ok(errorsOf(await ask(namespace, 'GET', path, undefined, token)).includes(hint), `${namespace} ${path}`)
})

test('capabilities are asked within a namespace, and found by accessor only in the own one', async () => {
  const { ask, must, node, tokenOf } = tree
  await must('w/', 'POST', 'sys/policies/acl/p', read('in/t'))
  const token = await tokenOf('w/', ['default', 'p'])
  const told = async (namespace: string, paths: readonly string[]) =>
    (await must(namespace, 'POST', 'sys/capabilities', { token, paths })).body.data
  const granted = ['read', 'update']
  assert.deepEqual(await told('', ['w/in/t', 'in/t']), { 'w/in/t': granted, 'in/t': ['deny'] })
  assert.deepEqual(await told('w/', ['in/t', '/in/t', 'w/in/t']), {
    'in/t': granted,
    '/in/t': granted,
    'w/in/t': ['deny'],
  })
  assert.deepEqual(await told('w/in/', ['t', 'in/t']), { t: granted, 'in/t': ['deny'] })
  const self = (namespace: string, as: string) =>
    ask(namespace, 'POST', 'sys/capabilities-self', { paths: ['in/t'] }, as)
  assert.deepEqual((await self('w/', token)).body.data?.capabilities, granted)
  for (const namespace of ['', 'w/in/', 'x/']) assert.equal((await self(namespace, token)).status, 403, namespace)
  assert.deepEqual((await self('w/in/', 'root')).body.data?.capabilities, ['root'])
  const accessor = (await node.tokens.find(token))?.entry.accessor
  const byAccessor = (namespace: string) =>
    ask(namespace, 'POST', 'sys/capabilities-accessor', { accessor, paths: ['in/t'] })
  assert.deepEqual((await byAccessor('w/')).body.data?.capabilities, granted)
  for (const namespace of ['', 'w/in/', 'x/']) assert.equal((await byAccessor(namespace)).status, 400, namespace)
})

test('an explanation is about a path within the namespace, and names that of the policy', async () => {
  const { ask, must, node, tokenOf } = tree
  await must('w/', 'POST', 'sys/policies/acl/p', read('in/t'))
  const token = await tokenOf('w/', ['p'])
  const explained = async (namespace: string, fields: object) =>
    (await must(namespace, 'POST', 'sys/policies/explain', { operation: 'read', ...fields })).body.data ?? {}
  const rule = { policy: 'p', namespace: 'w/', path: 'in/t', line: 1 }
  for (const [namespace, path] of [
    ['', 'w/in/t'],
    ['w/', 'in/t'],
    ['w/in/', 't'],
  ] as const) {
    const found = await explained(namespace, { token, path })
    assert.deepEqual([found.allowed, found.path, found.rule], [true, path, rule], namespace)
  }
  assert.equal((await explained('w/in/', { token, path: 'in/t' })).allowed, false)
  assert.equal((await explained('w/', { policies: ['p'], path: 'in/t' })).allowed, true)
  assert.equal((await explained('', { policies: ['p'], path: 'w/in/t' })).allowed, false)
  const needs = await explained('w/', { token, path: 'in/sys/remount', operation: 'update' })
  assert.deepEqual(needs.needed, ['sudo', 'update'])
  const accessor = (await node.tokens.find(token))?.entry.accessor
  const body = { accessor, path: 'in/t', operation: 'read' }
  assert.equal((await ask('', 'POST', 'sys/policies/explain', body)).status, 400)
  assert.equal((await ask('w/', 'POST', 'sys/policies/explain', body)).status, 200)
})

test('all grants of a token are told with whole paths, and to a token of a child in its namespace alone', async () => {
  const { ask, must, tokenOf } = tree
  await must('w/', 'POST', 'sys/policies/acl/p', { policy: 'path "*" { capabilities = ["read"] }' })
  const token = await tokenOf('w/', ['p'])
  const told = (namespace: string, as?: string) => ask(namespace, 'GET', 'sys/internal/ui/resultant-acl', undefined, as)
  const data = { root: false, exact_paths: {}, glob_paths: { 'w/': { capabilities: ['read'] } }, chroot_namespace: '' }
  assert.deepEqual((await told('w/', token)).body.data, data)
  for (const namespace of ['', 'w/in/', 'x/']) assert.equal((await told(namespace, token)).status, 403, namespace)
  for (const namespace of ['', 'w/']) assert.equal((await told(namespace)).body.data?.root, true)
})

test('user interfaces are told the namespaces below in which the caller may do something, of all levels', async () => {
  const { ask, must, tokenOf } = tree
  const told = (namespace: string, as?: string) => ask(namespace, 'GET', 'sys/internal/ui/namespaces', undefined, as)
  const keys = async (namespace: string, as?: string) => (await told(namespace, as)).body.data
  assert.deepEqual(await keys(''), { keys: ['w/', 'w/in/', 'w/in/deep/', 'wx/', 'x/'] })
  assert.deepEqual(await keys('w/'), { keys: ['in/', 'in/deep/'] })
  assert.deepEqual(await keys('w/in/deep/'), {})
  await must('w/in/', 'POST', 'sys/policies/acl/p', read('t/x'))
  const token = await tokenOf('w/in/', ['p'])
  assert.deepEqual(await keys('', token), { keys: ['w/', 'w/in/'] })
  assert.deepEqual(await keys('w/', token), { keys: ['in/'] })
  assert.deepEqual(await keys('w/in/', token), {})
  assert.deepEqual(await keys('x/', token), {})
  assert.equal((await told('w/', '')).status, 403)
})

test('mounts are told to who may do something in them, by their paths within the namespace', async () => {
  const { ask, must, tokenOf } = tree
  await must('w/', 'POST', 'sys/mounts/t', { type: 'transit' })
  await must('w/', 'POST', 'sys/policies/acl/p', read('t/x'))
  const token = await tokenOf('w/', ['p'])
  const at = (namespace: string, path: string, as?: string) =>
    ask(namespace, 'GET', `sys/internal/ui/mounts${path}`, undefined, as)
  assert.deepEqual(Object.keys((await at('w/', '', token)).body.data?.secret ?? {}), ['t/'])
  assert.deepEqual((await at('', '', token)).body.data, { secret: {}, auth: {} })
  assert.equal((await at('w/', '/t', token)).body.data?.path, 't/')
  assert.equal((await at('', '/w/t', token)).body.data?.path, 'w/t/')
  assert.equal((await at('w/', '/sys', token)).status, 403)
  assert.equal((await at('w/', '/t', '')).status, 403)
})

test('which groups grant something is set in the root, for all', async () => {
  const { ask, must } = tree
  const path = 'sys/config/group-policy-application'
  const mode = async () => (await must('', 'GET', path)).body.data?.group_policy_application_mode
  assert.equal(await mode(), 'within_namespace_hierarchy')
  await must('', 'POST', path, { group_policy_application_mode: 'any' })
  assert.equal(await mode(), 'any')
  for (const body of [{}, { group_policy_application_mode: 'all' }, { group_policy_application_mode: '' }])
    assert.equal((await ask('', 'POST', path, body)).status, 400, JSON.stringify(body))
  for (const method of ['GET', 'POST']) assert.equal((await ask('w/', method, path)).status, 404)
  assert.equal(await mode(), 'any')
})

test('groups grant downwards, and everywhere as long as the setting says so: each change counts at once', async () => {
  const { ask, ids, must, tokenOf } = tree
  const homes = ['', 'w/', 'w/in/', 'x/']
  for (const home of homes) await must(home, 'POST', 'sys/policies/acl/of-group', read('sys/mounts'))
  const entity = String((await must('w/', 'POST', 'identity/entity', { name: 'ann' })).body.data?.id)
  for (const home of homes)
    await must(home, 'POST', 'identity/group', { policies: ['of-group'], member_entity_ids: [entity] })
  const token = await tokenOf('w/', ['own'], entity)
  const reached = async () => {
    const asked = homes.map(async (home) => (await ask(home, 'GET', 'sys/mounts', undefined, token)).status === 200)
    const each = await Promise.all(asked)
    return homes.filter((_, at) => each[at])
  }
  const external = async () => {
    const { data } = (await must('w/', 'POST', 'auth/token/lookup', { token })).body
    return [data?.identity_policies, data?.external_namespace_policies]
  }
  const set = (mode: string) =>
    must('', 'POST', 'sys/config/group-policy-application', { group_policy_application_mode: mode })
  const of = (...paths: readonly string[]) =>
    Object.fromEntries(paths.map((path) => [ids.get(path) ?? '', ['of-group']]))
  assert.deepEqual(await reached(), ['w/', 'w/in/'])
  assert.deepEqual(await external(), [['of-group'], of('w/in/')])
  await set('any')
  assert.deepEqual(await reached(), homes)
  assert.deepEqual(await external(), [['of-group'], of('', 'w/in/', 'x/')])
  await set('within_namespace_hierarchy')
  assert.deepEqual(await reached(), ['w/', 'w/in/'])
  await must('w/in/', 'DELETE', 'sys/namespaces/deep')
  await must('w/', 'DELETE', 'sys/namespaces/in')
  assert.deepEqual(await reached(), ['w/'])
  assert.deepEqual(await external(), [['of-group'], undefined])
  await must('w/', 'POST', 'sys/namespaces/in')
  await must('w/in/', 'POST', 'sys/policies/acl/of-group', read('sys/mounts'))
  assert.deepEqual(await reached(), ['w/'])
})
