import { strict as assert } from 'node:assert'
import { before, test } from 'node:test'
import type { Called } from '../../test/fixtures/memory-server.ts'
import { madeToken, type NamespacedServer, startNamespacedServer } from '../../test/fixtures/namespaced-server.ts'

const EVERYWHERE = ['', 'w1', 'w1/in', 'w2']
const LOGIN = 'auth/up/login/u'

let server: NamespacedServer

before(async () => {
  server = await startNamespacedServer(['w1', 'w1/in', 'w2'])
  for (const where of ['w1', 'w1/in']) {
    await server.ask('POST', 'sys/auth/up', { type: 'userpass' }, { in: where })
    await server.ask('POST', 'auth/up/users/u', { password: 'pw' }, { in: where })
    await server.policy('all', ['*'], { in: where })
  }
})

const logIn = async (where: string): Promise<string> =>
  madeToken(await server.ask('POST', LOGIN, { password: 'pw' }, { in: where, as: '' })).text

const keysOf = ({ body }: Called): readonly string[] => (body.data?.keys ?? []) as string[]

/** The ids of the leases of logins in the namespace. */
async function leasesIn(where: string): Promise<string[]> {
  const listed = await server.ask('LIST', `sys/leases/lookup/${LOGIN}`, undefined, { in: where })
  return keysOf(listed).map((name) => `${LOGIN}/${name}`)
}

const isAlive = async (as: string): Promise<boolean> =>
  (await server.status('GET', 'auth/token/lookup-self', undefined, { as })) === 200

const leaseOf = (token: string, where: string): string =>
  `${LOGIN}/h${server.node.tokens.idOf(token)}.${server.idOf(where)}`

test('a lease ends in the id of its namespace, and is looked up from everywhere', async () => {
  const token = await logIn('w1')
  const id = leaseOf(token, 'w1')
  assert.ok((await leasesIn('w1')).includes(id))
  for (const where of EVERYWHERE) {
    const { status, body } = await server.ask('POST', 'sys/leases/lookup', { lease_id: id }, { in: where })
    assert.equal(status, 200)
    const { id: shown, path, namespace_path, renewable } = body.data ?? {}
    assert.deepEqual([shown, path, namespace_path, renewable], [id, LOGIN, 'w1/', true])
  }
  const root = await server.token({}, { policies: ['default'] })
  const rootLease = `auth/token/create/h${server.node.tokens.idOf(root.text)}`
  for (const where of EVERYWHERE) {
    const { status, body } = await server.ask('POST', 'sys/leases/lookup', { lease_id: rootLease }, { in: where })
    assert.deepEqual([status, body.data !== undefined && 'namespace_path' in body.data], [200, false])
  }
})

test('the id of a lease with another ending, or none, is that of no lease', async () => {
  const token = await logIn('w1')
  const id = leaseOf(token, 'w1')
  const cut = id.slice(0, id.lastIndexOf('.'))
  const wrong = [
    cut,
    `${cut}.`,
    `${cut}.${server.idOf('w2')}`,
    `${cut}.root`,
    `${cut}.abcdef`,
    `${id}.root`,
    `w1/${id}`,
  ]
  for (const lease_id of wrong) {
    for (const where of EVERYWHERE) {
      assert.equal(await server.status('POST', 'sys/leases/lookup', { lease_id }, { in: where }), 400, lease_id)
      assert.equal(await server.status('POST', 'sys/leases/renew', { lease_id }, { in: where }), 400, lease_id)
      assert.equal(await server.status('POST', 'sys/leases/revoke', { lease_id }, { in: where }), 204, lease_id)
      assert.equal(await server.status('POST', `sys/leases/revoke/${lease_id}`, {}, { in: where }), 204, lease_id)
    }
  }
  assert.equal(await isAlive(token), true)
})

test('a lease is renewed and revoked by its id from everywhere, at each of its paths', async () => {
  for (const where of EVERYWHERE) {
    for (const [renew, revoke] of [
      ['sys/leases/renew', 'sys/leases/revoke'],
      ['sys/renew', 'sys/revoke'],
    ] as const) {
      for (const isInPath of [true, false]) {
        const token = await logIn('w1')
        const id = leaseOf(token, 'w1')
        const at = (path: string) => (isInPath ? `${path}/${id}` : path)
        const body = isInPath ? {} : { lease_id: id }
        const renewed = await server.ask('POST', at(renew), body, { in: where })
        assert.deepEqual([renewed.status, renewed.body.lease_id], [200, id])
        assert.equal(await server.status('PUT', at(revoke), body, { in: where }), 204)
        assert.equal(await isAlive(token), false)
      }
    }
  }
})

test('whoever names a lease needs rights in the namespace of that', async () => {
  const { text: as } = await server.token({ in: 'w1' }, { policies: ['all'] })
  const root = await server.token({}, { policies: ['default'] })
  const other = await server.token({ in: 'w2' })
  const foreign = [
    `auth/token/create/h${server.node.tokens.idOf(root.text)}`,
    `auth/token/create/h${server.node.tokens.idOf(other.text)}.${server.idOf('w2')}`,
  ]
  const own = leaseOf(await logIn('w1'), 'w1')
  for (const where of EVERYWHERE) {
    for (const lease_id of foreign) {
      for (const path of ['sys/leases/lookup', 'sys/leases/renew', 'sys/leases/revoke', 'sys/renew', 'sys/revoke'])
        assert.equal(await server.status('POST', path, { lease_id }, { in: where, as }), 403)
      // The path decides, whatever the body says beside it.
      for (const path of ['sys/leases/renew', 'sys/leases/revoke'])
        assert.equal(await server.status('POST', `${path}/${lease_id}`, { lease_id: own }, { in: where, as }), 403)
    }
    assert.equal(await server.status('POST', 'sys/leases/lookup', { lease_id: own }, { in: where, as }), 200)
  }
  assert.deepEqual([await isAlive(root.text), await isAlive(other.text)], [true, true])
})

