// sys/generate-root through the pipeline, as people with shares use it.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { type MemoryServer, startMemoryServer } from '../../../test/fixtures/memory-server.ts'

const ATTEMPT = 'sys/generate-root/attempt'
const UPDATE = 'sys/generate-root/update'
const key = (share: Buffer | undefined): string => share?.toString('base64') ?? ''

function decodeToken(encoded: string, otp: string): string {
  const bytes = Buffer.from(encoded, 'base64')
  return Buffer.from(bytes.map((byte, at) => byte ^ otp.charCodeAt(at))).toString('latin1')
}

/** The status without an attempt, with all ten members that clients read. */
const IDLE = {
  nonce: '',
  started: false,
  progress: 0,
  required: 3,
  complete: false,
  encoded_token: '',
  encoded_root_token: '',
  pgp_fingerprint: '',
  otp: '',
  otp_length: 28,
}

const server = (): Promise<MemoryServer> => startMemoryServer({ shares: 5, threshold: 3 })

test('S-09: enough shares give a root token that only the starter can read', async () => {
  const { call, shares } = await server()
  assert.deepEqual((await call('GET', ATTEMPT, undefined, '')).body, IDLE)
  const started = (await call('PUT', ATTEMPT, {}, '')).body
  const { nonce } = started
  const otp = String(started.otp)
  assert.equal(otp.length, 28)
  assert.deepEqual(started, { ...IDLE, nonce, otp, started: true })
  assert.deepEqual((await call('GET', ATTEMPT, undefined, '')).body, { ...IDLE, nonce, started: true })
  for (const progress of [1, 2]) {
    const { body } = await call('PUT', UPDATE, { key: key(shares[progress]), nonce }, '')
    assert.deepEqual(body, { ...IDLE, nonce, started: true, progress })
  }
  const { body } = await call('PUT', UPDATE, { key: key(shares[4]), nonce }, '')
  const encoded = String(body.encoded_token)
  const done = { ...IDLE, nonce, started: true, progress: 3, complete: true, otp_length: 0 }
  assert.deepEqual(body, { ...done, encoded_token: encoded, encoded_root_token: encoded })
  assert.doesNotMatch(encoded, /=/)
  const token = decodeToken(encoded, otp)
  const self = await call('GET', 'auth/token/lookup-self', undefined, token)
  assert.deepEqual(
    [self.body.data?.path, self.body.data?.ttl, self.body.data?.policies],
    ['auth/token/root', 0, ['root']],
  )
  assert.deepEqual((await call('GET', ATTEMPT, undefined, '')).body, IDLE)
})

test('S-09: with an own password the server never says it', async () => {
  const { call } = await server()
  const otp = 'a'.repeat(28)
  const started = await call('PUT', ATTEMPT, { otp }, '')
  assert.deepEqual([started.status, started.body.otp], [200, ''])
  for (const wrong of ['short', 'a'.repeat(29), 'ä'.repeat(14)]) {
    const { node: other } = await startMemoryServer()
    await assert.rejects(other.operations.rootToken.start(wrong, ''), { message: 'OTP string has incorrect length' })
  }
})

test('an own password and an OpenPGP key together are refused, and nothing is begun', async () => {
  const { call } = await server()
  const refused = await call('PUT', ATTEMPT, { otp: 'a'.repeat(28), pgp_key: 'AAAA' }, '')
  assert.deepEqual([refused.status, refused.body], [400, { errors: ['Give otp or pgp_key, not both'] }])
  assert.deepEqual((await call('GET', ATTEMPT, undefined, '')).body, IDLE)
})

test('T-19, P-60: a share counts once; a wrong combination begins anew, not saying which one was wrong', async () => {
  const { call, shares } = await server()
  const other = await server()
  const { nonce } = (await call('PUT', ATTEMPT, {}, '')).body
  await call('PUT', UPDATE, { key: key(shares[0]), nonce }, '')
  const twice = await call('PUT', UPDATE, { key: key(shares[0]), nonce }, '')
  assert.deepEqual(twice.body, { errors: ['given key has already been provided during this generation operation'] })
  await call('PUT', UPDATE, { key: key(shares[1]), nonce }, '')
  const wrong = await call('PUT', UPDATE, { key: key(other.shares[0]), nonce }, '')
  assert.equal(wrong.status, 400)
  assert.match(JSON.stringify(wrong.body), /root generation aborted/)
  assert.deepEqual((await call('GET', ATTEMPT, undefined, '')).body, { ...IDLE, nonce, started: true })
  for (const share of shares.slice(1, 4)) await call('PUT', UPDATE, { key: key(share), nonce }, '')
  assert.deepEqual((await call('GET', ATTEMPT, undefined, '')).body, IDLE)
})

