import assert from 'node:assert/strict'
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { test } from 'node:test'
import { compositeRsa, inverse } from '../../../../test/fixtures/composite-rsa.ts'
import { materialOf, publishedRsa } from '../../../../test/fixtures/known-material.ts'
import { base64, type MountedTransit, mountTransit } from '../../../../test/fixtures/mounted-transit.ts'
import { DER, der, derNatural, derOid } from '../../../crypto/encoding/der.ts'
import { spkiPem } from '../../../crypto/forms/public-keys.ts'
import { transferBytes, wrapForRsa } from '../../../crypto/forms/wrapped-key.ts'
import { KEY_TYPES } from '../../../crypto/key-types/key-types.ts'
import { Secret } from '../../../crypto/primitives/secret.ts'
import type { JsonObject } from '../../../lib/json.ts'
import { realWorld } from '../../../lib/world.ts'

const random = realWorld().random.bytes
const K = Buffer.from('0123456789abcdef0123456789abcdef')
const WRAPPING_KEY = publishedRsa('rsa-4096')
const wrappingKey = createPrivateKey({ key: WRAPPING_KEY, format: 'der', type: 'pkcs8' })

/** A mount whose wrapping key is known, as if it had been made before. */
function mounted(): MountedTransit {
  const transit = mountTransit()
  transit.view.plant('wrapping-key', Buffer.concat([Buffer.from([1]), WRAPPING_KEY]))
  return transit
}

const wrapped = (key: Buffer): string => base64(wrapForRsa(wrappingKey, 'SHA256', key, random))
const wrappedPair = (key: KeyObject): string => wrapped(transferBytes(key))

for (const [name, type] of KEY_TYPES) {
  test(`a key of type ${name} is imported, and can be exported for another mount as it came`, async () => {
    const { client } = mounted()
    const material = await materialOf(type)
    const ciphertext = wrapped(transferBytes(type.load(material)))
    const { status, errors } = await client.write('keys/k/import', { type: name, ciphertext, exportable: true })
    assert.deepEqual([status, errors], [204, []])
    const { data } = await client.read('keys/k')
    assert.deepEqual([data.type, data.imported_key, data.imported_key_allow_rotation], [name, true, false])
    await client.write('keys/wrap/import', { type: 'rsa-4096', public_key: spkiPem(wrappingKey) })
    const { keys } = (await client.read('byok-export/wrap/k/latest')).data
    assert.equal((await client.write('keys/back/import', { type: name, ciphertext: keys[1] })).status, 204)
    const again = await client.write('keys/k/import', { type: name, ciphertext })
    assert.match(again.errors.join(), /cannot be used with an existing key/)
  })
}

test('C3: an ed25519 key as NSS writes it is imported, has its own public half, and signs', async () => {
  const { client } = mounted()
  // The seed of the bytes 00 to 1f; the public half in the file is that of X25519.
  const key = Buffer.from(
    '3068020100301406072a8648ce3d020106092b06010401da470f01044d304b0201010420' +
      '000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1fa124032200' +
      '408f40c5adb68f25624ae5b214ea767a6ec94d829d3d7b5e1ad1ba6f3e2138285f',
    'hex',
  )
  const imported = await client.write('keys/k/import', { type: 'ed25519', ciphertext: wrapped(key) })
  assert.deepEqual([imported.status, imported.errors], [204, []])
  const publicKey = Buffer.from((await client.read('keys/k')).data.keys[1].public_key, 'base64')
  assert.equal(publicKey.toString('hex'), '03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8')
  const { signature } = (await client.write('sign/k', { input: base64('x') })).data
  assert.equal((await client.write('verify/k', { input: base64('x'), signature })).data.valid, true)
})

const blob = (): Buffer => wrapForRsa(wrappingKey, 'SHA256', K, random)
function flipped(at: number): string {
  const bytes = blob()
  const index = at < 0 ? bytes.length + at : at
  bytes.writeUInt8(bytes.readUInt8(index) ^ 1, index)
  return base64(bytes)
}
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const UNWRAPPED = /was unwrapped, but is no key of type/

