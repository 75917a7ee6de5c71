// What a filtered secondary may ask of its primary, and what it must not learn of it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReplicatedServer } from '../../../test/fixtures/replicated-server.ts'
import { performanceServers } from '../../../test/fixtures/replicated-servers.ts'
import type { Refusal } from '../../api/errors.ts'
import type { AssertedCaller, HandedRequest } from '../../core/handed.ts'
import { SETS_FOLDER } from '../../replication/set/records.ts'
import { systemScope } from '../../storage/contract.ts'
import { FilteredSecondaries } from './filtered-secondaries.ts'

const FILTER = 'sys/replication/performance/primary/paths-filter/two'
const ROOT_CALLER: AssertedCaller = {
  policies: ['root'],
  namespace: 'root',
  entityId: '',
  groups: [],
  displayName: 'root',
  metadata: null,
  tokenType: 'service',
}
/** The same by a policy that any administrator may have. */
const ADMIN: AssertedCaller = { ...ROOT_CALLER, policies: ['admin'] }

/** A primary on which `deny` keeps two mounts, a login method and a namespace from its secondary. */
async function stage(seed: number) {
  const { servers, primary } = await performanceServers(seed)
  const done = <T>(work: Promise<T>): Promise<T> => servers.time.until(work)
  const { node } = primary.server
  for (const path of ['shown', 'hidden', 'deep/in/hidden'])
    await primary.must('POST', `sys/mounts/${path}`, { type: 'transit' })
  await primary.must('POST', 'sys/auth/hidden', { type: 'userpass' })
  for (const path of ['', 'kept/', 'away/']) {
    if (path !== '') await primary.must('POST', `sys/namespaces/${path.slice(0, -1)}`)
    const everything = 'path "*" { capabilities = ["create","read","update","patch","delete","list","sudo"] }'
    await primary.must('PUT', `${path}sys/policies/acl/admin`, { policy: everything })
  }
  await primary.must('POST', 'kept/sys/namespaces/inner')
  await primary.must('POST', 'kept/sys/mounts/shown', { type: 'transit' })
  await primary.must('POST', 'away/sys/mounts/hidden', { type: 'transit' })
  const paths = ['hidden/', 'deep/in/hidden/', 'auth/hidden/', 'away/', 'kept/inner/']
  await primary.must('POST', FILTER, { mode: 'deny', paths })
  const view = node.storage.view(systemScope, SETS_FOLDER)
  const two = new FilteredSecondaries({ ...node, view }).of('two')
  const answers = node.core.answersTo(two)
  const uuidOf = (path: string): string => node.mounts.serving(path)?.uuid ?? assert.fail(`nothing is at ${path}`)
  const request = (changes: Partial<HandedRequest>, mountPath = 'sys/', body: object = {}): HandedRequest => ({
    id: '7b5a2f5a-0000-4000-8000-000000000000',
    endpoint: '',
    mount: uuidOf(mountPath),
    path: '',
    givenNames: undefined,
    method: 'update',
    query: '',
    body: Buffer.from(JSON.stringify(body)),
    contentType: undefined,
    passed: undefined,
    remoteAddress: '127.0.0.1',
    wrapTtlSeconds: 0,
    caller: ADMIN,
    ...changes,
  })
  const ask = (...of: Parameters<typeof request>) => done(answers.carryOut(request(...of)))
  const refusal = (...of: Parameters<typeof request>): Promise<Refusal> =>
    ask(...of).then(
      () => assert.fail(`it is carried out: ${JSON.stringify(of[0])}`),
      (cause: Refusal) => cause,
    )
  return { primary, done, two, answers, uuidOf, ask, refusal, idOf: idIn(primary) }
}

const idIn =
  ({ server }: ReplicatedServer) =>
  (path: string): string =>
    server.node.namespaces.byPath(path)?.id ?? assert.fail(`no namespace ${path}`)

