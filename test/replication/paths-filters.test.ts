// Filters of performance secondaries, as operators write and read them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReplicatedServer } from '../fixtures/replicated-server.ts'
import { performanceServers } from '../fixtures/replicated-servers.ts'

const at = (id: string): string => `sys/replication/performance/primary/paths-filter/${id}`

test('a filter is kept for the id of a token, with its slashes, until it is deleted', async () => {
  const { primary } = await performanceServers(11)
  await primary.must('POST', 'sys/mounts/transit', { type: 'transit' })
  await primary.must('POST', 'sys/namespaces/team')
  const none = await primary.call('GET', at('two'))
  assert.deepEqual([none.status, none.body], [200, {}])
  const written = await primary.must('POST', at('two'), { mode: 'deny', paths: ['transit', '/team/', 'transit/'] })
  assert.equal(written.status, 204)
  assert.deepEqual((await primary.must('GET', at('two'))).body.data, { mode: 'deny', paths: ['transit/', 'team/'] })
  assert.equal((await primary.must('DELETE', at('two'))).status, 204)
  assert.equal((await primary.must('DELETE', at('two'))).status, 204)
  assert.deepEqual((await primary.call('GET', at('two'))).body, {})
})

const ofPrimary = (id: string): string => `sys/replication/performance/primary/dynamic-filter/${id}`
const ofSecondary = (id: string): string => `sys/replication/performance/secondary/dynamic-filter/${id}`
const filtered = (mounts: readonly string[], namespaces: readonly string[]) => ({
  dynamic_filtered_mounts: mounts,
  dynamic_filtered_namespaces: namespaces,
})

async function clusterId(cluster: ReplicatedServer): Promise<string> {
  const { body } = await cluster.must('GET', 'sys/health', undefined, '')
  return String((body as Record<string, unknown>).cluster_id)
}

/** Two mounts and a login method in the root, two namespaces in each other with a mount in the inner one. */
async function grownServers(seed: number) {
  const all = await performanceServers(seed)
  const { primary } = all
  for (const path of ['mounts/kv', 'mounts/kv2']) await primary.must('POST', `sys/${path}`, { type: 'transit' })
  await primary.must('POST', 'sys/auth/people', { type: 'userpass' })
  await primary.must('POST', 'sys/namespaces/team')
  await primary.must('POST', 'team/sys/namespaces/inner')
  await primary.must('POST', 'team/inner/sys/mounts/kv', { type: 'transit' })
  return all
}

test('4c.22: what is filtered now is told by both sides, by either id', async () => {
  const { primary, secondary } = await grownServers(12)
  const cluster = await clusterId(secondary)
  const shown = async () => {
    const told: unknown[] = []
    for (const id of ['two', cluster]) {
      told.push((await primary.must('GET', ofPrimary(id))).body.data)
      told.push((await secondary.must('GET', ofSecondary(id))).body.data)
    }
    for (const one of told) assert.deepEqual(one, told[0])
    return told[0]
  }
  assert.deepEqual(await shown(), filtered([], []))
  await primary.must('POST', at(cluster), { paths: ['kv/'] })
  assert.deepEqual((await primary.must('GET', at('two'))).body.data, { mode: 'allow', paths: ['kv/'] })
  assert.deepEqual(await shown(), filtered(['auth/people/', 'kv2/', 'team/inner/kv/'], ['team/', 'team/inner/']))
  await primary.must('POST', at('two'), { mode: 'deny', paths: ['team/inner/', 'auth/people'] })
  assert.deepEqual(await shown(), filtered(['auth/people/', 'team/inner/kv/'], ['team/inner/']))
  // A mount that is made later, and one that is moved.
  await primary.must('POST', 'team/inner/sys/mounts/late', { type: 'transit' })
  await primary.must('POST', 'sys/remount', { from: 'kv', to: 'team/inner/moved' })
  const mounts = ['auth/people/', 'team/inner/kv/', 'team/inner/late/', 'team/inner/moved/']
  assert.deepEqual(await shown(), filtered(mounts, ['team/inner/']))
  await primary.must('DELETE', at('two'))
  assert.deepEqual(await shown(), filtered([], []))
  assert.equal((await secondary.call('GET', ofSecondary('x'))).status, 404)
  assert.equal((await primary.call('GET', ofPrimary('x'))).status, 404)
  assert.equal((await primary.call('GET', ofSecondary('two'))).status, 400)
  const refused = await secondary.call('GET', ofPrimary('two'))
  assert.equal(refused.status, 400)
  assert.match(String(refused.body.errors), /"primary\/dynamic-filter" is not for a cluster in mode secondary/)
})

