import { strict as assert } from 'node:assert'
import { before, test } from 'node:test'
import {
  type Asked,
  madeToken,
  type NamespacedServer,
  startNamespacedServer,
} from '../../test/fixtures/namespaced-server.ts'

const MAKER = 'auth/token/create*'
const ALL_OF_TOKENS = 'auth/token/*'
/** Every namespace of the tree; 'w1' has one below it and one beside it. */
const EVERYWHERE = ['', 'w1', 'w1/in', 'w2']

let server: NamespacedServer

before(async () => {
  server = await startNamespacedServer(['w1', 'w1/in', 'w2'])
  for (const where of ['w1', 'w1/in', 'w2']) {
    await server.policy('all', ['*'], { in: where })
    await server.policy('mounts', ['sys/mounts'], { in: where }, ['read'])
    await server.policy('tokens', [ALL_OF_TOKENS], { in: where })
  }
})

const isAlive = async (as: string): Promise<boolean> =>
  (await server.status('GET', 'auth/token/lookup-self', undefined, { as })) === 200

test('texts, accessors and leases of a namespace end in its id, those of the root do not', async () => {
  const id = server.idOf('w1')
  assert.match(id, /^[0-9A-Za-z]{6}$/)
  const inside = await server.token({ in: 'w1' })
  assert.match(inside.text, new RegExp(`^hvs\\.[0-9A-Za-z]{24}\\.${id}$`))
  assert.match(inside.accessor, new RegExp(`^[0-9A-Za-z]{24}\\.${id}$`))
  const batch = await server.token({ in: 'w1' }, { type: 'batch' })
  assert.match(batch.text, new RegExp(`^hvb\\.[0-9A-Za-z_-]+\\.${id}$`))
  assert.equal(batch.accessor, '')
  const outside = await server.token({}, { policies: ['default'] })
  assert.match(outside.text, /^hvs\.[0-9A-Za-z]{24}$/)
  assert.match(outside.accessor, /^[0-9A-Za-z]{24}$/)
  assert.match((await server.token({}, { policies: ['default'], type: 'batch' })).text, /^hvb\.[0-9A-Za-z_-]+$/)
})

test('a text is a token with the ending of its own namespace only', async () => {
  for (const type of ['service', 'batch']) {
    const { text } = await server.token({ in: 'w1' }, { type })
    const cut = text.slice(0, text.lastIndexOf('.'))
    const root = (await server.token({}, { policies: ['default'], type })).text
    const wrong = [
      cut,
      `${cut}.`,
      `${cut}.${server.idOf('w2')}`,
      `${cut}.${server.idOf('w1/in')}`,
      `${cut}.root`,
      `${cut}.abcdef`,
      `${text}.${server.idOf('w1')}`,
      `${text}x`,
      `${root}.${server.idOf('w1')}`,
      `${root}.root`,
    ]
    for (const where of EVERYWHERE) {
      assert.equal(await server.status('GET', 'auth/token/lookup-self', undefined, { in: where, as: text }), 200)
      for (const as of wrong) {
        assert.equal(await server.status('GET', 'auth/token/lookup-self', undefined, { in: where, as }), 403, as)
        // Nor is it one to whoever asks about it.
        assert.equal(await server.status('POST', 'auth/token/lookup', { token: as }, { in: where }), 403, as)
      }
    }
  }
})

test('a token works in its namespace and below, by header and by path', async () => {
  for (const type of ['service', 'batch']) {
    const { text: as } = await server.token({ in: 'w1' }, { policies: ['all'], type })
    for (const [where, status] of [
      ['', 403],
      ['w1', 200],
      ['w1/in', 200],
      ['w2', 403],
    ] as const) {
      assert.equal(await server.status('GET', 'sys/mounts', undefined, { in: where, as }), status, where)
      const path = where === '' ? 'sys/mounts' : `${where}/sys/mounts`
      assert.equal(await server.status('GET', path, undefined, { as }), status, path)
    }
  }
})

