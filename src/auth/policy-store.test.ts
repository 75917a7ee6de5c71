import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { MemoryView } from '../../test/fixtures/memory-view.ts'
import { idOf, NamespaceTree } from '../../test/fixtures/namespace-tree.ts'
import type { Log, LogFields } from '../lib/log.ts'
import { Invalidation } from '../storage/invalidation.ts'
import type { SealedStorage } from '../storage/sealed-storage.ts'
import type { AclOperation } from './permissions.ts'
import { CACHED_RULES, PolicyStore, type PolicySubject, policyFolder } from './policy-store.ts'
import { type PolicyNames, policyNamesOf } from './rights.ts'

const START_MS = Date.UTC(2026, 0, 1)

let view: MemoryView
let reads: string[]
let logged: LogFields[]
let nowMs: number
let namespaces: NamespaceTree
let store: PolicyStore

class CountingView extends MemoryView {
  override async get(path: string): Promise<Buffer | undefined> {
    reads.push(path)
    return super.get(path)
  }
}

beforeEach(() => {
  const views = new Map<string, MemoryView>()
  const invalidation = new Invalidation()
  const viewOf = (folder: string) => {
    const made = views.get(folder) ?? new CountingView()
    if (!views.has(folder)) made.onChange((path) => invalidation.changed(folder + path))
    views.set(folder, made)
    return made
  }
  view = viewOf(policyFolder('root'))
  namespaces = new NamespaceTree('a/', 'a/b/')
  reads = []
  logged = []
  nowMs = START_MS
  const storage = { view: (_scope: unknown, folder: string) => viewOf(folder) } as unknown as SealedStorage
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs }
  const log: Log = (_level, _message, fields) => logged.push(fields ?? {})
  store = new PolicyStore({ storage, namespaces, clock, invalidation, log })
})

const written = async (name: string, text: string): Promise<void> => {
  assert.equal(await store.write('root', name, { text, cas: undefined, casRequired: undefined }), true)
}
const acl = (names: readonly string[], subject?: PolicySubject) => store.acl(policyNamesOf('root', names), subject)
const entity = (key: string, name: string | undefined): PolicySubject => ({ key, resolve: () => name })

async function allows(
  names: readonly string[],
  path: string,
  subject?: PolicySubject,
  operation: AclOperation = 'read',
) {
  return (await acl(names, subject)).check({ operation, path }).allowed
}

test('a policy is read and parsed once, whatever sets it is in, until one changes', async () => {
  await written('a', 'path "a" { capabilities = ["read"] }')
  await written('b', 'path "b" { capabilities = ["read"] }')
  for (const names of [['a'], ['b'], ['a', 'b'], ['a', 'b', 'none'], ['a']]) await acl(names)
  assert.deepEqual(reads.sort(), ['a', 'b', 'none'])
  await written('a', 'path "c" { capabilities = ["read"] }')
  assert.equal(await allows(['a', 'b'], 'a'), false)
  assert.equal(await allows(['a', 'b'], 'c'), true)
})

test('names that join to one text are different sets', async () => {
  await written('a', 'path "a" { capabilities = ["read"] }')
  await written('deny', 'path "a" { capabilities = ["deny"] }')
  assert.equal(await allows(['deny\nx', 'a'], 'a'), true)
  assert.equal(await allows(['deny', 'x', 'a'], 'a'), false)
  assert.equal(await allows(['\n["a","x"]'], 'a'), false)
  assert.equal(await allows(['a', 'x'], 'a'), true)
})

test('what is kept is given without waiting, and is the same object', async () => {
  await written('a', 'path "a" { capabilities = ["read"] }')
  const first = await acl(['a'])
  assert.equal(acl(['a']), first)
})

test('policies without templates share their rules over all subjects', async () => {
  await written('plain', 'path "a" { capabilities = ["read"] }')
  const first = await acl(['plain'], entity('e1:1', 'alice'))
  assert.equal(acl(['plain'], entity('e2:1', 'bob')), first)
  assert.equal(acl(['plain']), first)
})