const REFUSED: { readonly name: string; readonly body: () => JsonObject; readonly says: RegExp }[] = [
  { name: 'nothing', body: () => ({}), says: /neither "ciphertext" nor "public_key"/ },
  {
    name: 'an empty ciphertext beside a public key',
    body: () => ({ ciphertext: '', public_key: 'x' }),
    says: /too short/,
  },
  { name: 'null for a ciphertext', body: () => ({ ciphertext: null }), says: /too short/ },
  { name: 'no base64', body: () => ({ ciphertext: '!!' }), says: /"ciphertext": illegal base64/ },
  { name: 'the first part alone', body: () => ({ ciphertext: base64(blob().subarray(0, 512)) }), says: /too short/ },
  { name: 'a damaged first part', body: () => ({ ciphertext: flipped(3) }), says: /cannot be unwrapped/ },
  { name: 'a damaged second part', body: () => ({ ciphertext: flipped(-1) }), says: /cannot be unwrapped/ },
  { name: 'another hash', body: () => ({ ciphertext: base64(blob()), hash_function: 'SHA1' }), says: /SHA1/ },
  { name: 'an unknown hash', body: () => ({ ciphertext: 'x', hash_function: 'MD5' }), says: /unknown hash function/ },
  {
    name: 'an unknown type',
    body: () => ({ type: 'nope', ciphertext: base64(blob()) }),
    says: /unknown key type nope/,
  },
  { name: 'convergent encryption', body: () => ({ convergent_encryption: false }), says: /convergent/ },
  { name: 'a period without rotation', body: () => ({ auto_rotate_period: 3600 }), says: /allow_rotation/ },
  { name: 'a period of a minute', body: () => ({ auto_rotate_period: 60, allow_rotation: true }), says: /an hour/ },
  { name: 'derivation that the type has not', body: () => ({ type: 'hmac', derived: true }), says: /derivation/ },
  { name: 'a context that is no base64', body: () => ({ context: '!', ciphertext: 'x' }), says: /context/ },
  { name: 'another size', body: () => ({ type: 'aes128-gcm96', ciphertext: wrapped(K) }), says: UNWRAPPED },
  { name: 'raw bytes for a pair', body: () => ({ type: 'rsa-2048', ciphertext: wrapped(K) }), says: /PKCS #8/ },
  {
    name: 'another size of RSA',
    body: () => ({ type: 'rsa-3072', ciphertext: wrapped(publishedRsa('rsa-2048')) }),
    says: /modulus of 3072/,
  },
  {
    name: 'another curve',
    body: () => ({ type: 'ecdsa-p384', ciphertext: wrappedPair(p256.privateKey) }),
    says: UNWRAPPED,
  },
  { name: 'a public key of no pair', body: () => ({ public_key: spkiPem(p256.publicKey) }), says: /no public half/ },
  { name: 'a text that is no PEM', body: () => ({ type: 'ecdsa-p256', public_key: 'x' }), says: /PEM/ },
  {
    name: 'a public key of another type',
    body: () => ({ type: 'rsa-2048', public_key: spkiPem(p256.publicKey) }),
    says: /"public_key": A key of type rsa-2048/,
  },
  {
    name: 'PKCS #1 for a public key',
    body: () => ({ type: 'rsa-2048', public_key: pkcs1Pem() }),
    says: /"public_key"/,
  },
  {
    name: 'a public key that would have to derive',
    body: () => ({ type: 'ed25519', derived: true, public_key: 'x' }),
    says: /derived from the private half/,
  },
]

function pkcs1Pem(): string {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return publicKey.export({ type: 'pkcs1', format: 'pem' }).toString()
}

for (const { name, body, says } of REFUSED) {
  test(`import refuses ${name}`, async () => {
    const { client } = mounted()
    const { status, errors } = await client.write('keys/k/import', body())
    assert.equal(status, 400)
    assert.match(errors.join(), says)
    assert.equal((await client.list('keys')).status, 404)
  })
}

/** Writes PKCS #8 around the parts of a key: OpenSSL does not write parts that do not belong together. */
function pkcs8(algorithm: readonly Buffer[], inner: Buffer): Buffer {
  return der(DER.sequence, derNatural(0n), der(DER.sequence, ...algorithm), der(DER.octetString, inner))
}

function rsaOf({ n, e, d, p, q }: ReturnType<typeof compositeRsa>): Buffer {
  const numbers = [0n, n, e, d, p, q, d % (p - 1n), d % (q - 1n), inverse(q, p)]
  return pkcs8([derOid('1.2.840.113549.1.1.1'), der(DER.null)], der(DER.sequence, ...numbers.map(derNatural)))
}

/** The private number of one pair beside the public point of another. */
function ecHalves(curve: string, oid: string): Buffer {
  const [one, other] = [0, 1].map(() => generateKeyPairSync('ec', { namedCurve: curve }))
  const scalar = (one ?? assert.fail()).privateKey.export({ format: 'raw-private' })
  const point = (other ?? assert.fail()).publicKey.export({ format: 'raw-public' })
  const half = der(DER.context(1), der(DER.bitString, Buffer.from([0]), point))
  const inner = der(DER.sequence, derNatural(1n), der(DER.octetString, scalar), half)
  return pkcs8([derOid('1.2.840.10045.2.1'), derOid(oid)], inner)
}

function ed25519Halves(): Buffer {
  const [one, other] = [pairs.a.privateKey, pairs.b.publicKey]
  const half = der(DER.contextPrimitive(1), Buffer.from([0]), other.export({ format: 'raw-public' }))
  const seed = der(DER.octetString, one.export({ format: 'raw-private' }))
  const parts = [derNatural(1n), der(DER.sequence, derOid('1.3.101.112')), der(DER.octetString, seed), half]
  return der(DER.sequence, ...parts)
}

const UNTRUE: readonly { readonly type: string; readonly key: () => Buffer; readonly says: RegExp }[] = [
  { type: 'rsa-2048', key: () => rsaOf(compositeRsa()), says: /The primes of the RSA key are no primes/ },
  { type: 'ecdsa-p256', key: () => ecHalves('P-256', '1.2.840.10045.3.1.7'), says: /does not belong/ },
  { type: 'ecdsa-p384', key: () => ecHalves('P-384', '1.3.132.0.34'), says: /does not belong/ },
  { type: 'ecdsa-p521', key: () => ecHalves('P-521', '1.3.132.0.35'), says: /does not belong/ },
  { type: 'ecdsa-secp256k1', key: () => ecHalves('secp256k1', '1.3.132.0.10'), says: /does not belong/ },
  { type: 'ed25519', key: ed25519Halves, says: /does not belong/ },
]
for (const { type, key, says } of UNTRUE) {
  for (const path of ['import', 'import_version']) {
    test(`P-15 ${path} of type ${type} refuses a key whose parts are not what they say`, async () => {
      const { client } = mounted()
      if (path === 'import_version') {
        const good = KEY_TYPES.get(type) ?? assert.fail()
        const ciphertext = wrapped(transferBytes(good.load(await materialOf(good))))
        assert.equal((await client.write('keys/k/import', { type, ciphertext })).status, 204)
      }
      const { status, errors } = await client.write(`keys/k/${path}`, { type, ciphertext: wrapped(key()) })
      assert.equal(status, 400)
      assert.match(errors.join(), says)
      const read = await client.read('keys/k')
      assert.deepEqual([read.status, read.data?.latest_version], path === 'import' ? [404, undefined] : [200, 1])
    })
  }
}

test('C-11: whether RSA-OAEP or AES-KWP failed is the same sentence', async () => {
  const { client } = mounted()
  const head = await client.write('keys/k/import', { ciphertext: flipped(3) })
  const tail = await client.write('keys/k/import', { ciphertext: flipped(-1) })
  assert.deepEqual(head, tail)
})

test('C-05 blobs of every length around the first part are refused in order', async () => {
  const { client } = mounted()
  for (const length of [0, 1, 40, 80, 511, 512, 513, 520, 528, 600])
    assert.equal((await client.write('keys/k/import', { ciphertext: base64(Buffer.alloc(length)) })).status, 400)
})

test('an imported key rotates where that was allowed, and then takes no more imported versions', async () => {
  const { client } = mounted()
  await client.write('keys/no/import', { ciphertext: wrapped(K) })
  assert.match((await client.write('keys/no/rotate')).errors.join(), /does not allow rotation/)
  await client.write('keys/yes/import', { ciphertext: wrapped(K), allow_rotation: true })
  assert.equal((await client.write('keys/yes/import_version', { ciphertext: wrapped(K) })).status, 204)
  assert.equal((await client.write('keys/yes/rotate')).data.latest_version, 3)
  assert.match(
    (await client.write('keys/yes/import_version', { ciphertext: wrapped(K) })).errors.join(),
    /imported key/,
  )
})

const pairs = { a: generateKeyPairSync('ed25519'), b: generateKeyPairSync('ed25519') }
type Step = `${'public' | 'private'} ${keyof typeof pairs}` | `private ${keyof typeof pairs} as ${number}`

function fieldsOf(step: Step): JsonObject {
  const [half, pair, , version] = step.split(' ')
  const { publicKey, privateKey } = pairs[pair as keyof typeof pairs]
  const key: JsonObject =
    half === 'public' ? { public_key: spkiPem(publicKey) } : { ciphertext: wrappedPair(privateKey) }
  return version === undefined ? key : { ...key, version: Number(version) }
}

const SEQUENCES: { readonly steps: readonly Step[]; readonly versions: readonly string[] }[] = [
  { steps: ['public a', 'private a'], versions: ['a'] },
  { steps: ['private a', 'public a'], versions: ['a', 'public a'] },
  { steps: ['public a', 'public b', 'private b', 'private a as 1'], versions: ['a', 'b'] },
  { steps: ['public a', 'private b'], versions: ['public a', 'b'] },
  { steps: ['private a', 'private a'], versions: ['a', 'a'] },
]
for (const { steps, versions } of SEQUENCES) {
  test(`${steps.join(', ')} gives the versions ${versions.join(', ')}`, async () => {
    const { client } = mounted()
    for (const [index, step] of steps.entries()) {
      const path = index === 0 ? 'keys/k/import' : 'keys/k/import_version'
      const body = { ...fieldsOf(step), ...(index === 0 ? { type: 'ed25519', exportable: true } : {}) }
      assert.equal((await client.write(path, body)).status, 204, step)
    }
    const secret = (await client.read('export/signing-key/k')).data.keys
    const shown = (await client.read('export/public-key/k')).data.keys
    const found = Object.keys(shown).map((version) => {
      const half = pairOf(shown[version])
      return secret[version] === '' ? `public ${half}` : half
    })
    assert.deepEqual(found, versions)
  })
}

function pairOf(publicKey: string): string {
  const raw = (key: KeyObject): string => key.export({ format: 'raw-public' }).toString('base64')
  return Object.entries(pairs).find(([, pair]) => raw(pair.publicKey) === publicKey)?.[0] ?? 'unknown'
}

test('a version is completed only by its own private key, and keeps its HMAC secret', async () => {
  const { client } = mounted()
  await client.write('keys/k/import', { type: 'ed25519', ...fieldsOf('public a') })
  const { hmac } = (await client.write('hmac/k', { input: base64('x') })).data
  const refuse = async (step: Step, says: RegExp) => {
    const { status, errors } = await client.write('keys/k/import_version', fieldsOf(step))
    assert.equal(status, 400)
    assert.match(errors.join(), says)
  }
  await refuse('private b as 1', /key pair does not match/)
  await refuse('private a as 2', /no such key version/)
  await refuse('private a as 0', /no such key version/)
  const both = await client.write('keys/k/import_version', { ...fieldsOf('public a'), version: 1 })
  assert.match(both.errors.join(), /completed by "ciphertext"/)
  assert.equal((await client.write('keys/k/import_version', fieldsOf('private a'))).status, 204)
  await refuse('private a as 1', /has its private key already/)
  assert.equal((await client.write('verify/k', { input: base64('x'), hmac })).data.valid, true)
})

test('import_version refuses keys that are missing, made here, or without public halves', async () => {
  const { client } = mounted()
  await client.write('keys/made')
  await client.write('keys/imported/import', { ciphertext: wrapped(K) })
  const body = { ciphertext: wrapped(K) }
  assert.match((await client.write('keys/none/import_version', body)).errors.join(), /key not found/)
  assert.match((await client.write('keys/made/import_version', body)).errors.join(), /imported key/)
  const named = await client.write('keys/imported/import_version', { ...body, version: 1 })
  assert.match(named.errors.join(), /never incomplete/)
})

test('the wrapping key is made once, however many ask for it at the same time, and stays', async () => {
  const transit = mountTransit()
  const asked = await Promise.all([1, 2, 3].map(() => transit.client.read('wrapping_key')))
  const other = mountTransit(transit.view)
  asked.push(await other.client.read('wrapping_key'))
  transit.transit.reset()
  asked.push(await transit.client.read('wrapping_key'))
  assert.equal(new Set(asked.map(({ data }) => data.public_key)).size, 1)
  assert.match(asked[0]?.data.public_key, /^-----BEGIN PUBLIC KEY-----\n[\s\S]*-----END PUBLIC KEY-----\n$/)
  assert.equal((await transit.client.list('keys')).status, 404)
})

test('of two makers the one that stored first wins, and both wipe what they made', async (t) => {
  const wipe = t.mock.method(Secret.prototype, 'wipe')
  const transit = mountTransit()
  const other = mountTransit(transit.view)
  const both = await Promise.all([transit.client.read('wrapping_key'), other.client.read('wrapping_key')])
  assert.equal(both[0].data.public_key, both[1].data.public_key)
  assert.equal(wipe.mock.callCount(), 4)
})

test('of two imports of one name at once one makes the key, and the other replaces nothing', async () => {
  const { client } = mounted()
  const materials = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const bodies = materials.map((material) => ({ ciphertext: wrapped(material), exportable: true }))
  const answers = await Promise.all(bodies.map((body) => client.write('keys/k/import', body)))
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [204, 400])
  assert.match(answers.find(({ status }) => status === 400)?.errors.join() ?? '', /"k" already exists/)
  const made = materials[answers.findIndex(({ status }) => status === 204)]
  assert.equal((await client.read('export/encryption-key/k')).data.keys[1], made?.toString('base64'))
})