test('a secondary reaches what its filter lets it have, as it is now', async () => {
  const { primary, done, two, uuidOf } = await stage(31)
  const [shown, hidden, away] = [uuidOf('shown/'), uuidOf('hidden/'), uuidOf('away/sys/policies/acl/x')]
  // Nothing is known before the first look.
  assert.deepEqual([two.stale, two.hasAll, two.reaches(shown)], [true, false, false])
  await done(two.refresh())
  assert.deepEqual([two.stale, two.hasAll], [false, false])
  assert.deepEqual([shown, hidden, away].map(two.reaches), [true, false, false])
  for (const path of ['sys/x', 'identity/x', 'auth/token/x', 'kept/sys/x', 'kept/shown/', 'kept/auth/token/x'])
    assert.ok(two.reaches(uuidOf(path)), path)
  assert.equal(two.reaches(uuidOf('away/hidden/')), false)

  await primary.must('POST', 'sys/remount', { from: 'shown', to: 'away/shown' })
  assert.equal(two.reaches(shown), false)
  await primary.must('POST', 'sys/mounts/late', { type: 'transit' })
  await primary.must('POST', 'away/sys/mounts/late', { type: 'transit' })
  assert.deepEqual([uuidOf('late/'), uuidOf('away/late/')].map(two.reaches), [true, false])

  await primary.must('POST', FILTER, { mode: 'allow', paths: ['away/late/'] })
  assert.deepEqual([two.stale, two.reaches(uuidOf('late/'))], [true, false])
  await done(two.refresh())
  const now = ['late/', 'away/late/', 'away/hidden/', 'away/sys/x', 'kept/sys/x', 'sys/x'].map(uuidOf)
  assert.deepEqual(now.map(two.reaches), [false, true, false, true, false, true])

  await primary.must('DELETE', FILTER)
  assert.equal(two.stale, true)
  await done(two.refresh())
  assert.deepEqual([two.hasAll, two.reaches(hidden)], [true, true])
})

test('a secondary that was sent away reaches nothing', async () => {
  const { primary, done, two, uuidOf } = await stage(32)
  await done(two.refresh())
  await primary.must('POST', 'sys/replication/performance/primary/revoke-secondary', { id: 'two' })
  await done(two.refresh())
  assert.deepEqual([two.stale, two.hasAll, two.reaches(uuidOf('sys/x'))], [true, false, false])
})

test('4c.22: a namespace that is filtered is not there for the secondary, whatever names it', async () => {
  const { primary, refusal, uuidOf, idOf, answers, done } = await stage(33)
  const before = await done(primary.server.store.lastIndex())
  const remount = (from: string, to: string) =>
    [{ endpoint: 'remount', path: 'remount' }, 'sys/', { from, to }] as const
  const asked: readonly (readonly [Partial<HandedRequest>, string?, object?])[] = [
    [{ endpoint: 'namespaces-write', path: 'namespaces/away' }],
    [{ endpoint: 'namespaces-write', path: 'namespaces/inner' }, 'kept/sys/'],
    [{ endpoint: 'namespaces-patch', path: 'namespaces/away', method: 'patch' }],
    [{ endpoint: 'namespaces-delete', path: 'namespaces/away', method: 'delete' }],
    [{ endpoint: 'namespaces-lock', path: 'namespaces/api-lock/lock/away' }],
    [{ endpoint: 'namespaces-lock', path: 'namespaces/api-lock/lock/kept/inner' }],
    [{ endpoint: 'namespaces-unlock', path: 'namespaces/api-lock/unlock/away' }],
    [{ endpoint: 'mounts-mount', path: 'mounts/new' }, 'away/sys/', { type: 'transit' }],
    remount('away/hidden', 'new'),
    remount('away/none', 'new'),
    remount('hidden', 'new'),
    remount('shown', 'away/new'),
    [{ endpoint: 'rate-limit-quota-write', path: 'quotas/rate-limit/q' }, 'sys/', { path: 'away/', rate: 1 }],
    [{ endpoint: 'rate-limit-quota-write', path: 'quotas/rate-limit/q' }, 'sys/', { path: 'away/hidden/', rate: 1 }],
    [{ endpoint: 'rate-limit-quota-write', path: 'quotas/rate-limit/q' }, 'sys/', { path: 'kept/inner/', rate: 1 }],
  ]
  for (const [changes, ...more] of asked) {
    const { status, message } = await refusal(changes, ...more)
    assert.equal(status, 404, `${changes.path}: ${message}`)
  }
  for (const namespace of [idOf('away/'), idOf('kept/inner/')]) {
    const wanted = { of: 'cluster', namespace, entityId: '' } as const
    await assert.rejects(done(answers.ensureEntity(wanted)), { code: 'bad_namespace' })
  }
  assert.equal(await done(primary.server.store.lastIndex()), before)
  assert.ok(uuidOf('away/hidden/'))
})