test('A-10: help tells a token of the mounts in its namespace and below, and of no others', async () => {
  assert.equal(await server.status('POST', 'sys/mounts/engine', { type: 'transit' }, { in: 'w2' }), 204)
  const { text: as } = await server.token({ in: 'w1' })
  for (const path of ['sys/mounts', 'engine/keys', 'nothing/keys']) {
    for (const where of ['', 'w2']) {
      assert.equal(await server.status('HELP', path, undefined, { in: where, as }), 403, `${where} ${path}`)
      assert.equal(await server.status('GET', `${path}?help=1`, undefined, { in: where, as }), 403, `${where} ${path}`)
    }
    const isThere = path === 'sys/mounts'
    for (const where of ['w1', 'w1/in'])
      assert.equal(await server.status('HELP', path, undefined, { in: where, as }), isThere ? 200 : 404, path)
  }
  assert.equal(await server.status('HELP', 'engine/keys', undefined, { in: 'w2' }), 200)
  assert.equal(await server.status('DELETE', 'sys/mounts/engine', undefined, { in: 'w2' }), 204)
})

test("a root's token has in a namespace what its own policies say, without the built-in one", async () => {
  await server.policy('into', ['w1/sys/mounts'], {}, ['read'])
  const { text: as } = await server.token({}, { policies: ['into'] })
  assert.equal(await server.status('GET', 'sys/mounts', undefined, { in: 'w1', as }), 200)
  assert.equal(await server.status('GET', 'sys/mounts', undefined, { in: 'w1/in', as }), 403)
  assert.equal(await server.status('GET', 'cubbyhole/x', undefined, { in: 'w1', as }), 403)
  assert.equal(await server.status('POST', 'sys/wrapping/wrap', { a: 1 }, { in: 'w1', as, wrap: '60' }), 403)
  assert.equal(await server.status('POST', 'sys/capabilities-self', { path: 'x' }, { in: 'w1', as }), 403)
})

test('what a token asks about itself is answered by its namespace, wherever it asks', async () => {
  for (const settings of [{}, { type: 'batch' }, { policies: ['all'], no_default_policy: true }]) {
    const { text } = await server.token({ in: 'w1' }, settings)
    for (const where of EVERYWHERE) {
      // The built-in policy has no right to the second.
      for (const method of 'policies' in settings ? ['GET', 'POST'] : ['GET']) {
        const { status, body } = await server.ask(method, 'auth/token/lookup-self', undefined, { in: where, as: text })
        assert.deepEqual([status, body.data?.namespace_path, body.data?.id, body.data?.path], [200, 'w1/', text, MADE])
      }
    }
    const unknown = { in: 'w9', as: text }
    assert.equal(await server.status('GET', 'auth/token/lookup-self', undefined, unknown), 404)
  }
  const { body } = await server.ask('GET', 'auth/token/lookup-self', undefined, { in: 'w1' })
  assert.equal(body.data !== undefined && 'namespace_path' in body.data, false, 'one of the root names none')
  for (const where of EVERYWHERE) {
    const { text: as } = await server.token({ in: 'w1' }, { ttl: '10m' })
    assert.equal(await server.status('POST', 'auth/token/renew-self', {}, { in: where, as }), 200)
    assert.equal(await server.status('PUT', 'auth/token/renew-self', {}, { in: where, as }), 200)
    assert.equal(await server.status('POST', 'auth/token/revoke-self', {}, { in: where, as }), 204)
    assert.equal(await isAlive(as), false)
  }
})
const MADE = 'auth/token/create'

test('a self look-up asks the policy of the namespace of the token', async () => {
  const { text: as } = await server.token({ in: 'w1' }, { no_default_policy: true, policies: ['mounts'] })
  for (const where of EVERYWHERE)
    assert.equal(await server.status('GET', 'auth/token/lookup-self', undefined, { in: where, as }), 403)
  await server.policy('self', ['auth/token/lookup-self'], { in: 'w1' }, ['read'])
  const self = await server.token({ in: 'w1' }, { no_default_policy: true, policies: ['self'] })
  for (const where of EVERYWHERE) {
    const asked = { in: where, as: self.text }
    assert.equal(await server.status('GET', 'auth/token/lookup-self', undefined, asked), 200)
    assert.equal(await server.status('POST', 'auth/token/renew-self', {}, asked), 403)
  }
})

