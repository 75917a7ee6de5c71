// Whole servers in virtual time: what a filter keeps from a performance secondary never leaves the primary, goes from
// the secondary when it is forbidden, and comes whole when it is allowed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReplicatedServer } from '../fixtures/replicated-server.ts'
import { performanceServers, ReplicatedServers } from '../fixtures/replicated-servers.ts'

const filterOf = (id: string): string => `sys/replication/performance/primary/paths-filter/${id}`
const plaintext = 'YQ=='

/** The replicated entries of a cluster, without those whose key names one of these. */
async function replicatedOf({ server }: ReplicatedServer, hidden: readonly string[] = []) {
  const snapshot = await server.store.snapshot()
  try {
    const entries = await snapshot.stored('', Number.POSITIVE_INFINITY)
    const kept = entries.filter(
      ({ key, class: of }) => of === 'replicated' && !hidden.some((name) => key.split('/').includes(name)),
    )
    return kept.map(({ key, leaf, value }) => [key, leaf.toString('hex'), value.toString('hex')])
  } finally {
    await snapshot.close()
  }
}

/** Keys of all classes in which this name stands. */
async function keysWith({ server }: ReplicatedServer, name: string): Promise<readonly string[]> {
  const snapshot = await server.store.snapshot()
  try {
    const entries = await snapshot.stored('', Number.POSITIVE_INFINITY)
    return entries.map(({ key }) => key).filter((key) => key.includes(name))
  } finally {
    await snapshot.close()
  }
}

/** The names by which stored keys and frames know a mount. */
async function uuidOf(cluster: ReplicatedServer, path: string): Promise<string> {
  const { body } = await cluster.must('GET', `sys/mounts/${path}`)
  return String((body.data as { readonly uuid: string }).uuid)
}

const found = async (cluster: ReplicatedServer, path: string): Promise<number> =>
  (await cluster.call('GET', path)).status

/** Two mounts with a key each, on the primary of two clusters. */
async function started(seed: number) {
  const { servers, primary, secondary } = await performanceServers(seed)
  const level = () => servers.level(primary, secondary, 60_000, 'performance')
  for (const path of ['open', 'kept']) {
    await primary.must('POST', `sys/mounts/${path}`, { type: 'transit' })
    await primary.must('POST', `${path}/keys/k`)
  }
  await level()
  /** The write is none of those that the secondary gets: so there is no place of it to wait for. */
  const filter = async (body: object | undefined) => {
    if (body === undefined) await primary.must('DELETE', filterOf('two'))
    else await primary.must('POST', filterOf('two'), body)
    await servers.time.pass(100)
  }
  const hidden = await uuidOf(primary, 'kept')
  const requireSame = async (names: readonly string[]) => {
    await level()
    await servers.time.pass(2_000)
    assert.deepEqual(await replicatedOf(secondary), await replicatedOf(primary, names))
  }
  return { servers, primary, secondary, level, filter, hidden, requireSame }
}

test('T82: a mount that is forbidden is gone at once, and comes back whole when it is allowed', async () => {
  const { primary, secondary, filter, hidden, requireSame } = await started(1)
  await requireSame([])
  // The secondary counts messages for itself.
  await secondary.must('POST', 'kept/encrypt/k', { plaintext })
  assert.ok((await keysWith(secondary, hidden)).some((key) => key.includes('/cluster/')))
  await filter({ mode: 'deny', paths: ['kept'] })
  assert.deepEqual([await found(secondary, 'open/keys/k'), await found(secondary, 'kept/keys/k')], [200, 404])
  await primary.must('POST', 'kept/keys/later')
  await primary.must('POST', 'open/keys/later')
  await requireSame([hidden])
  assert.deepEqual(await keysWith(secondary, hidden), [])
  assert.deepEqual([await found(secondary, 'open/keys/later'), await found(secondary, 'kept/keys/later')], [200, 404])
  await filter(undefined)
  await requireSame([])
  assert.deepEqual([await found(secondary, 'kept/keys/k'), await found(secondary, 'kept/keys/later')], [200, 200])
  await primary.must('POST', 'kept/encrypt/k', { plaintext })
  await secondary.must('POST', 'kept/encrypt/k', { plaintext })
})