test('templates are filled for each subject, and anew for a new generation of it', async () => {
  await written('own', 'path "home/{{identity.entity.name}}/*" { capabilities = ["read"] }')
  assert.equal(await allows(['own'], 'home/alice/x', entity('e1:1', 'alice')), true)
  assert.equal(await allows(['own'], 'home/alice/x', entity('e2:1', 'bob')), false)
  assert.equal(await allows(['own'], 'home/bob/x', entity('e2:1', 'bob')), true)
  assert.equal(await allows(['own'], 'home/alice/x'), false)
  const kept = await acl(['own'], entity('e1:1', 'alice'))
  assert.equal(acl(['own'], entity('e1:1', 'never asked')), kept)
  assert.equal(await allows(['own'], 'home/carol/x', entity('e1:2', 'carol')), true)
  await written('own', 'path "desk/{{identity.entity.name}}" { capabilities = ["read"] }')
  assert.equal(await allows(['own'], 'home/alice/x', entity('e1:1', 'alice')), false)
  assert.equal(await allows(['own'], 'desk/alice', entity('e1:1', 'alice')), true)
})

test('threats A-03: a value with a wildcard drops the rule; the warning names the rule, not the value', async () => {
  await written(
    'own',
    '\npath "home/{{identity.entity.name}}/*" { capabilities = ["read"] }\npath "a" { policy = "read" }',
  )
  for (const value of ['*', '+', 'a/b']) {
    assert.equal(await allows(['own'], 'home/x/y', entity(`e:${value}`, value)), false)
    assert.equal(await allows(['own'], 'a', entity(`e:${value}`, value)), true)
  }
  assert.deepEqual(logged, Array(3).fill({ policy: 'own', line: 2 }))
  await allows(['own'], 'home/x/y', entity('nobody', undefined))
  assert.equal(logged.length, 3, 'a missing value is no cause for a warning')
})

test('rules with an end are gone after it, also from what is kept', async () => {
  await written('short', 'path "a" {\n capabilities = ["read"]\n expiration = "2026-01-01T00:01:00Z"\n}')
  await written(
    'own',
    'path "b/{{identity.entity.name}}" {\n capabilities = ["read"]\n expiration = "2026-01-01T00:01:00Z"\n}',
  )
  const alice = entity('e1:1', 'alice')
  assert.equal(await allows(['short'], 'a'), true)
  assert.equal(await allows(['own'], 'b/alice', alice), true)
  nowMs += 60_000
  assert.equal(await allows(['short'], 'a'), false)
  assert.equal(await allows(['own'], 'b/alice', alice), false)
})

test('a write while rules are being read is not missed', async () => {
  await written('a', 'path "a" { capabilities = ["read"] }')
  const reading = acl(['a'])
  await written('a', 'path "a" { capabilities = ["deny"] }')
  await reading
  assert.equal(await allows(['a'], 'a'), false)
})

test('check-and-set: what is written replaces what the writer has read, or nothing is written', async () => {
  const text = 'path "a" { capabilities = ["read"] }'
  const write = (cas: number | undefined, casRequired?: boolean) => store.write('root', 'p', { text, cas, casRequired })
  assert.equal(await write(1), false)
  assert.equal(await write(0), false)
  assert.equal(await write(-1), true)
  assert.equal(await write(-1), false)
  assert.deepEqual(await store.read('root', 'p'), {
    text,
    version: 1,
    modifiedAtMs: START_MS,
    casRequired: false,
    expiresAtMs: undefined,
  })
  assert.equal(await write(undefined, true), true)
  assert.equal(await write(undefined), false, 'from now on the version must be given')
  assert.equal(await write(2), true)
  assert.equal(await write(3, false), true)
  assert.equal(await write(undefined), true)
  assert.equal((await store.read('root', 'p'))?.version, 5)
  assert.equal((await store.read('root', 'default'))?.casRequired, false)
  assert.equal(
    await store.write('root', 'default', { text, cas: 0, casRequired: undefined }),
    true,
    'a built-in one is version 0',
  )
})

test('an entry of before versions is version 0; another format is refused', async () => {
  const text = 'path "a" { capabilities = ["read"] }'
  view.plant('old', Buffer.from(JSON.stringify({ format: 1, namespace: 'root', text })))
  assert.deepEqual(await store.read('root', 'old'), {
    text,
    version: 0,
    modifiedAtMs: undefined,
    casRequired: false,
    expiresAtMs: undefined,
  })
  assert.equal(await store.write('root', 'old', { text, cas: 0, casRequired: undefined }), true)
  view.plant('new', Buffer.from(JSON.stringify({ format: 2, text })))
  await assert.rejects(store.read('root', 'new'), /unknown format/)
})