test('root looks up, renews and revokes a token of a namespace from everywhere', async () => {
  for (const where of EVERYWHERE) {
    const { text: token } = await server.token({ in: 'w1' }, { ttl: '10m' })
    const looked = await server.ask('POST', 'auth/token/lookup', { token }, { in: where })
    assert.deepEqual([looked.status, looked.body.data?.namespace_path], [200, 'w1/'])
    const byPath = await server.ask('GET', `auth/token/lookup/${token}`, undefined, { in: where })
    assert.deepEqual([byPath.status, byPath.body.data?.namespace_path], [200, 'w1/'])
    assert.equal(await server.status('POST', 'auth/token/renew', { token }, { in: where }), 200)
    assert.equal(await server.status('POST', 'auth/token/revoke', { token }, { in: where }), 204)
    assert.equal(await isAlive(token), false)
    const other = await server.token({ in: 'w1' })
    assert.equal(await server.status('POST', 'auth/token/revoke-orphan', { token: other.text }, { in: where }), 204)
    assert.equal(await isAlive(other.text), false)
  }
})

test('whoever names a token needs rights in the namespace of that, and has none above or beside', async () => {
  const owners = {
    root: (await server.token({}, { policies: ['default'], ttl: '1h' })).text,
    own: (await server.token({}, { policies: ['root'], id: 'of-my-own', ttl: '1h' })).text,
    w2: (await server.token({ in: 'w2' }, { ttl: '1h' })).text,
    in: (await server.token({ in: 'w1/in' }, { ttl: '1h' })).text,
  }
  for (const policies of [['tokens'], ['all']]) {
    const { text: as } = await server.token({ in: 'w1' }, { policies })
    for (const [owner, token] of Object.entries(owners)) {
      // `tokens` names paths of w1 alone, `all` what is below too.
      const isAllowed = owner === 'in' && policies.includes('all')
      for (const where of EVERYWHERE) {
        const asked = { in: where, as }
        for (const [method, path, body] of [
          ['POST', 'auth/token/lookup', { token }],
          ['GET', `auth/token/lookup/${token}`, undefined],
          // What the body says beside the path counts for nothing.
          ['POST', 'auth/token/renew', { token }],
          ...(isAllowed
            ? []
            : ([
                ['POST', 'auth/token/revoke', { token }],
                ['POST', 'auth/token/revoke-orphan', { token }],
              ] as const)),
        ] as const) {
          const status = await server.status(method, path, body, asked)
          assert.equal(status, isAllowed ? 200 : 403, `${path} of ${owner} in "${where}" with ${policies}`)
        }
      }
      assert.equal(await isAlive(token), true)
    }
  }
})

test('a token that is sent as something else than text is not looked for in another namespace', async () => {
  const { text } = await server.token({}, { policies: ['root'], id: '12345', ttl: '1h' })
  const { text: as } = await server.token({ in: 'w1' }, { policies: ['all'] })
  for (const token of [12345, ['12345'], '12345']) {
    assert.ok((await server.status('POST', 'auth/token/lookup', { token }, { in: 'w1', as })) >= 400)
    assert.ok((await server.status('POST', 'auth/token/renew', { token }, { in: 'w1', as })) >= 400)
    await server.ask('POST', 'auth/token/revoke', { token }, { in: 'w1', as })
    await server.ask('POST', 'auth/token/revoke-orphan', { token }, { in: 'w1', as })
  }
  assert.equal(await isAlive(text), true)
})

