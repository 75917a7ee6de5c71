// The seal through the pipeline: init, unseal with shares, seal, and what a sealed server answers.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { startMemoryServer } from '../../../test/fixtures/memory-server.ts'

const give = (key: Buffer) => ({ key: key.toString('base64') })

test('the name of a cluster is short and printable: everybody is shown it', async () => {
  const { call } = await startMemoryServer({ shares: 0 })
  const init = (cluster_name: string) =>
    call('PUT', 'sys/init', { secret_shares: 1, secret_threshold: 1, cluster_name })
  for (const bad of ['x'.repeat(129), 'a\nb', 'a\u001b[31m', 'a\u202eb', 'a\u2028b']) {
    const { status, body } = await init(bad)
    assert.deepEqual([status, /field "cluster_name"/.test(String(body.errors))], [400, true], JSON.stringify(bad))
  }
  const keys = (await init('Zürich, 2nd floor')).body.keys_base64 as readonly string[]
  await call('PUT', 'sys/unseal', { key: keys[0] })
  assert.equal((await call('GET', 'sys/health', undefined, '')).body.cluster_name, 'Zürich, 2nd floor')
  const other = await startMemoryServer({ shares: 0 })
  const longest = { secret_shares: 1, secret_threshold: 1, cluster_name: 'é'.repeat(128) }
  assert.equal((await other.call('PUT', 'sys/init', longest)).status, 200)
})

test('P-58: a sealed server answers its status and nothing else, and opens with enough shares', async () => {
  const { call, shares } = await startMemoryServer({ shares: 5, threshold: 3 })
  await call('POST', 'sys/mounts/transit', { type: 'transit' })
  await call('POST', 'transit/keys/k')
  assert.equal((await call('PUT', 'sys/seal')).status, 204)
  for (const [method, path] of [
    ['GET', 'sys/mounts'],
    ['POST', 'transit/encrypt/k'],
    ['GET', 'nothing/here'],
    ['PUT', 'sys/seal'],
  ] as const) {
    assert.equal((await call(method, path, {})).status, 503, path)
  }
  assert.equal((await call('GET', 'sys/health')).status, 503)
  assert.equal((await call('GET', 'sys/health?sealedcode=299')).status, 299)
  assert.equal((await call('GET', 'sys/leader')).status, 200)
  const status = await call('GET', 'sys/seal-status')
  assert.deepEqual([status.body.sealed, status.body.t, status.body.n, status.body.progress], [true, 3, 5, 0])
  assert.equal(status.body.cluster_name, undefined)
  for (const [index, share] of [4, 1, 3].entries()) {
    const { body } = await call('PUT', 'sys/unseal', give(shares[share] as Buffer))
    assert.equal(body.sealed, index < 2)
  }
  assert.equal((await call('GET', 'transit/keys/k')).status, 200)
})

test('T-19: the same share twice counts once', async () => {
  const { call, shares } = await startMemoryServer({ shares: 3, threshold: 2 })
  await call('PUT', 'sys/seal')
  await call('PUT', 'sys/unseal', give(shares[0] as Buffer))
  const again = await call('PUT', 'sys/unseal', give(shares[0] as Buffer))
  assert.deepEqual([again.body.sealed, again.body.progress], [true, 1])
})

test('P-60: a wrong combination is refused, forgets its shares, and says nothing of which one was wrong', async () => {
  const { call, shares } = await startMemoryServer({ shares: 3, threshold: 2 })
  await call('PUT', 'sys/seal')
  const wrong = Buffer.from(shares[1] as Buffer)
  wrong[0] = (wrong[0] as number) ^ 1
  await call('PUT', 'sys/unseal', give(shares[0] as Buffer))
  const refused = await call('PUT', 'sys/unseal', give(wrong))
  assert.equal(refused.status, 400)
  assert.deepEqual(refused.body, { errors: ['unseal failed, invalid key'] })
  const status = await call('GET', 'sys/seal-status')
  assert.deepEqual([status.body.progress, status.body.nonce, status.body.sealed], [0, '', true])
  await call('PUT', 'sys/unseal', give(shares[0] as Buffer))
  assert.equal((await call('PUT', 'sys/unseal', give(shares[2] as Buffer))).body.sealed, false)
})

test('shares of another server do not open this one', async () => {
  const [one, other] = [
    await startMemoryServer({ shares: 3, threshold: 2 }),
    await startMemoryServer({ shares: 3, threshold: 2 }),
  ]
  await one.call('PUT', 'sys/seal')
  await one.call('PUT', 'sys/unseal', give(other.shares[0] as Buffer))
  assert.equal((await one.call('PUT', 'sys/unseal', give(other.shares[1] as Buffer))).status, 400)
})

