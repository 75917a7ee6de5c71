import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { idOf, NamespaceTree } from '../../test/fixtures/namespace-tree.ts'
import { type GroupPolicyMode, RightsFinder } from './rights.ts'
import type { Identities, NamespacedNames, Subject } from './subject.ts'

const TEAM = 'team/'
const given = (...paths: readonly string[]): readonly NamespacedNames[] =>
  paths.map((path) => ({ namespaceId: idOf(path), names: [`of ${path}`] }))

let namespaces: NamespaceTree
let subject: Subject | undefined
let mode: GroupPolicyMode
let rights: RightsFinder

beforeEach(() => {
  namespaces = new NamespaceTree('other/', TEAM, 'team/in/', 'team/in/deep/', 'teamster/')
  subject = { disabled: false, policies: [], loginGroups: [], key: 'e', resolve: () => undefined }
  mode = 'within_namespace_hierarchy'
  const identities = { subject: () => subject } as unknown as Identities
  rights = new RightsFinder({ identities, namespaces, mode: () => mode })
})

const token = (path: string, policies: readonly string[] = ['own'], entityId = 'e') => ({
  policies: [...policies],
  namespace: idOf(path),
  entityId,
})

async function namesOf(entry: ReturnType<typeof token>) {
  const { names, external } = (await rights.of(entry)).policies
  return [...names, ...external.flatMap((one) => one.names)]
}

test('groups grant in the namespace of the token and below, not beside and not above', async () => {
  const everywhere = given('', 'other/', TEAM, 'team/in/', 'team/in/deep/', 'teamster/')
  subject = { ...(subject as Subject), policies: everywhere }
  const found = async (path: string) => namesOf(token(path))
  assert.deepEqual(await found(TEAM), ['own', 'of team/', 'of team/in/', 'of team/in/deep/'])
  assert.deepEqual(await found('team/in/'), ['own', 'of team/in/', 'of team/in/deep/'])
  assert.deepEqual(await found('other/'), ['own', 'of other/'])
  assert.equal((await found('')).length, 7)
})

test('in the mode any all groups grant, from the next request on', async () => {
  const everywhere = given('', 'other/', TEAM)
  subject = { ...(subject as Subject), policies: everywhere }
  const entry = token(TEAM)
  assert.deepEqual(await namesOf(entry), ['own', 'of team/'])
  mode = 'any'
  assert.deepEqual(await namesOf(entry), ['own', 'of team/', 'of ', 'of other/'])
  namespaces.put('other/', { isGoing: true })
  assert.deepEqual(await namesOf(entry), ['own', 'of team/', 'of '])
  mode = 'within_namespace_hierarchy'
  assert.deepEqual(await namesOf(entry), ['own', 'of team/'])
})

test('policies of a namespace that goes count no more, from the next request on', async () => {
  subject = { ...(subject as Subject), policies: given('team/in/') }
  const entry = token(TEAM)
  assert.deepEqual(await namesOf(entry), ['own', 'of team/in/'])
  namespaces.put('team/in/', { isGoing: true })
  assert.deepEqual(await namesOf(entry), ['own'])
  namespaces.remove('team/in/')
  assert.deepEqual(await namesOf(entry), ['own'])
})

test('the same parts give the same object again: caches go by it', async () => {
  const entry = token(TEAM)
  const first = rights.policiesOf(entry, subject)
  assert.equal(rights.policiesOf(entry, subject), first)
  assert.notEqual(rights.policiesOf(entry, { ...(subject as Subject), policies: given(TEAM) }), first)
  assert.notEqual(rights.policiesOf({ ...entry, namespace: idOf('other/') }, subject), first)
})

test('different names have different keys, whatever is in them', async () => {
  const policies = [
    token('', ['a', 'b']),
    token('', ['a","b']),
    token('', ['["a","b"]']),
    token(TEAM, ['a', 'b']),
    token('', []),
  ].map((entry) => rights.policiesOf(entry, undefined))
  const keys = (await Promise.all(policies)).map(({ key }) => key)
  assert.equal(new Set(keys).size, keys.length)
})

test('nothing can be added to root, and an entity that is gone or disabled leaves nothing', async () => {
  subject = { ...(subject as Subject), policies: given('') }
  assert.deepEqual((await rights.of(token('', ['root']))).policies.names, ['root'])
  subject = { ...(subject as Subject), disabled: true }
  assert.deepEqual(await namesOf(token('')), [])
  subject = undefined
  assert.deepEqual(await namesOf(token('')), [])
  assert.deepEqual(await namesOf(token('', ['own'], '')), ['own'])
})

test('answers tell policies of the own namespace from those of others', async () => {
  subject = { ...(subject as Subject), policies: given(TEAM, 'team/in/') }
  const { identity, external } = await rights.identityPoliciesOf(token(TEAM))
  assert.deepEqual([identity, external], [['of team/'], given('team/in/')])
})