test('accessors count in their own namespace only, even for root', async () => {
  const { text, accessor } = await server.token({ in: 'w1' }, { ttl: '10m' })
  const root = await server.token({}, { policies: ['default'], ttl: '10m' })
  for (const [path, body] of [
    ['auth/token/lookup-accessor', { accessor }],
    ['auth/token/renew-accessor', { accessor }],
    ['auth/token/revoke-accessor', { accessor }],
  ] as const) {
    for (const where of ['', 'w1/in', 'w2']) {
      const status = await server.status('POST', path, body, { in: where })
      assert.ok(status >= 400 && status < 500, `${path} in "${where}": ${status}`)
    }
    const ofRoot = await server.status('POST', path, { accessor: root.accessor }, { in: 'w1' })
    assert.ok(ofRoot >= 400 && ofRoot < 500)
  }
  assert.deepEqual([await isAlive(text), await isAlive(root.text)], [true, true])
  const { body } = await server.ask('POST', 'auth/token/lookup-accessor', { accessor }, { in: 'w1' })
  assert.deepEqual([body.data?.id, body.data?.accessor, body.data?.namespace_path], ['', accessor, 'w1/'])
  assert.equal(await server.status('POST', 'auth/token/renew-accessor', { accessor }, { in: 'w1' }), 200)
  for (const wrong of [accessor.slice(0, -7), `${accessor}.${server.idOf('w1')}`, `x.${server.idOf('w1')}`, '.', 'x.'])
    assert.ok((await server.status('POST', 'auth/token/lookup-accessor', { accessor: wrong }, { in: 'w1' })) >= 400)
  assert.equal(await server.status('POST', 'auth/token/revoke-accessor', { accessor }, { in: 'w1' }), 204)
  assert.equal(await isAlive(text), false)
})

test('the accessors of a namespace are listed there, in pages, each once', async () => {
  const fresh = await startNamespacedServer(['a', 'a/b'])
  const made: string[] = []
  for (let i = 0; i < 12; i++) made.push((await fresh.token({ in: 'a' })).accessor)
  const below = await fresh.token({ in: 'a/b' })
  const page = async (query: string, where: string) =>
    ((await fresh.ask('GET', `auth/token/accessors?list=true${query}`, undefined, { in: where })).body.data?.keys ??
      []) as string[]
  const seen: string[] = []
  for (let after = ''; ; after = seen.at(-1) ?? '') {
    const keys = await page(`&limit=5&after=${after}`, 'a')
    if (keys.length === 0) break
    assert.ok(keys.length <= 5)
    seen.push(...keys)
  }
  assert.deepEqual(seen.toSorted(), made.toSorted())
  assert.deepEqual(await page('', 'a/b'), [below.accessor])
  const ofRoot = await page('', '')
  assert.ok(ofRoot.length > 0)
  assert.deepEqual(
    ofRoot.filter((accessor) => accessor.includes('.')),
    [],
  )
})

test('the tokens of a namespace are counted there, and all of them in the root', async () => {
  const fresh = await startNamespacedServer(['a', 'a/b'])
  for (const where of ['a', 'a', 'a/b']) await fresh.token({ in: where })
  const counted = async (where: string) =>
    (await fresh.ask('GET', 'sys/internal/counters/tokens', undefined, { in: where })).body.data?.counters
  assert.deepEqual(await counted('a'), { service_tokens: { total: 2 } })
  assert.deepEqual(await counted('a/b'), { service_tokens: { total: 1 } })
  assert.deepEqual(await counted(''), { service_tokens: { total: 4 } })
})

test('a caller from above gives what it names and the default policy, and nothing of its own', async () => {
  assert.deepEqual((await server.token({ in: 'w1' })).policies, ['default'])
  assert.deepEqual((await server.token({ in: 'w1' }, { policies: ['p', 'q'] })).policies, ['default', 'p', 'q'])
  const bare = { policies: ['p', 'default'], no_default_policy: true }
  assert.deepEqual((await server.token({ in: 'w1' }, bare)).policies, ['p'])
  await server.policy('deputy', [`w1/${MAKER}`], {})
  const deputy = await server.token({}, { policies: ['deputy', 'default'] })
  const asked = { in: 'w1', as: deputy.text }
  assert.deepEqual((await server.token(asked)).policies, ['default'])
  assert.deepEqual((await server.token(asked, { policies: ['never-had'] })).policies, ['default', 'never-had'])
  assert.equal(await server.status('POST', 'auth/token/create', {}, { in: 'w2', as: deputy.text }), 403)
  assert.equal(await server.status('POST', 'auth/token/create', {}, { in: 'w1/in', as: deputy.text }), 403)
})

test('without sudo nobody makes a token in a namespace below', async () => {
  await server.policy('clerk', [`w1/${MAKER}`], {}, ['create', 'update'])
  const { text: as } = await server.token({}, { policies: ['clerk'] })
  for (const path of ['auth/token/create', 'auth/token/create-orphan']) {
    const { status, body } = await server.ask('POST', path, {}, { in: 'w1', as })
    const text = 'root or sudo privileges required to directly generate a token in a child namespace'
    assert.deepEqual([status, body.errors], [400, [text]])
  }
  await server.ask('POST', 'auth/token/roles/free', { allowed_policies: 'p' }, { in: 'w1' })
  assert.equal(await server.status('POST', 'auth/token/create/free', {}, { in: 'w1', as }), 400)
})