test('what cannot be a share is refused by name, hexadecimal is accepted, and reset forgets', async () => {
  const { call, shares } = await startMemoryServer({ shares: 3, threshold: 2 })
  await call('PUT', 'sys/seal')
  for (const key of ['xx', 'AAAA', '', 'a'.repeat(200), 'not base64!']) {
    const { status, body } = await call('PUT', 'sys/unseal', { key })
    assert.equal(status, 400, key)
    assert.match(JSON.stringify(body), /key/)
  }
  const given = await call('PUT', 'sys/unseal', { key: (shares[0] as Buffer).toString('hex') })
  assert.equal(given.body.progress, 1)
  assert.notEqual(given.body.nonce, '')
  assert.equal((await call('PUT', 'sys/unseal', { reset: true })).body.progress, 0)
})

/** Lengths in bytes that a share may have, though such shares cannot give a key of the right length. */
const OTHER_LENGTHS = { 1: [24, 33], 2: [16, 32] } as const

for (const threshold of [1, 2] as const) {
  test(`P-43: shares that give no key are as wrong as others, where ${threshold} opens`, async () => {
    const { call, shares } = await startMemoryServer({ shares: threshold, threshold })
    /** Gives as many shares as are needed; returns the answer to the last. */
    const giveAll = async (path: string, bytes: number, nonce?: unknown) => {
      const wrong = Array.from({ length: threshold }, (_, at) => Buffer.alloc(bytes, at + 1))
      const answers = []
      for (const share of wrong) answers.push(await call('PUT', path, { ...give(share), nonce }, ''))
      return answers.at(-1)
    }
    for (const bytes of OTHER_LENGTHS[threshold]) {
      const root = (await call('PUT', 'sys/generate-root/attempt', {}, '')).body
      assert.equal((await giveAll('sys/generate-root/update', bytes, root.nonce))?.status, 400, `root, ${bytes}`)
      await call('DELETE', 'sys/generate-root/attempt', undefined, '')
      const rekey = (await call('PUT', 'sys/rekey/init', { secret_shares: 3, secret_threshold: 2 }, '')).body
      assert.equal((await giveAll('sys/rekey/update', bytes, rekey.nonce))?.status, 400, `rekey, ${bytes}`)
      await call('DELETE', 'sys/rekey/init', undefined, '')
    }
    await call('PUT', 'sys/seal')
    for (const bytes of OTHER_LENGTHS[threshold]) {
      const refused = await giveAll('sys/unseal', bytes)
      assert.deepEqual([refused?.status, refused?.body], [400, { errors: ['unseal failed, invalid key'] }], `${bytes}`)
      assert.equal((await call('GET', 'sys/seal-status')).body.progress, 0)
    }
    for (const share of shares) await call('PUT', 'sys/unseal', give(share))
    assert.equal((await call('GET', 'sys/seal-status')).body.sealed, false)
  })
}

test('what is kept of the shares is wiped when there are enough, whether they open or not', async (context) => {
  const { node, call, shares } = await startMemoryServer({ shares: 3, threshold: 2 })
  await call('PUT', 'sys/seal')
  const { fill } = Buffer.prototype
  const wiped: string[] = []
  context.mock.method(Buffer.prototype, 'fill', function (this: Buffer, ...given: Parameters<typeof fill>) {
    if (given[0] === 0) wiped.push(this.toString('hex'))
    return fill.apply(this, given)
  })
  const [first, second, third] = shares.map((share) => Buffer.from(share)) as [Buffer, Buffer, Buffer]
  const wrong = Buffer.alloc(first.length, 9)
  await node.seal.give(wrong)
  await assert.rejects(node.seal.give(second), { name: 'Refusal' })
  for (const share of [wrong, second]) assert.equal(wiped.filter((one) => one === share.toString('hex')).length, 1)
  await node.seal.give(first)
  await node.seal.give(third)
  for (const share of [first, third]) assert.equal(wiped.filter((one) => one === share.toString('hex')).length, 1)
})

test('an unseal key of another length is as wrong as another key', async () => {
  const { node } = await startMemoryServer()
  for (const bytes of [0, 16, 31, 32, 33]) {
    await assert.rejects(
      node.seal.openWith(Buffer.alloc(bytes, 7)),
      { name: 'Refusal', code: 'key_share_wrong' },
      `${bytes}`,
    )
  }
})