test('C-07 an import whose write fails leaves no key behind, and the name can be used', async () => {
  const { client, view } = mounted()
  view.beforeCommit = () => {
    throw new Error('device')
  }
  await assert.rejects(client.write('keys/k/import', { ciphertext: wrapped(K) }), /device/)
  view.beforeCommit = () => {}
  assert.equal((await client.read('keys/k')).status, 404)
  assert.equal((await client.write('keys/k/import', { ciphertext: wrapped(K) })).status, 204)
})

test('C-04 every combination of import parameters is answered, with a key or a refusal', async () => {
  const { client } = mounted()
  const flags = [false, true]
  let [asked, made] = [0, 0]
  for (const name of [
    'aes128-gcm96',
    'chacha20-poly1305',
    'ed25519',
    'ecdsa-p256',
    'ml-dsa-44',
    'hmac',
    'aes256-cmac',
  ]) {
    const type = KEY_TYPES.get(name) ?? assert.fail(name)
    const ciphertext = wrapped(transferBytes(type.load(await materialOf(type))))
    for (const derived of flags)
      for (const allow_rotation of flags)
        for (const auto_rotate_period of [0, 1, 3600])
          for (const more of [
            {},
            { convergent_encryption: true },
            { exportable: true, allow_plaintext_backup: true },
          ]) {
            asked += 1
            const body = { type: name, ciphertext, derived, allow_rotation, auto_rotate_period, ...more }
            const { status } = await client.write(`keys/k${asked}`.concat('/import'), body)
            assert.ok(status === 204 || status === 400, JSON.stringify({ name, derived, allow_rotation, more }))
            if (status === 204) made += 1
          }
  }
  assert.equal((await client.list('keys')).data.keys.length, made)
  // Period 0 with and without rotation, an hour with it; not convergent; three of the seven types derive.
  assert.equal(made, 7 * 3 * 2 + 3 * 3 * 2)
})

test('N-10 a refused import leaves nothing of the key in memory that can be wiped', async (t) => {
  const { client, transit } = mounted()
  const opened: Buffer[] = []
  const { run } = transit.slow
  t.mock.method(transit.slow, 'run', async (...args: Parameters<typeof run>) => {
    const output = await run(...args)
    if (output instanceof ArrayBuffer) opened.push(Buffer.from(output))
    return output
  })
  for (const type of ['aes128-gcm96', 'aes256-gcm96', 'ed25519']) {
    await client.write(`keys/${type}/import`, { type, ciphertext: wrapped(K) })
    await client.write(`keys/${type}/import_version`, { ciphertext: wrapped(K) })
  }
  assert.ok(opened.length >= 3)
  for (const bytes of opened) assert.ok(bytes.every((byte) => byte === 0))
})