test('only the root has root tokens and chosen texts, and none gives wrapping tokens for the asking', async () => {
  const own = await server.token({ in: 'w1' }, { policies: ['all'] })
  const ask = (settings: object, asked: Asked = {}) =>
    server.ask('POST', 'auth/token/create', settings, { in: 'w1', ...asked })
  const byRoot = await ask({ policies: ['root'] })
  assert.deepEqual(byRoot.body.errors, ['root tokens may not be created from a parent namespace'])
  const textOwn = 'token IDs can only be manually specified in the root namespace'
  for (const as of ['root', own.text]) {
    assert.equal((await ask({ policies: ['root'] }, { as })).status, 400)
    assert.equal((await ask({ policies: ['p', 'root'] }, { as })).status, 400)
    assert.equal((await ask({ policies: ['response-wrapping'] }, { as })).status, 400)
    const chosen = await ask({ policies: ['all'], id: 'own-id' }, { as })
    assert.deepEqual([chosen.status, chosen.body.errors], [400, [textOwn]])
  }
  await server.ask('POST', 'auth/token/roles/top', { allowed_policies: 'root' }, { in: 'w1' })
  await server.ask('POST', 'auth/token/roles/no', { disallowed_policies: 'x' }, { in: 'w1' })
  for (const as of ['root', own.text]) {
    assert.equal(await server.status('POST', 'auth/token/create/top', {}, { in: 'w1', as }), 400)
    assert.equal(await server.status('POST', 'auth/token/create/no', { policies: ['root'] }, { in: 'w1', as }), 400)
  }
  const disallowing = await server.ask('POST', 'auth/token/create/no', {}, { in: 'w1' })
  assert.deepEqual(madeToken(disallowing).policies, ['default'], 'and nothing of the root token that asked')
})

test('a token of a namespace makes children there as one of the root does in the root', async () => {
  const maker = await server.token({ in: 'w1' }, { policies: ['tokens', 'p'] })
  const asked = { in: 'w1', as: maker.text }
  assert.deepEqual((await server.token(asked)).policies, ['default', 'p', 'tokens'])
  await server.policy('plain', [MAKER], { in: 'w1' }, ['create', 'update'])
  const plain = { in: 'w1', as: (await server.token({ in: 'w1' }, { policies: ['plain', 'p'] })).text }
  assert.deepEqual((await server.token(plain, { policies: ['p'] })).policies, ['default', 'p'])
  assert.equal(await server.status('POST', 'auth/token/create', { policies: ['q'] }, plain), 400)
})

test('a token falls with the one that made it, also where that is of another namespace', async () => {
  await server.policy('deputy', ['+/auth/token/create*', '+/+/auth/token/create*'], {})
  const deputy = await server.token({}, { policies: ['deputy'] })
  const as = deputy.text
  const below = await server.token({ in: 'w1', as }, { policies: ['all'] })
  const beside = await server.token({ in: 'w2', as })
  const deep = await server.token({ in: 'w1/in', as })
  const grandchild = await server.token({ in: 'w1', as: below.text })
  const greatGrandchild = await server.token({ in: 'w1/in', as: grandchild.text })
  const orphan = madeToken(await server.ask('POST', 'auth/token/create-orphan', {}, { in: 'w1', as }))
  const batch = await server.token({ in: 'w1', as }, { type: 'batch' })
  const orphans = async (token: string) => (await server.ask('POST', 'auth/token/lookup', { token })).body.data?.orphan
  assert.deepEqual([await orphans(below.text), await orphans(orphan.text)], [false, true])
  assert.equal(await server.status('POST', 'auth/token/revoke', { token: as }), 204)
  for (const one of [below, beside, deep, grandchild, greatGrandchild, batch])
    assert.equal(await isAlive(one.text), false)
  assert.equal(await isAlive(orphan.text), true)
  const stored = (await server.store.scan('root/sys/', '', 100_000)).map(({ key }) => key)
  for (const { text } of [below, beside, deep, grandchild, greatGrandchild])
    assert.deepEqual(
      stored.filter((key) => key.includes(server.node.tokens.idOf(text))),
      [],
    )
})