test('init refuses shares that make no sense, and a second time', async () => {
  const { call } = await startMemoryServer()
  assert.equal((await call('PUT', 'sys/init', { secret_shares: 1, secret_threshold: 1 })).status, 400)
  for (const [shares, threshold] of [
    [0, 0],
    [256, 3],
    [3, 4],
    [3, 1],
    [-1, 1],
  ]) {
    assert.equal((await call('PUT', 'sys/init', { secret_shares: shares, secret_threshold: threshold })).status, 400)
  }
})

test('S-06: keys are made once, also where two ask before either is done', async () => {
  const { node } = await startMemoryServer({ shares: 0 })
  const make = () => node.seal.initialise({ shares: 1, threshold: 1 }, '', async () => {})
  const [first, second] = await Promise.allSettled([make(), make()])
  assert.deepEqual([first.status, second.status], ['fulfilled', 'rejected'])
  await assert.rejects(make(), { name: 'Refusal', code: 'seal_state_wrong', message: /already initialized/ })
  const [share] = first.status === 'fulfilled' ? first.value : []
  await node.seal.openWith(share ?? assert.fail('there is one'))
  assert.equal(node.seal.status().sealed, false)
})

test('init refuses what is for shares of another seal, each by itself', async () => {
  const { call } = await startMemoryServer({ shares: 0 })
  for (const recovery of [{ recovery_shares: 1 }, { recovery_threshold: 1 }, { recovery_pgp_keys: ['a'] }]) {
    const { status, body } = await call('PUT', 'sys/init', { secret_shares: 1, secret_threshold: 1, ...recovery }, '')
    assert.equal(status, 400)
    assert.match(String(body.errors), /recovery_shares,recovery_threshold not applicable to seal type shamir/)
  }
})

test('only sudo seals', async () => {
  const { call } = await startMemoryServer()
  await call('POST', 'sys/policies/acl/almost', { policy: 'path "sys/seal" { capabilities = ["update"] }' })
  const made = await call('POST', 'auth/token/create', { policies: ['almost'] })
  const token = String((made.body.auth as Record<string, unknown>).client_token)
  assert.equal((await call('PUT', 'sys/seal', undefined, token)).status, 403)
  assert.equal((await call('GET', 'sys/seal-status')).body.sealed, false)
})

test('P-26, P-09: what is stored holds no share and no plaintext, and two swapped values are found', async () => {
  const { call, store, shares, node } = await startMemoryServer({ shares: 3, threshold: 2 })
  await call('POST', 'sys/policies/acl/a', { policy: '# canary-policy-text\npath "a" { capabilities = ["read"] }' })
  await call('POST', 'sys/policies/acl/b', { policy: 'path "b" { capabilities = ["read"] }' })
  const entries = await store.scan('', '', 10_000)
  for (const { value } of entries) {
    for (const share of shares) assert.ok(!value.includes(share.subarray(0, 32)))
    assert.ok(!value.includes('canary-policy-text'))
  }
  const [a, b] = ['root/sys/policy/a', 'root/sys/policy/b'].map(
    (key) => entries.find((entry) => entry.key === key)?.value,
  )
  assert.throws(() => node.storage.barrier.open('root/sys/policy/a', b as Buffer))
  assert.ok(node.storage.barrier.open('root/sys/policy/a', a as Buffer).includes('canary-policy-text'))
})

test('S-06: seals, unseals and writes at once leave the server open or sealed, never half', async () => {
  const { call, shares, node } = await startMemoryServer()
  await call('POST', 'sys/mounts/transit', { type: 'transit' })
  const key = (shares[0] as Buffer).toString('base64')
  for (let round = 0; round < 20; round++) {
    const writes = Array.from({ length: 8 }, (_, i) => call('POST', `transit/keys/k${round}-${i}`))
    const tokens = Array.from({ length: 4 }, () => call('POST', 'auth/token/create', {}))
    const turns = [call('PUT', 'sys/seal'), ...Array.from({ length: 4 }, () => call('PUT', 'sys/unseal', { key }))]
    for (const { status } of await Promise.all([...writes, ...turns, ...tokens]))
      assert.ok(status !== 500, `round ${round}`)
    assert.equal((await call('GET', 'sys/seal-status')).body.sealed, node.storage.barrier.sealed, `round ${round}`)
    await call('PUT', 'sys/unseal', { key })
    assert.equal((await call('POST', `transit/keys/after${round}`)).status, 200)
  }
})