test('one attempt at a time; it is dropped when asked, when left alone, and at seal', async () => {
  const { call, shares, advance } = await server()
  const start = () => call('PUT', ATTEMPT, {}, '')
  assert.equal((await start()).status, 200)
  assert.deepEqual((await start()).body, { errors: ['root generation already in progress'] })
  assert.equal((await call('DELETE', ATTEMPT, undefined, '')).status, 204)
  assert.equal((await call('DELETE', ATTEMPT, undefined, '')).status, 204)
  assert.equal((await start()).status, 200)
  advance(599)
  assert.equal((await start()).status, 400)
  advance(1)
  const { nonce } = (await start()).body
  await call('PUT', UPDATE, { key: key(shares[0]), nonce }, '')
  await call('PUT', 'sys/seal')
  assert.equal((await call('GET', ATTEMPT, undefined, '')).status, 503)
  for (const share of shares.slice(0, 3)) await call('PUT', 'sys/unseal', { key: key(share) }, '')
  assert.deepEqual((await call('GET', ATTEMPT, undefined, '')).body, IDLE)
})

test('what cannot be a share, or is for another attempt, is refused', async () => {
  const { call, shares } = await server()
  const none = await call('PUT', UPDATE, { key: key(shares[0]), nonce: '' }, '')
  assert.deepEqual(none.body, { errors: ['no root generation in progress'] })
  const { nonce } = (await call('PUT', ATTEMPT, {}, '')).body
  for (const body of [{}, { key: 'AAAA', nonce }, { key: key(shares[0]) }, { key: key(shares[0]), nonce: 'x' }]) {
    assert.equal((await call('PUT', UPDATE, body, '')).status, 400, JSON.stringify(Object.keys(body)))
  }
  assert.equal((await call('GET', ATTEMPT, undefined, '')).body.progress, 0)
})

test('S-02: the switch asks for a token with sudo', async () => {
  const { call } = await startMemoryServer({ listener: { tokenAskedFor: { generateRoot: true, rekey: false } } })
  assert.equal((await call('PUT', ATTEMPT, {}, '')).status, 403)
  await call('POST', 'sys/policies/acl/almost', { policy: `path "${ATTEMPT}" { capabilities = ["update"] }` })
  await call('POST', 'sys/policies/acl/enough', { policy: `path "${ATTEMPT}" { capabilities = ["update", "sudo"] }` })
  for (const [policy, status] of [
    ['almost', 403],
    ['enough', 200],
  ] as const) {
    const made = await call('POST', 'auth/token/create', { policies: [policy] })
    const token = String((made.body.auth as Record<string, unknown>).client_token)
    assert.equal((await call('PUT', ATTEMPT, {}, token)).status, status, policy)
  }
  assert.equal((await call('GET', 'sys/rekey/init', undefined, '')).status, 200)
})

test('S-09: a seal while the token is stored does not make the answer readable without the password', async () => {
  for (let hops = 0; hops < 12; hops++) {
    const { call, shares } = await startMemoryServer()
    const { nonce, otp } = (await call('PUT', ATTEMPT, {}, '')).body
    const given = call('PUT', UPDATE, { key: key(shares[0]), nonce }, '')
    for (let hop = 0; hop < hops; hop++) await Promise.resolve()
    const sealed = call('PUT', 'sys/seal')
    const { status, body } = await given
    await sealed
    if (status !== 200) continue
    const encoded = String(body.encoded_token)
    assert.doesNotMatch(Buffer.from(encoded, 'base64').toString('latin1'), /^hvs\./, `after ${hops} turns`)
    assert.match(decodeToken(encoded, String(otp)), /^hvs\./)
  }
})