test('a secondary learns of its own filter alone, from its primary, and keeps none of it', async () => {
  const { servers, primary, secondary } = await grownServers(15)
  await servers.token(primary, 'three', {}, 'performance')
  await primary.must('POST', at('three'), { mode: 'deny', paths: ['kv/'] })
  await primary.must('POST', at('two'), { mode: 'deny', paths: ['kv2/'] })
  assert.deepEqual((await secondary.must('GET', ofSecondary('two'))).body.data, filtered(['kv2/'], []))
  assert.equal((await secondary.call('GET', ofSecondary('three'))).status, 404)
  assert.deepEqual((await primary.must('GET', ofPrimary('three'))).body.data, filtered(['kv/'], []))
  servers.cut(primary, secondary)
  await servers.time.pass(60_000)
  const away = await secondary.call('GET', ofSecondary('two'))
  assert.equal(away.status, 503)
  assert.match(String(away.body.errors), /one:8200, did not answer what it filters: ask it there/)
  await secondary.must('POST', 'sys/replication/performance/secondary/update-primary', { token: '' })
  for (const id of ['two', await clusterId(secondary)]) {
    const alone = await secondary.call('GET', ofSecondary(id))
    assert.equal(alone.status, 400)
    assert.match(String(alone.body.errors), /follows no primary.*update-primary/)
  }
})

test('dry_run shows what would appear and what would vanish, and changes nothing', async () => {
  const { primary } = await grownServers(16)
  const preview = async (body: object) => {
    const before = await primary.call('GET', at('two'))
    const { body: answer, status } = await primary.must('POST', at('two'), { ...body, dry_run: true })
    assert.equal(status, 200)
    assert.deepEqual(await primary.call('GET', at('two')).then(({ body: after }) => after.data), before.body.data)
    return answer.data
  }
  assert.deepEqual(await preview({ mode: 'deny', paths: ['kv', 'team/inner/'] }), {
    would_appear: [],
    would_vanish: ['kv/', 'team/inner/', 'team/inner/kv/'],
  })
  await primary.must('POST', at('two'), { mode: 'deny', paths: ['kv', 'team/inner/'] })
  assert.deepEqual(await preview({ mode: 'deny', paths: ['kv2', 'team/inner/kv/'] }), {
    would_appear: ['kv/', 'team/inner/'],
    would_vanish: ['kv2/'],
  })
  // The same as no filter.
  assert.deepEqual(await preview({ mode: 'deny', paths: [] }), {
    would_appear: ['kv/', 'team/inner/', 'team/inner/kv/'],
    would_vanish: [],
  })
  assert.equal((await primary.call('POST', at('x'), { paths: ['kv/'], dry_run: true })).status, 404)
  assert.equal((await primary.call('POST', at('two'), { paths: ['none/'], dry_run: true })).status, 400)
})

const REFUSED: readonly { what: string; id?: string; body: object; status: number; says: RegExp }[] = [
  { what: 'another mode', body: { mode: 'whitelist' }, status: 400, says: /mode/ },
  {
    what: 'a path without a mount',
    body: { paths: ['none/'] },
    status: 400,
    says: /no mount and no namespace: none\//,
  },
  { what: 'a mount of the system', body: { paths: ['sys/'] }, status: 400, says: /mount of the system/ },
  { what: 'tokens', body: { paths: ['auth/token/'] }, status: 400, says: /mount of the system/ },
  { what: 'the root', body: { paths: ['/'] }, status: 400, says: /root itself/ },
  { what: 'a local mount', body: { paths: ['own/'] }, status: 400, says: /local mount/ },
  {
    what: 'an id that no secondary has',
    id: 'three',
    body: { paths: ['transit/'] },
    status: 404,
    says: /No secondary/,
  },
  {
    what: 'an id that no secondary can have',
    id: 'x'.repeat(257),
    body: { paths: ['transit/'] },
    status: 400,
    says: /field "id": has more than 256 bytes/,
  },
]
test('a filter that cannot be is refused, and changes nothing', async () => {
  const { primary, secondary } = await performanceServers(13)
  await primary.must('POST', 'sys/mounts/transit', { type: 'transit' })
  await primary.must('POST', 'sys/mounts/own', { type: 'transit', local: true })
  await primary.must('POST', at('two'), { paths: ['transit/'] })
  for (const { what, id = 'two', body, status, says } of REFUSED) {
    const answer = await primary.call('POST', at(id), body)
    assert.equal(answer.status, status, `${what}: ${JSON.stringify(answer.body)}`)
    assert.match(String(answer.body.errors), says, what)
  }
  assert.deepEqual((await primary.must('GET', at('two'))).body.data, { mode: 'allow', paths: ['transit/'] })
  for (const method of ['GET', 'POST', 'DELETE'] as const)
    assert.equal((await secondary.call(method, at('two'), {})).status, 400, method)
  const elsewhere = await secondary.call('POST', at('two'), { paths: ['own/', 'not-here/'] })
  assert.match(String(elsewhere.body.errors), /is not for a cluster in mode secondary/, 'whatever the paths are')
})