test('a caller of a namespace that is filtered, or an entity there, is no caller', async () => {
  const { refusal, ask, idOf } = await stage(34)
  const key = { endpoint: 'transit-key-create', path: 'keys/k' }
  const away: AssertedCaller = { ...ADMIN, namespace: idOf('away/') }
  assert.equal((await refusal({ ...key, caller: away }, 'shown/')).status, 403)
  const entityId = `11111111-1111-4111-8111-111111111111.${idOf('away/')}`
  assert.equal((await refusal({ ...key, caller: { ...ADMIN, entityId } }, 'shown/')).status, 403)
  await ask({ ...key, caller: { ...ADMIN, namespace: idOf('kept/') } }, 'kept/shown/')
  await ask(key, 'shown/')
})

test('a mount that is in the way is not named to a secondary that lacks it', async () => {
  const { primary, refusal } = await stage(35)
  const asked: readonly (readonly [Partial<HandedRequest>, object])[] = [
    [{ endpoint: 'mounts-mount', path: 'mounts/deep' }, { type: 'transit' }],
    [{ endpoint: 'mounts-mount', path: 'mounts/deep/in/hidden/more' }, { type: 'transit' }],
    [
      { endpoint: 'remount', path: 'remount' },
      { from: 'shown', to: 'deep' },
    ],
    [{ endpoint: 'namespaces-write', path: 'namespaces/deep' }, {}],
  ]
  for (const [changes, body] of asked) {
    const { status, message } = await refusal(changes, 'sys/', body)
    assert.deepEqual([status, message], [400, 'path is already in use'], String(changes.path))
  }
  await primary.must('DELETE', FILTER)
  for (const [changes, body] of asked) {
    const { status, message } = await refusal(changes, 'sys/', body)
    assert.equal(status, 400)
    assert.match(message, /deep\/in\/hidden\//, String(changes.path))
  }
})

test('a namespace that is in the way is not named to a secondary that lacks it', async () => {
  const { primary, refusal } = await stage(37)
  const answers = async () => {
    const texts: string[] = []
    for (const path of ['mounts/away', 'mounts/away/more', 'mounts/away/hidden']) {
      const { status, message, code } = await refusal({ endpoint: 'mounts-mount', path }, 'sys/', { type: 'transit' })
      texts.push(`${status} ${code} ${message}`)
    }
    return texts
  }
  assert.deepEqual(new Set(await answers()), new Set(['400 path_in_use path is already in use']))
  await primary.must('DELETE', FILTER)
  const named = '400 path_in_use existing mount at away/: a namespace has that name'
  assert.deepEqual(new Set(await answers()), new Set([named]))
})

test('the root of a filtered secondary may do at its mounts what it likes, and nothing at sys/', async () => {
  const { primary, ask, refusal } = await stage(36)
  const caller = ROOT_CALLER
  const rule = { policy: 'path "a" { capabilities = ["read"] }' }
  const write = { endpoint: 'policies-write', path: 'policies/acl/p' }
  const policy = [{ ...write, caller }, 'sys/', rule] as const
  const refused = await refusal(...policy)
  assert.deepEqual([refused.status, refused.code], [400, 'only_on_primary'])
  assert.match(refused.message, /send the request to the primary/)
  assert.equal((await refusal({ ...write, caller }, 'kept/sys/', rule)).code, 'only_on_primary')
  await ask({ endpoint: 'transit-key-create', path: 'keys/k', caller }, 'shown/')
  assert.equal((await refusal({ endpoint: 'transit-key-create', path: 'keys/k', caller }, 'hidden/')).status, 404)
  await ask(write, 'sys/', rule)
  await primary.must('DELETE', FILTER)
  await ask(...policy)
})