test('a policy grants and denies until its end, by the clock alone, and is removed later', async () => {
  const text = 'path "a" { capabilities = ["read"] }\npath "b" { capabilities = ["deny"] }'
  await written('all', 'path "*" { capabilities = ["read"] }')
  const ends: number[] = []
  store.onEnd((atMs) => ends.push(atMs))
  const expiresAtMs = START_MS + 5_000
  await store.write('root', 'p', { text, cas: undefined, casRequired: undefined, expiresAtMs })
  await store.write('root', 'later', { text, cas: undefined, casRequired: undefined, expiresAtMs: expiresAtMs + 1 })
  assert.deepEqual(ends, [expiresAtMs, expiresAtMs + 1])
  assert.equal(await allows(['p'], 'a'), true)
  assert.equal(await allows(['all', 'p'], 'b'), false)
  nowMs = expiresAtMs
  assert.equal(await allows(['p'], 'a'), false)
  assert.equal(await allows(['all', 'p'], 'b'), true)
  assert.equal(await store.read('root', 'p'), undefined)
  const why = await store.explain(policyNamesOf('root', ['p']), { operation: 'read', path: 'a' })
  assert.deepEqual([why.allowed, why.considered.map(({ role }) => role)], [false, ['policy-expired']])
  const rests: number[] = []
  const nextEndMs = await store.removeExpired(async () => void rests.push(1))
  assert.equal(nextEndMs, expiresAtMs + 1)
  assert.deepEqual(await store.list('root'), ['all', 'default', 'later', 'root'])
})

test('an end is told to who waits for it, but not that of a write that is refused', async () => {
  const ends: number[] = []
  store.onEnd((atMs) => ends.push(atMs))
  const write = (cas: number, expiresAtMs?: number) =>
    store.write('root', 'p', { text: 'path "a" { capabilities = ["read"] }', cas, casRequired: true, expiresAtMs })
  assert.deepEqual(
    [await write(-1), await write(7, START_MS + 1_000), await write(1, START_MS + 2_000)],
    [true, false, true],
  )
  assert.deepEqual(ends, [START_MS + 2_000])
})

test('a rule ends with its policy or before it, whichever comes first', async () => {
  const at = (seconds: number) => new Date(START_MS + seconds * 1_000).toISOString()
  const text = `path "early" { capabilities = ["read"] expiration = "${at(1)}" }
    path "late" { capabilities = ["read"] expiration = "${at(9)}" }`
  await store.write('root', 'p', { text, cas: undefined, casRequired: undefined, expiresAtMs: START_MS + 5_000 })
  const granted = async () => [await allows(['p'], 'early'), await allows(['p'], 'late')]
  assert.deepEqual(await granted(), [true, true])
  nowMs = START_MS + 1_000
  assert.deepEqual(await granted(), [false, true])
  nowMs = START_MS + 5_000
  assert.deepEqual(await granted(), [false, false])
})

test('a policy that expired is nothing to replace: no version is asked for, and counting begins anew', async () => {
  const write = (cas: number | undefined, expiresAtMs?: number) =>
    store.write('root', 'p', { text: 'path "a" { capabilities = ["read"] }', cas, casRequired: true, expiresAtMs })
  assert.equal(await write(-1, START_MS + 1_000), true)
  assert.equal(await write(undefined), false)
  nowMs += 1_000
  assert.equal(await write(1), false)
  assert.equal(await write(-1), true)
  assert.equal((await store.read('root', 'p'))?.version, 1)
})

test('A-09: sets of many rules are not kept without bound: whoever makes tokens chooses the sets', async () => {
  const rules = 5_000
  await written(
    'large',
    Array.from({ length: rules }, (_, at) => `path "p/${at}" { capabilities = ["read"] }`).join('\n'),
  )
  const sets = Array.from({ length: CACHED_RULES / rules + 2 }, (_, at) => ['large', `none-${at}`])
  for (const names of sets) await acl(names)
  const isKept = (names: readonly string[] | undefined): boolean => !(acl(names ?? []) instanceof Promise)
  assert.deepEqual([isKept(sets[0]), isKept(sets.at(-1))], [false, true])
})