test('roles are of one namespace', async () => {
  const role = { allowed_policies: 'p', orphan: true, path_suffix: 'abc', token_period: '1h' }
  assert.equal(await server.status('POST', 'auth/token/roles/r', role, { in: 'w1' }), 204)
  assert.equal(await server.status('POST', 'auth/token/roles/r', { allowed_policies: 'q' }, { in: 'w2' }), 204)
  for (const [where, status] of [
    ['', 404],
    ['w1', 200],
    ['w1/in', 404],
    ['w2', 200],
  ] as const) {
    assert.equal(await server.status('GET', 'auth/token/roles/r', undefined, { in: where }), status)
    assert.equal(await server.status('POST', 'auth/token/create/r', {}, { in: where }), status === 200 ? 200 : 400)
  }
  const made = await server.ask('POST', 'auth/token/create/r', {}, { in: 'w1' })
  const { data } = (await server.ask('POST', 'auth/token/lookup', { token: madeToken(made).text })).body
  assert.deepEqual(
    [data?.policies, data?.path, data?.orphan, data?.role, data?.period, data?.namespace_path],
    [['default', 'p'], 'auth/token/create/r/abc', true, 'r', 3_600, 'w1/'],
  )
  assert.equal(await server.status('DELETE', 'auth/token/roles/r', undefined, { in: 'w2' }), 204)
  assert.equal(await server.status('GET', 'auth/token/roles/r', undefined, { in: 'w1' }), 200)
  const keys = (await server.store.scan('', '', 100_000)).map(({ key }) => key)
  assert.ok(keys.includes(`${server.idOf('w1')}/sys/token-role/r`))
})

test("the lifetime of a token is bounded by its namespace's own mount", async () => {
  assert.equal(await server.status('POST', 'sys/auth/token/tune', { max_lease_ttl: '10m' }, { in: 'w2' }), 204)
  const ttlOf = async (where: string) => {
    const { text: token } = await server.token({ in: where }, { policies: ['p'], ttl: '1h' })
    return (await server.ask('POST', 'auth/token/lookup', { token })).body.data?.ttl
  }
  assert.deepEqual([await ttlOf(''), await ttlOf('w1'), await ttlOf('w2')], [3_600, 3_600, 600])
  const { text: token } = await server.token({ in: 'w2' })
  const { body } = await server.ask('POST', 'auth/token/renew', { token, increment: '2h' })
  assert.equal((body.auth as { lease_duration: number }).lease_duration, 600)
})

test('a login gives a token of the namespace of its mount, and a name that tells where it was', async () => {
  const tokens: string[] = []
  for (const where of ['', 'w1', 'w1/in']) {
    await server.ask('POST', 'sys/auth/up/x', { type: 'userpass' }, { in: where })
    await server.ask('POST', 'auth/up/x/users/bob', { password: 'pw', token_policies: 'p' }, { in: where })
    const login = await server.ask('POST', 'auth/up/x/login/bob', { password: 'pw' }, { in: where, as: '' })
    tokens.push(madeToken(login).text)
  }
  const shown = []
  for (const token of tokens) {
    const { data } = (await server.ask('POST', 'auth/token/lookup', { token })).body
    shown.push([data?.display_name, data?.path, data?.namespace_path])
  }
  assert.deepEqual(shown, [
    ['up-x-bob', 'auth/up/x/login/bob', undefined],
    ['w1-auth-up-x-bob', 'auth/up/x/login/bob', 'w1/'],
    ['w1-in-auth-up-x-bob', 'auth/up/x/login/bob', 'w1/in/'],
  ])
  assert.equal(await server.status('DELETE', 'sys/auth/up/x', undefined, { in: 'w1' }), 204)
  assert.deepEqual(await Promise.all(tokens.map(isAlive)), [true, false, true])
  const stored = (await server.store.scan('root/sys/', '', 100_000)).map(({ key }) => key)
  const isStored = (token = '') => stored.some((key) => key.includes(server.node.tokens.idOf(token)))
  assert.deepEqual(tokens.map(isStored), [true, false, true])
})