test('what a secondary counts for a mount goes also where the mount has moved away from it', async () => {
  const { servers, primary, secondary, level, filter } = await started(8)
  await primary.must('POST', 'sys/namespaces/team')
  await primary.must('POST', 'team/sys/mounts/keys', { type: 'transit' })
  await primary.must('POST', 'sys/remount', { from: 'team/keys', to: 'moved' })
  const moved = await uuidOf(primary, 'moved')
  await level()
  servers.cut(primary, secondary)
  await servers.time.pass(20_000)
  // It counts from the start, and the primary could not be asked: so nothing of the set lies where the mount was made.
  const home = (await keysWith(secondary, moved)).filter((key) => key.includes('/logical/'))
  assert.match(home.join(), /^\w+\/logical\/[\w-]+\/cluster\/lives$/)
  assert.equal(home[0]?.startsWith('root/'), false)
  await filter({ mode: 'deny', paths: ['moved', 'team'] })
  servers.heal(primary, secondary)
  await servers.time.pass(20_000)
  assert.deepEqual(await keysWith(secondary, moved), [])
})

test('T81: a filter that was there before the secondary: nothing of the rest ever comes', async () => {
  const servers = new ReplicatedServers(2)
  const [primary, secondary] = [await servers.start('one'), await servers.start('two')]
  for (const path of ['open', 'kept']) {
    await primary.must('POST', `sys/mounts/${path}`, { type: 'transit' })
    await primary.must('POST', `${path}/keys/k`)
  }
  const hidden = await uuidOf(primary, 'kept')
  await servers.enable(primary, 'performance')
  const { body } = await secondary.must('POST', 'sys/replication/performance/secondary/generate-public-key')
  const key = { secondary_public_key: body.data?.secondary_public_key }
  const token = await servers.token(primary, 'two', key, 'performance')
  await primary.must('POST', filterOf('two'), { mode: 'deny', paths: ['kept'] })
  await secondary.must('POST', 'sys/replication/performance/secondary/enable', { token })
  await servers.level(primary, secondary, 60_000, 'performance')
  assert.deepEqual(await replicatedOf(secondary), await replicatedOf(primary, [hidden]))
  await servers.giveRootToken(primary, secondary)
  assert.deepEqual([await found(secondary, 'open/keys/k'), await found(secondary, 'kept/keys/k')], [200, 404])
})

test('T83: a filter that changes while the secondary is off, or is compared, holds when it is back', async () => {
  const { servers, primary, secondary, filter, hidden, requireSame } = await started(3)
  servers.cut(primary, secondary)
  await filter({ mode: 'deny', paths: ['kept'] })
  for (let key = 0; key < 30; key++) await primary.must('POST', `kept/keys/away-${key}`)
  await servers.time.pass(20_000)
  servers.heal(primary, secondary)
  await servers.time.pass(5_000)
  assert.equal(await found(secondary, 'kept/keys/k'), 404)
  await requireSame([hidden])
  servers.cut(primary, secondary)
  await filter(undefined)
  await servers.time.pass(20_000)
  servers.heal(primary, secondary)
  // It is being compared: what was to come is forbidden once more.
  await servers.time.pass(1_000)
  await filter({ paths: ['open'] })
  await servers.time.pass(5_000)
  assert.deepEqual([await found(secondary, 'open/keys/k'), await found(secondary, 'kept/keys/k')], [200, 404])
  await requireSame([hidden])
  await filter({ paths: ['open', 'kept/'] })
  await servers.time.pass(5_000)
  assert.equal(await found(secondary, 'kept/keys/away-29'), 200)
  await requireSame([])
})

const GROWING: readonly {
  readonly mode: 'allow' | 'deny'
  readonly paths: readonly string[]
  readonly seen: number
}[] = [
  { mode: 'allow', paths: ['open'], seen: 404 },
  { mode: 'deny', paths: ['kept'], seen: 200 },
]
for (const { mode, paths, seen } of GROWING) {
  test(`T84: a mount that is made, moved and removed under "${mode}" is judged before any of it is sent`, async () => {
    const { servers, primary, secondary, level, filter, hidden, requireSame } = await started(4)
    await filter({ mode, paths })
    await primary.must('POST', 'sys/mounts/fresh', { type: 'transit' })
    await primary.must('POST', 'fresh/keys/k')
    const fresh = await uuidOf(primary, 'fresh')
    await level()
    await servers.time.pass(500)
    assert.equal(await found(secondary, 'fresh/keys/k'), seen)
    await requireSame(seen === 404 ? [hidden, fresh] : [hidden])
    // Over the border, in and out.
    const [inside, outside] = mode === 'allow' ? ['open', 'other'] : ['other', 'kept']
    await primary.must('POST', 'sys/remount', { from: 'open', to: 'aside' })
    await primary.must('POST', 'sys/remount', { from: 'kept', to: 'gone' })
    await primary.must('POST', 'sys/remount', { from: 'gone', to: inside })
    await primary.must('POST', 'sys/remount', { from: 'aside', to: outside })
    await servers.time.pass(5_000)
    assert.deepEqual(
      [await found(secondary, `${inside}/keys/k`), await found(secondary, `${outside}/keys/k`)],
      [200, 404],
    )
    const moved = await uuidOf(primary, outside)
    await requireSame(seen === 404 ? [moved, fresh] : [moved])
    for (const path of [inside, outside, 'fresh']) await primary.must('DELETE', `sys/mounts/${path}`)
    await servers.time.pass(5_000)
    await requireSame([])
  })
}