// At the square of the number of slashes it would outlive the process of the test.
test('a path of a million slashes is refused as any other', async () => {
  const { primary } = await performanceServers(15)
  const { status, body } = await primary.call('POST', at('two'), { paths: [`a${'/'.repeat(1_000_000)}a`] })
  assert.equal(status, 400)
  assert.match(String(body.errors), /paths/)
})

test('a filter goes with a revocation, and does not pass to a new token of the id', async () => {
  const { primary } = await performanceServers(14)
  await primary.must('POST', 'sys/mounts/transit', { type: 'transit' })
  const ofSet = 'sys/replication/performance/primary'
  const GONE = /^The filter of this id is gone: .* gets everything\. Write it again/
  await primary.must('POST', at('two'), { paths: ['transit/'] })
  const revoked = await primary.must('POST', `${ofSet}/revoke-secondary`, { id: 'two' })
  assert.match(String(revoked.body.warnings), GONE)
  assert.equal((await primary.call('GET', at('two'))).status, 404)
  const issued = await primary.must('POST', `${ofSet}/secondary-token`, { id: 'two' })
  assert.equal(issued.body.warnings, null)
  assert.deepEqual((await primary.call('GET', at('two'))).body, {})
  await primary.must('POST', at('two'), { paths: ['transit/'] })
  const again = await primary.must('POST', `${ofSet}/secondary-token`, { id: 'two' })
  assert.match(String((again.body.warnings as readonly string[]).at(-1)), GONE)
  assert.deepEqual((await primary.call('GET', at('two'))).body, {})
  assert.equal((await primary.must('POST', `${ofSet}/revoke-secondary`, { id: 'two' })).status, 204)
})

test('a demotion says whose filters end with it: the next primary does not know them', async () => {
  const { primary } = await performanceServers(15)
  await primary.must('POST', 'sys/mounts/transit', { type: 'transit' })
  await primary.must('POST', at('two'), { mode: 'deny', paths: ['transit/'] })
  const { body } = await primary.must('POST', 'sys/replication/performance/primary/demote')
  assert.match(String(body.warnings), /The filters of two end with this, and the next primary does not know them/)
})

test('each id that a token can have can have a filter', async () => {
  const { servers, primary } = await performanceServers(17)
  await primary.must('POST', 'sys/mounts/kept', { type: 'transit' })
  const filter = { mode: 'deny', paths: ['kept/'] }
  const ids = [
    'eu west',
    ' x',
    'eu:west',
    'eu+west',
    'eu@west',
    'Z\u00fcrich',
    '-x',
    'x.',
    'eu/west',
    '%2F',
    '?#',
    'x'.repeat(256),
  ]
  for (const id of ids) {
    await servers.token(primary, id, {}, 'performance')
    const segment = encodeURIComponent(id)
    assert.equal((await primary.call('POST', at(segment), filter)).status, 204, id)
    assert.deepEqual((await primary.must('GET', at(segment))).body.data, filter, id)
    assert.deepEqual((await primary.must('GET', ofPrimary(segment))).body.data, filtered(['kept/'], []), id)
    assert.equal((await primary.call('DELETE', at(segment))).status, 204, id)
    assert.deepEqual((await primary.call('GET', at(segment))).body, {}, id)
  }
})

test('an id that no secondary can have is refused by each endpoint, with the field', async () => {
  const { primary, secondary } = await performanceServers(18)
  const long = 'x'.repeat(257)
  const answers = [
    ...(await Promise.all(['GET', 'POST', 'DELETE'].map((method) => primary.call(method, at(long))))),
    await primary.call('GET', ofPrimary(long)),
    await secondary.call('GET', ofSecondary(long)),
  ]
  for (const { status, body } of answers) {
    assert.equal(status, 400)
    assert.match(String(body.errors), /field "id": has more than 256 bytes/)
  }
})