test('no token of a namespace outlives it, and none can be made behind its end', async () => {
  const going = await startNamespacedServer(['a', 'b'])
  await going.policy('p', ['*'], { in: 'a' })
  const made = {
    service: (await going.token({ in: 'a' }, { policies: ['p'] })).text,
    batch: (await going.token({ in: 'a' }, { type: 'batch', policies: ['p'] })).text,
    other: (await going.token({ in: 'b' })).text,
    otherBatch: (await going.token({ in: 'b' }, { type: 'batch' })).text,
  }
  const id = going.idOf('a')
  const { node } = going
  const wrapped = await going.ask('POST', 'sys/wrapping/wrap', { a: 1 }, { in: 'a', wrap: '1h' })
  const { token: wrapping } = wrapped.body.wrap_info as { token: string }
  for (let i = 0; i < 510; i++) await going.token({ in: 'a' })
  const entry = await node.tokens.entryOf(node.tokens.idOf(made.service))
  assert.equal(await going.status('DELETE', 'sys/namespaces/a'), 200)
  // It may take longer than the answer.
  while (node.namespaces.byId(id) !== undefined) await node.namespaceDeletion.begun()
  for (const text of [made.service, made.batch, wrapping])
    for (const where of ['', 'b']) {
      assert.equal(await going.status('GET', 'auth/token/lookup-self', undefined, { in: where, as: text }), 403)
      assert.equal(await going.status('POST', 'auth/token/lookup', { token: text }, { in: where }), 403)
    }
  assert.equal(await going.status('POST', 'sys/wrapping/unwrap', { token: wrapping }), 400)
  for (const as of [made.other, made.otherBatch])
    assert.equal(await going.status('GET', 'auth/token/lookup-self', undefined, { as }), 200)
  const keys = (await going.store.scan('', '', 100_000)).map(({ key }) => key)
  assert.deepEqual(
    keys.filter((key) => key.includes(id)),
    [],
  )
  assert.ok(entry !== undefined)
  await assert.rejects(node.tokens.insert(`hvs.later.${id}`, { ...entry, parent: '' }), { code: 'bad_namespace' })
  // Another namespace of that name has nothing of them.
  assert.equal(await going.status('POST', 'sys/namespaces/a', {}), 200)
  assert.notEqual(going.idOf('a'), id)
  for (const text of [made.service, made.batch])
    assert.equal(await going.status('GET', 'sys/mounts', undefined, { in: 'a', as: text }), 403)
})

test('a token that is being made while its namespace is deleted is not made', async () => {
  const going = await startNamespacedServer(['a'])
  const { tokens, namespaceDeletion, namespaces } = going.node
  const id = going.idOf('a')
  const insert = tokens.insert.bind(tokens)
  tokens.insert = async (token, entry) => {
    // The request is done, except for its one transaction.
    await going.ask('DELETE', 'sys/namespaces/a')
    return insert(token, entry)
  }
  const status = await going.status('POST', 'auth/token/create', {}, { in: 'a' })
  assert.equal(status, 404)
  while (namespaces.byId(id) !== undefined) await namespaceDeletion.begun()
  const keys = (await going.store.scan('', '', 100_000)).map(({ key }) => key)
  assert.deepEqual(
    keys.filter((key) => key.includes(id)),
    [],
  )
})

test('namespaces and their tokens are there after a restart', async () => {
  const { text: as } = await server.token({ in: 'w1/in' }, { policies: ['all'] })
  const batch = await server.token({ in: 'w1/in' }, { policies: ['all'], type: 'batch' })
  const [key] = server.shares
  const again = await startNamespacedServer([], { store: server.store, key: key as Buffer })
  for (const text of [as, batch.text]) {
    assert.equal(await again.status('GET', 'sys/mounts', undefined, { in: 'w1/in', as: text }), 200)
    assert.equal(await again.status('GET', 'sys/mounts', undefined, { in: 'w1', as: text }), 403)
    const { body } = await again.ask('GET', 'auth/token/lookup-self', undefined, { as: text })
    assert.equal(body.data?.namespace_path, 'w1/in/')
  }
})