test('T87: a filtered secondary is not promoted without force, and with it has what it had', async () => {
  const { servers, secondary, filter } = await started(5)
  await filter({ mode: 'deny', paths: ['kept'] })
  const refused = await secondary.call('POST', 'sys/replication/performance/secondary/promote', {})
  assert.equal(refused.status, 503)
  assert.match(String(refused.body.errors), /filter keeps mounts/)
  assert.equal((await secondary.status('performance')).mode, 'secondary')
  await secondary.must('POST', 'sys/replication/performance/secondary/promote', { force: true })
  await servers.time.pass(1_000)
  assert.equal((await secondary.status('performance')).mode, 'primary')
  assert.deepEqual([await found(secondary, 'open/keys/k'), await found(secondary, 'kept/keys/k')], [200, 404])
  await secondary.must('POST', 'sys/mounts/kept', { type: 'transit' })
})

const ROOT_AT_SYS = ['POST', 'sys/policies/acl/x', { policy: 'path "a" { capabilities = ["read"] }' }] as const

test('T87: a secondary that a filter without a path is of lacks nothing', async () => {
  const { primary, secondary, filter } = await started(89)
  await filter({ mode: 'deny', paths: ['kept'] })
  assert.equal((await secondary.call(...ROOT_AT_SYS)).status, 400)
  await filter({ mode: 'deny', paths: [] })
  assert.equal((await secondary.status('performance')).filtered, undefined)
  await secondary.must(...ROOT_AT_SYS)
  assert.equal(await found(secondary, 'kept/keys/k'), 200)
  await secondary.must('POST', 'sys/replication/performance/secondary/promote')
  await primary.must('POST', 'sys/replication/performance/primary/demote')
})

/** Filters that keep nothing back at the end, and what is done about it. */
const EMPTIED: readonly { readonly what: string; readonly body: object; readonly work: readonly string[] }[] = [
  { what: 'deny of what is gone since', body: { mode: 'deny', paths: ['kept'] }, work: ['DELETE sys/mounts/kept'] },
  { what: 'allow of all that there is', body: { mode: 'allow', paths: ['open', 'kept', 'team'] }, work: [] },
  {
    what: 'deny of a namespace that is gone since',
    body: { mode: 'deny', paths: ['team'] },
    work: ['DELETE sys/namespaces/team'],
  },
]
for (const [at, { what, body, work }] of EMPTIED.entries())
  test(`T87: a secondary is promoted while its filter keeps nothing back, and not otherwise: ${what}`, async () => {
    const { servers, primary, secondary, filter, hidden } = await started(90 + at)
    const promote = () => secondary.call('POST', 'sys/replication/performance/secondary/promote')
    /** The status is as of some seconds ago. */
    const isFiltered = async () => {
      await servers.time.pass(5_000)
      return (await secondary.status('performance')).filtered === true
    }
    await primary.must('POST', 'sys/namespaces/team')
    await filter(body)
    assert.equal(await isFiltered(), work.length > 0)
    for (const one of work) await primary.must(...(one.split(' ') as ['DELETE', string]))
    assert.equal(await isFiltered(), false)
    // What was kept back is not told of by its end.
    if (work.includes('DELETE sys/mounts/kept')) assert.deepEqual(await keysWith(secondary, hidden), [])
    // Root at sys/ could move what is made next.
    assert.equal((await secondary.call(...ROOT_AT_SYS)).status, 400)
    const again = work[0]?.split(' ')[1] ?? 'sys/mounts/late'
    await primary.must('POST', again, { type: 'transit' })
    // It hears of it while the primary hands over.
    assert.equal((await promote()).status, 503)
    assert.equal(await isFiltered(), true)
    await primary.must('DELETE', again)
    await servers.time.pass(5_000)
    // What it was told last counts where the primary cannot be asked.
    primary.kill()
    await servers.time.pass(20_000)
    const promoted = await promote()
    assert.equal(promoted.status, 200, JSON.stringify(promoted.body))
    assert.equal(await found(secondary, 'open/keys/k'), 200)
  })