test('by the id of its cluster a secondary is named as it goes by now, also while it is off', async () => {
  const { servers, primary, secondary } = await grownServers(19)
  const cluster = await clusterId(secondary)
  const deny = { mode: 'deny', paths: ['kv/'] }
  await primary.must('POST', at('two'), deny)
  const { body } = await secondary.must('POST', 'sys/replication/performance/secondary/generate-public-key')
  const key = { secondary_public_key: body.data?.secondary_public_key }
  const token = await servers.token(primary, 'a-new', key, 'performance')
  await secondary.must('POST', 'sys/replication/performance/secondary/update-primary', { token })
  await servers.time.pass(20_000)
  assert.deepEqual((await primary.call('GET', at(cluster))).body, {})
  assert.deepEqual((await primary.must('GET', ofPrimary(cluster))).body.data, filtered([], []))
  await primary.must('POST', at(cluster), deny)
  assert.deepEqual((await primary.must('GET', at('a-new'))).body.data, deny)
  await servers.time.pass(5_000)
  assert.equal((await secondary.call('GET', 'sys/mounts/kv')).status, 400)
  // The former id was not revoked, and nothing says which of them the cluster will come by.
  servers.cut(primary, secondary)
  await servers.time.pass(60_000)
  for (const method of ['GET', 'POST', 'DELETE'] as const) {
    const refused = await primary.call(method, at(cluster), deny)
    assert.equal(refused.status, 400, method)
    assert.match(String(refused.body.errors), /as "(two|a-new)" and as "(two|a-new)"/)
  }
  await primary.must('POST', 'sys/replication/performance/primary/revoke-secondary', { id: 'two' })
  assert.deepEqual((await primary.must('GET', at(cluster))).body.data, deny)
  primary.kill()
  await primary.restart(primary.server.shares[0])
  await servers.time.pass(5_000)
  assert.deepEqual((await primary.must('GET', at(cluster))).body.data, deny)
  // Who uses the new token of an id is not known before it comes.
  await servers.token(primary, 'a-new', {}, 'performance')
  assert.equal((await primary.call('GET', at(cluster))).status, 404)
})

test('a cluster that was disabled and comes by another id is named by that one', async () => {
  const { servers, primary, secondary } = await grownServers(20)
  await secondary.must('POST', 'sys/replication/performance/secondary/disable', {})
  await servers.time.pass(3_000)
  await primary.must('POST', 'sys/replication/performance/primary/revoke-secondary', { id: 'two' })
  await servers.activate(primary, secondary, 'three', 'performance')
  await servers.level(primary, secondary, 60_000, 'performance')
  await servers.giveRootToken(primary, secondary)
  await primary.must('POST', at(await clusterId(secondary)), { mode: 'deny', paths: ['kv/'] })
  assert.deepEqual((await primary.must('GET', at('three'))).body.data, { mode: 'deny', paths: ['kv/'] })
  assert.equal((await primary.call('GET', at('two'))).status, 404)
})

test('T-09: a rule about one id of a secondary holds for its other one', async () => {
  const { primary, secondary } = await grownServers(21)
  const cluster = await clusterId(secondary)
  const deny = { mode: 'deny', paths: ['kv/'] }
  await primary.must('POST', at('two'), deny)
  const tokenWith = async (name: string, denied: readonly string[]): Promise<string> => {
    const rule = (path: string, capabilities: readonly string[]) =>
      `path "${path}" { capabilities = ${JSON.stringify(capabilities)} }\n`
    const all = [at('*'), ofPrimary('*')].map((path) => rule(path, ['create', 'read', 'update', 'delete']))
    const policy = all.join('') + denied.map((path) => rule(path, ['deny'])).join('')
    await primary.must('PUT', `sys/policies/acl/${name}`, { policy })
    const made = await primary.must('POST', 'auth/token/create', { policies: [name] })
    return (made.body.auth as { readonly client_token: string }).client_token
  }
  const answers = async (token: string, id: string): Promise<readonly number[]> => {
    const found: number[] = []
    for (const [method, path, body] of [
      ['GET', ofPrimary(id)],
      ['GET', at(id)],
      ['POST', at(id), { ...deny, dry_run: true }],
      ['POST', at(id), deny],
      ['DELETE', at(id)],
    ] as const)
      found.push((await primary.call(method, path, body, token)).status)
    return found
  }
  for (const [kept, other] of [
    ['two', cluster],
    [cluster, 'two'],
  ] as const) {
    const token = await tokenWith(`not-${kept}`, [at(kept), ofPrimary(kept)])
    for (const id of [kept, other])
      assert.deepEqual(await answers(token, id), [403, 403, 403, 403, 403], `${kept} ${id}`)
    assert.equal((await primary.call('GET', at('x'), undefined, token)).status, 404)
  }
  assert.deepEqual((await primary.must('GET', at('two'))).body.data, deny)
  // A rule about the reading alone leaves the rest as it is.
  assert.deepEqual(await answers(await tokenWith('not-shown', [ofPrimary('two')]), cluster), [403, 200, 200, 204, 204])
  // Who has no right to the path of the request is told nothing of the id.
  const none = await tokenWith('none', [at('*'), ofPrimary('*')])
  for (const id of ['two', cluster, 'x']) assert.deepEqual(await answers(none, id), [403, 403, 403, 403, 403], id)
})