test('lists and revocations by prefix know the leases of their own namespace alone', async () => {
  const tokens = { w1: await logIn('w1'), in: await logIn('w1/in') }
  for (const [where, prefix] of [
    ['', 'auth/up/login'],
    ['', 'w1/auth/up/login'],
    ['', 'w1'],
    ['w1', 'in/auth/up/login'],
    ['w2', 'auth/up/login'],
    ['', `w1/${leaseOf(tokens.w1, 'w1')}`],
    ['', leaseOf(tokens.w1, 'w1')],
    ['w1', leaseOf(tokens.in, 'w1/in')],
  ] as const) {
    assert.equal(await server.status('LIST', `sys/leases/lookup/${prefix}`, undefined, { in: where }), 404, prefix)
    for (const path of ['leases/revoke-prefix', 'leases/revoke-force', 'revoke-prefix', 'revoke-force'])
      assert.equal(await server.status('POST', `sys/${path}/${prefix}`, {}, { in: where }), 204)
  }
  assert.deepEqual([await isAlive(tokens.w1), await isAlive(tokens.in)], [true, true])
  assert.deepEqual(keysOf(await server.ask('LIST', 'sys/leases/lookup/auth/up/login', undefined, { in: 'w1' })), ['u/'])
  assert.deepEqual(await leasesIn('w1/in'), [leaseOf(tokens.in, 'w1/in')])
  assert.equal(await server.status('POST', 'sys/leases/revoke-prefix/auth/up', {}, { in: 'w1' }), 204)
  assert.deepEqual([await isAlive(tokens.w1), await isAlive(tokens.in)], [false, true])
  assert.equal(await server.status('POST', `sys/leases/revoke-force/${leaseOf(tokens.in, 'w1/in')}`, {}, IN), 204)
  assert.equal(await isAlive(tokens.in), false)
})
const IN = { in: 'w1/in' }

test('leases are listed in pages, each once, and by the names that were shown', async () => {
  const made = []
  for (let i = 0; i < 7; i++) made.push(leaseOf(await logIn('w1/in'), 'w1/in'))
  const seen: string[] = []
  for (let after = ''; ; after = seen.at(-1) ?? '') {
    const path = `sys/leases/lookup/${LOGIN}?list=true&limit=3&after=${after}`
    const keys = keysOf(await server.ask('GET', path, undefined, IN))
    if (keys.length === 0) break
    seen.push(...keys)
  }
  assert.deepEqual(
    seen.map((name) => `${LOGIN}/${name}`),
    made.toSorted(),
  )
})

test('the counts of leases that cannot end are those of the namespace, and name the mount there', async () => {
  const token = await logIn('w1')
  const id = server.node.tokens.idOf(token)
  let fails = true
  server.node.tokens.addBelongings(async (_tx, owner) => {
    if (fails && owner === id) throw new Error('not now')
    return true
  })
  await server.node.tokens.update(id, (entry) => ({ ...entry, expiry: { atMs: entry.createdAtMs + 1_000 } }))
  server.advance(2)
  for (let i = 0; i < 7; i++) {
    await server.node.expiry.runNow()
    server.advance(3_600)
  }
  const counted = async (where: string) => {
    const { body } = await server.ask('GET', 'sys/leases/count?type=irrevocable', undefined, { in: where })
    return body.data
  }
  const accessor = server.node.mounts.withUuid((await server.node.tokens.entryOf(id))?.login?.mountUuid ?? '')?.entry
    .accessor
  assert.deepEqual(await counted('w1'), { lease_count: 1, counts: { [accessor ?? '']: 1 } })
  for (const where of ['', 'w1/in', 'w2']) assert.deepEqual(await counted(where), { lease_count: 0, counts: {} })
  const { body } = await server.ask('GET', 'sys/leases?type=irrevocable', undefined, { in: 'w1' })
  assert.deepEqual(body.data?.leases, [{ lease_id: leaseOf(token, 'w1'), mount_accessor: accessor, error: 'Error' }])
  fails = false
  await server.node.expiry.runNow()
  assert.equal((await counted('w1'))?.lease_count, 0)
})

test('tidying leaves the leases and accessors of namespaces, and takes what leads nowhere', async () => {
  const token = await logIn('w1')
  const { tokens, tokenService } = server.node
  const keys = async () => (await server.store.scan('root/sys/', '', 100_000)).map(({ key }) => key)
  await tokenService.tidy.run()
  const before = await keys()
  const stray = tokens.idOf('stray')
  await tokens.view.transaction(async (tx) => {
    tx.put(`lease-of/${server.idOf('w1')}/${LOGIN}/h${stray}`, Buffer.alloc(0))
    tx.put(`token/accessor/${server.idOf('w1')}/${stray}`, Buffer.from(stray))
  })
  await tokenService.tidy.run()
  assert.deepEqual(await keys(), before)
  assert.equal(await isAlive(token), true)
})