const READ_X = { text: 'path "x" { capabilities = ["read"] }', cas: undefined, casRequired: undefined }
const DENY_X = { ...READ_X, text: 'path "x" { capabilities = ["deny"] }' }
const mayRead = async (names: PolicyNames, path: string): Promise<boolean> =>
  (await store.acl(names)).check({ operation: 'read', path }).allowed

test('one name in two namespaces is two policies, each about paths in its own; both change on their own', async () => {
  const [inRoot, inA] = [policyNamesOf('root', ['p']), policyNamesOf(idOf('a/'), ['p'])]
  const granted = async () => [await mayRead(inRoot, 'x'), await mayRead(inRoot, 'a/x'), await mayRead(inA, 'x')]
  assert.deepEqual([...(await granted()), await mayRead(inA, 'a/x')], [false, false, false, false])
  await store.write('root', 'p', READ_X)
  assert.deepEqual([...(await granted()), await mayRead(inA, 'a/x')], [true, false, false, false])
  await store.write(idOf('a/'), 'p', READ_X)
  assert.deepEqual([...(await granted()), await mayRead(inA, 'a/x')], [true, false, false, true])
  await store.write('root', 'p', DENY_X)
  assert.deepEqual([...(await granted()), await mayRead(inA, 'a/x')], [false, false, false, true])
  await store.delete(idOf('a/'), 'p')
  assert.deepEqual([...(await granted()), await mayRead(inA, 'a/x')], [false, false, false, false])
})

test('policies of other namespaces are joined with those of the token, each about paths in its own', async () => {
  await store.write(idOf('a/'), 'p', READ_X)
  await store.write(idOf('a/b/'), 'p', READ_X)
  await store.write('root', 'p', { ...READ_X, text: 'path "a/b/*" { capabilities = ["list"] }' })
  const external = [{ namespaceId: idOf('a/b/'), names: ['p', 'root'] }]
  const names = policyNamesOf('root', ['p'], { identity: [], external })
  assert.deepEqual(
    [await mayRead(names, 'a/b/x'), await mayRead(names, 'a/x'), await mayRead(names, 'x')],
    [true, false, false],
  )
  assert.equal(await mayRead(policyNamesOf(idOf('a/'), ['p']), 'a/b/x'), false)
  const root = await store.acl(policyNamesOf('root', ['root'], { identity: [], external }))
  assert.deepEqual(root.capabilities('anything'), ['root'])
})

test('each namespace has the built-in policies, and the root alone has root', async () => {
  await store.write('root', 'default', DENY_X)
  assert.deepEqual(await store.list(idOf('a/')), ['default'])
  const text = (await store.read(idOf('a/'), 'default'))?.text ?? ''
  assert.ok(text.includes('auth/token/lookup-self'), 'not the edited one of the root')
  const own = await store.acl(policyNamesOf(idOf('a/'), ['default']))
  assert.equal(own.check({ operation: 'read', path: 'a/auth/token/lookup-self' }).allowed, true)
  assert.equal(own.check({ operation: 'read', path: 'auth/token/lookup-self' }).allowed, false)
  assert.deepEqual((await store.acl(policyNamesOf(idOf('a/'), ['root']))).capabilities('a/x'), ['deny'])
})

test('policies of a namespace that is not known grant nothing, and count as soon as it is', async () => {
  await store.write(idOf('c/'), 'p', READ_X)
  const names = policyNamesOf(idOf('c/'), ['p'])
  assert.equal(await mayRead(names, 'c/x'), false)
  namespaces.put('c/')
  assert.equal(await mayRead(names, 'c/x'), true)
})

test('expired policies are removed in all namespaces but those that are being deleted', async () => {
  namespaces.put('going/', { isGoing: true })
  for (const path of ['a/', 'a/b/', 'going/'])
    await store.write(idOf(path), 'p', { ...READ_X, expiresAtMs: START_MS + 1_000 })
  await store.write(idOf('a/b/'), 'later', { ...READ_X, expiresAtMs: START_MS + 9_000 })
  nowMs += 1_000
  assert.equal(await store.removeExpired(async () => {}), START_MS + 9_000)
  const left = ['a/', 'a/b/', 'going/'].map((path) => store.list(idOf(path)))
  assert.deepEqual(await Promise.all(left), [['default'], ['default', 'later'], ['default', 'p']])
})