test('a filter that began to keep something while the secondary was off is known when it is back', async () => {
  const { servers, primary, secondary, filter } = await started(94)
  await primary.must('DELETE', 'sys/mounts/kept')
  await filter({ mode: 'allow', paths: ['open'] })
  assert.equal((await secondary.status('performance')).filtered, undefined)
  servers.cut(primary, secondary)
  await servers.time.pass(60_000)
  await primary.must('POST', 'sys/mounts/late', { type: 'transit' })
  servers.heal(primary, secondary)
  await servers.level(primary, secondary, 60_000, 'performance')
  await servers.time.pass(5_000)
  assert.equal((await secondary.status('performance')).filtered, true)
  assert.equal((await secondary.call('POST', 'sys/replication/performance/secondary/promote')).status, 503)
})

test('T86: tokens of a login method that is forbidden end on the secondary, and stay ended', async () => {
  const { servers, primary, secondary, level, filter } = await started(6)
  await primary.must('POST', 'sys/auth/people', { type: 'userpass' })
  await primary.must('POST', 'auth/people/users/ann', { password: 'x', token_policies: 'default' })
  await level()
  const given = await secondary.must('POST', 'auth/people/login/ann', { password: 'x' }, '')
  const token = String((given.body.auth as { readonly client_token: string }).client_token)
  const self = async () => (await secondary.call('GET', 'auth/token/lookup-self', undefined, token)).status
  assert.equal(await self(), 200)
  await filter({ mode: 'deny', paths: ['auth/people'] })
  assert.equal(await self(), 403)
  assert.equal((await secondary.call('POST', 'auth/people/login/ann', { password: 'x' }, '')).status, 403)
  await servers.time.pass(10_000)
  const leases = await secondary.call('LIST', 'sys/leases/lookup/auth/people/login/ann')
  assert.equal(leases.status, 404)
  await filter(undefined)
  await servers.time.pass(5_000)
  assert.equal(await self(), 403)
  assert.equal((await secondary.call('POST', 'auth/people/login/ann', { password: 'x' }, '')).status, 200)
})

test('T81: a namespace that is filtered is not there, with all that is in it', async () => {
  const { servers, primary, secondary, level, filter, requireSame } = await started(7)
  await primary.must('POST', 'sys/namespaces/team')
  await primary.must('POST', 'team/sys/namespaces/inner')
  await primary.must('POST', 'team/sys/mounts/keys', { type: 'transit' })
  await primary.must('POST', 'team/keys/keys/k')
  await primary.must('POST', 'team/inner/sys/mounts/keys', { type: 'transit' })
  await primary.must('POST', 'sys/namespaces/team2')
  await level()
  const idOf = async (path: string) => String((await primary.must('GET', path)).body.data?.id)
  const ids = [await idOf('sys/namespaces/team'), await idOf('team/sys/namespaces/inner')]
  assert.equal(await found(secondary, 'team/keys/keys/k'), 200)
  await filter({ mode: 'deny', paths: ['team'] })
  assert.equal(await found(secondary, 'team/keys/keys/k'), 404)
  assert.equal(await found(secondary, 'sys/namespaces/team'), 404)
  assert.equal(await found(secondary, 'sys/namespaces/team2'), 200)
  await servers.time.pass(5_000)
  await level()
  const [theirs, ours] = [await replicatedOf(primary, ids), await replicatedOf(secondary)]
  assert.deepEqual(
    ours,
    theirs.filter(([key]) => key !== 'root/core/namespace/root/team'),
  )
  await filter({ paths: ['team/inner/keys'] })
  await servers.time.pass(5_000)
  assert.equal(await found(secondary, 'team/inner/sys/mounts/keys'), 200)
  assert.deepEqual([await found(secondary, 'team/keys/keys/k'), await found(secondary, 'open/keys/k')], [404, 404])
  await filter(undefined)
  await servers.time.pass(5_000)
  assert.equal(await found(secondary, 'team/keys/keys/k'), 200)
  await requireSame([])
})
