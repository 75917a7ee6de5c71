// sys/managed-keys and what uses it, over a device in software: who may use which key, what is told of failures, and
// what an edition without managed keys refuses.
import assert from 'node:assert/strict'
import { createPublicKey, verify } from 'node:crypto'
import { test } from 'node:test'
import type { Edition } from '../../src/api/edition.ts'
import type { OrderFault } from '../../src/managed-keys/orders.ts'
import { FULL_REQUEST, isSelfSigned, takeApart } from '../fixtures/certificate-requests.ts'
import { type Called, type MemoryServer, startMemoryServer } from '../fixtures/memory-server.ts'
import { DEVICE_PIN, SoftwareDevice } from '../fixtures/software-device.ts'

const KEY = { library: 'soft', token_label: 't', pin: DEVICE_PIN, key_label: 'k', allow_generate_key: true }
const AES = { ...KEY, mechanism: '0x1087' }
const EC = { ...KEY, key_label: 'ec', mechanism: '0x1041', curve: 'p256' }
const HELLO = Buffer.from('hello').toString('base64')

type Server = MemoryServer & {
  readonly device: SoftwareDevice
  write(path: string, body?: object): Promise<Called>
  read(path: string): Promise<Called>
}

async function newServer(edition?: Edition): Promise<Server> {
  const device = new SoftwareDevice()
  const facts = edition === undefined ? {} : { edition }
  const memory = await startMemoryServer({ devices: device, facts })
  const server: Server = {
    ...memory,
    device,
    write: (path, body = {}) => memory.call('POST', path, body),
    read: (path) => memory.call('GET', path),
  }
  await server.write('sys/mounts/transit', { type: 'transit' })
  await server.write('sys/mounts/other', { type: 'transit' })
  return server
}

const sentence = ({ body }: Called): string => String((body.errors as string[] | undefined)?.[0])
const done = (called: Called): Called => {
  assert.ok(called.status < 300, sentence(called))
  return called
}

test('a managed key is written, read without its PIN, listed, changed in parts and deleted', async () => {
  const { write, read, call } = await newServer()
  assert.equal((await call('LIST', 'sys/managed-keys/pkcs11')).status, 404)
  assert.equal((await write('sys/managed-keys/pkcs11/k', { ...AES, key_id: '0x01AF', slot: '7' })).status, 204)
  const { data } = done(await read('sys/managed-keys/pkcs11/k')).body
  const { UUID, ...shown } = data as Record<string, unknown>
  assert.match(String(UUID), /^[0-9a-f-]{36}$/)
  assert.deepEqual(shown, {
    name: 'k',
    type: 'pkcs11',
    library: 'soft',
    slot: '7',
    token_label: 't',
    key_label: 'k',
    key_id: '0x01af',
    mechanism: '0x1087',
    allow_generate_key: true,
    allow_replace_key: false,
    allow_store_key: false,
    any_mount: false,
    usages: ['encrypt', 'decrypt'],
    max_parallel: 1,
  })
  done(await write('sys/managed-keys/pkcs11/k', { any_mount: true, usages: 'encrypt' }))
  const changed = (await read('sys/managed-keys/pkcs11/k')).body.data
  assert.deepEqual(changed, { ...shown, UUID, any_mount: true, usages: ['encrypt'] })
  assert.deepEqual((await call('LIST', 'sys/managed-keys/pkcs11')).body.data, { keys: ['k'] })
  assert.equal((await call('DELETE', 'sys/managed-keys/pkcs11/k')).status, 204)
  assert.equal((await call('DELETE', 'sys/managed-keys/pkcs11/k')).status, 204)
  assert.equal((await read('sys/managed-keys/pkcs11/k')).status, 404)
  assert.equal((await write('sys/managed-keys/pkcs11/k/test/sign')).status, 404)
})

const REFUSED: readonly (readonly [string, object, RegExp])[] = [
  ['no library', { library: undefined }, /"library"/],
  ['a library that is not configured', { library: 'other' }, /"library": must be the name of a kms_library.*soft/],
  ['a library by its file', { library: '/usr/lib/x.so' }, /"library"/],
  ['no mechanism', { mechanism: undefined }, /"mechanism"/],
  ['a mechanism that is not offered', { mechanism: '0x1085' }, /"mechanism"/],
  ['a mechanism that is text', { mechanism: 'AES' }, /"mechanism"/],
  ['neither slot nor label', { token_label: undefined }, /"token_label"/],
  ['a slot that is no number', { slot: '0x7' }, /"slot"/],
  ['no key', { key_label: undefined }, /"key_label"/],
  ['an id that is no hexadecimal', { key_id: 'xyz' }, /"key_id"/],
  ['an id of half a byte', { key_id: '0x1' }, /"key_id"/],
  ['a size that AES has not', { key_bits: 192 }, /"key_bits"/],
  ['a curve that is not offered', { curve: 'p224' }, /"curve"/],
  ['a hash that devices do not have', { rsa_oaep_hash: 'md5' }, /"rsa_oaep_hash"/],
  ['a use that there is none', { usages: ['wrap'] }, /"usages"/],
  ['uses that the mechanism has not', { usages: ['sign'] }, /"usages"/],
  ['no parallel operation', { max_parallel: 0 }, /"max_parallel"/],
  ['a PIN without end', { pin: 'x'.repeat(257) }, /"pin"/],
  ['an elliptic key to be made on no curve', { mechanism: '0x1041' }, /"curve"/],
]
test('what cannot be a managed key is refused by the name of the field', async () => {
  const { write } = await newServer()
  for (const [name, fields, named] of REFUSED) {
    const called = await write('sys/managed-keys/pkcs11/k', { ...AES, ...fields })
    assert.deepEqual([called.status, named.test(sentence(called))], [400, true], `${name}: ${sentence(called)}`)
  }
  done(await write('sys/managed-keys/pkcs11/k', AES))
  assert.match(sentence(await write('sys/managed-keys/pkcs11/k', { mechanism: 'CKM_ECDSA' })), /cannot be changed/)
  assert.equal((await write('sys/managed-keys/awskms/k', AES)).status, 404)
})

test('a mount uses only what allowed_managed_keys or any_mount permit, each time anew', async () => {
  const { write, read } = await newServer()
  done(await write('sys/managed-keys/pkcs11/k', AES))
  const create = (mount: string, name = 'a') =>
    write(`${mount}/keys/${name}`, { type: 'managed_key', managed_key_name: 'k' })
  const refused = await create('transit')
  assert.equal(refused.status, 400)
  const unknown = await write('transit/keys/a', { type: 'managed_key', managed_key_name: 'none' })
  assert.equal(sentence(unknown), sentence(refused), 'who may make keys does not learn which managed keys there are')

  done(await write('sys/mounts/transit/tune', { allowed_managed_keys: ['k'] }))
  assert.deepEqual((await read('sys/mounts/transit/tune')).body.data?.allowed_managed_keys, ['k'])
  const { config } = (await read('sys/mounts/transit')).body.data as { config: { allowed_managed_keys: string[] } }
  assert.deepEqual(config.allowed_managed_keys, ['k'])
  done(await create('transit'))
  assert.equal((await create('other')).status, 400)
  const { ciphertext } = done(await write('transit/encrypt/a', { plaintext: HELLO })).body.data as {
    ciphertext: string
  }

  done(await write('sys/mounts/transit/tune', { allowed_managed_keys: '' }))
  for (const [path, body] of [
    ['encrypt', { plaintext: HELLO }],
    ['decrypt', { ciphertext }],
  ] as const) {
    const called = await write(`transit/${path}/a`, body)
    assert.deepEqual([called.status, /allowed_managed_keys/.test(sentence(called))], [400, true])
  }
  done(await write('sys/managed-keys/pkcs11/k', { any_mount: true }))
  done(await create('other'))
  assert.equal(done(await write('transit/decrypt/a', { ciphertext })).body.data?.plaintext, HELLO)
  // What another mount made with the same key in the device opens there: the key is the device's.
  assert.equal(done(await write('other/decrypt/a', { ciphertext })).body.data?.plaintext, HELLO)
})

test('a key names its managed key by UUID: another one of the same name is another key', async () => {
  const { write, read, call } = await newServer()
  done(await write('sys/managed-keys/pkcs11/k', { ...AES, any_mount: true }))
  const { UUID } = (await read('sys/managed-keys/pkcs11/k')).body.data as { UUID: string }
  const byBoth = { type: 'managed_key', managed_key_name: 'k', managed_key_id: UUID }
  done(await write('transit/keys/a', { type: 'managed_key', managed_key_id: UUID }))
  done(await write('transit/keys/b', byBoth))
  const wrong = { ...byBoth, managed_key_id: '00000000-0000-4000-8000-000000000000' }
  assert.equal((await write('transit/keys/c', wrong)).status, 400)
  done(await call('DELETE', 'sys/managed-keys/pkcs11/k'))
  done(await write('sys/managed-keys/pkcs11/k', { ...AES, any_mount: true }))
  const called = await write('transit/encrypt/a', { plaintext: HELLO })
  assert.deepEqual([called.status, /managed key of this version/.test(sentence(called))], [400, true])
  assert.equal((await read('transit/keys/a')).status, 200)
})

test('a key in a device encrypts, decrypts, rewraps and makes data keys, single and in batches', async () => {
  const { write } = await newServer()
  done(await write('sys/managed-keys/pkcs11/k', { ...AES, any_mount: true }))
  const made = done(await write('transit/keys/a', { type: 'managed_key', managed_key_name: 'k' })).body.data
  assert.deepEqual(
    [
      made?.type,
      made?.supports_encryption,
      made?.supports_decryption,
      made?.supports_signing,
      made?.supports_derivation,
    ],
    ['managed_key', true, true, false, false],
  )
  const context = { associated_data: Buffer.from('a').toString('base64') }
  const { ciphertext } = done(await write('transit/encrypt/a', { plaintext: HELLO, ...context })).body.data as {
    ciphertext: string
  }
  assert.equal(done(await write('transit/decrypt/a', { ciphertext, ...context })).body.data?.plaintext, HELLO)
  const without = await write('transit/decrypt/a', { ciphertext })
  assert.deepEqual([without.status, /^message authentication failed/.test(sentence(without))], [400, true])
  assert.match(sentence(await write('transit/encrypt/a', { plaintext: HELLO, nonce: HELLO })), /"nonce"/)
  assert.match(
    sentence(await write('transit/encrypt/a', { plaintext: HELLO, padding_scheme: 'oaep' })),
    /"padding_scheme"/,
  )
  const long = Buffer.alloc(1_048_577).toString('base64')
  assert.match(sentence(await write('transit/encrypt/a', { plaintext: long })), /at most 1048576/)

  const items = Array.from({ length: 40 }, (_, at) => ({ plaintext: Buffer.from(`${at}`).toString('base64') }))
  const batch = done(await write('transit/encrypt/a', { batch_input: items })).body.data?.batch_results as {
    ciphertext: string
  }[]
  const rewrapped = done(await write('transit/rewrap/a', { batch_input: batch })).body.data?.batch_results as {
    ciphertext: string
  }[]
  assert.notEqual(rewrapped[0]?.ciphertext, batch[0]?.ciphertext)
  const opened = done(await write('transit/decrypt/a', { batch_input: rewrapped })).body.data?.batch_results as object[]
  assert.deepEqual(
    opened.map((one) => (one as { plaintext: string }).plaintext),
    items.map(({ plaintext }) => plaintext),
  )
  const mixed = await write('transit/decrypt/a', {
    batch_input: [{ ciphertext }, { ciphertext: batch[0]?.ciphertext }],
  })
  assert.equal(mixed.status, 400)

  const data = done(await write('transit/datakey/plaintext/a')).body.data as { ciphertext: string; plaintext: string }
  assert.equal(
    done(await write('transit/decrypt/a', { ciphertext: data.ciphertext })).body.data?.plaintext,
    data.plaintext,
  )
  const { key_pairs: pairs } = done(await write('transit/datakeys/wrapped/a', { count: 40 })).body.data as {
    key_pairs: object[]
  }
  assert.equal(new Set(pairs.map((pair) => JSON.stringify(pair))).size, 40)
})

test('C-13 messages of AES-GCM in a device are counted, as those of keys that are here', async () => {
  const { write, read } = await newServer()
  for (const [name, key] of Object.entries({ k: AES, ec: EC })) {
    done(await write(`sys/managed-keys/pkcs11/${name}`, { ...key, any_mount: true }))
    done(await write(`transit/keys/${name}`, { type: 'managed_key', managed_key_name: name }))
  }
  done(await write('transit/encrypt/k', { plaintext: HELLO }))
  const { encryption_counts: counts } = (await read('transit/keys/k')).body.data as { encryption_counts: object }
  assert.deepEqual(Object.keys(counts), ['1'])
  assert.equal((await read('transit/keys/ec')).body.data?.encryption_counts, undefined)
})

test('a signing key in a device signs as one that is here, and its public half verifies', async () => {
  const { write, device } = await newServer()
  done(await write('sys/managed-keys/pkcs11/ec', { ...EC, any_mount: true }))
  assert.equal((await write('sys/managed-keys/pkcs11/ec/test/sign')).status, 204)
  const made = done(await write('transit/keys/s', { type: 'managed_key', managed_key_name: 'ec' })).body.data
  const versions = made?.keys as Record<string, { public_key: string }>
  const half = createPublicKey(versions['1']?.public_key ?? '')
  const { signature } = done(await write('transit/sign/s', { input: HELLO })).body.data as { signature: string }
  const bytes = Buffer.from(signature.slice('vault:v1:'.length), 'base64')
  assert.ok(verify('sha256', Buffer.from('hello'), half, bytes))
  const asked = device.orders.length
  assert.equal(done(await write('transit/verify/s', { input: HELLO, signature })).body.data?.valid, true)
  assert.equal(device.orders.length, asked, 'no device is asked to verify')
  assert.match(sentence(await write('transit/encrypt/s', { plaintext: HELLO })), /does not encrypt/)
})

test('a certificate request is signed in the device, unless the key is not for signing', async () => {
  const { write, device } = await newServer()
  for (const [name, key] of Object.entries({ k: AES, ec: EC })) {
    done(await write(`sys/managed-keys/pkcs11/${name}`, { ...key, any_mount: true }))
    done(await write(`transit/keys/${name}`, { type: 'managed_key', managed_key_name: name }))
  }
  const asked = device.orders.length
  const { csr } = done(await write('transit/keys/ec/csr', { csr: FULL_REQUEST })).body.data as { csr: string }
  assert.equal(isSelfSigned(takeApart(csr)), true)
  assert.deepEqual(
    device.orders.slice(asked).map((order) => order.do),
    ['sign'],
  )
  assert.match(sentence(await write('transit/keys/k/csr')), /does not support signing/)
  done(await write('sys/managed-keys/pkcs11/ec', { usages: 'verify' }))
  const refused = await write('transit/keys/ec/csr')
  assert.deepEqual([refused.status, device.orders.length], [400, asked + 1], sentence(refused))
})

test('a rotation says which managed key the version is, of the same mechanism; older ones go on', async () => {
  const { write, read } = await newServer()
  for (const [name, key] of Object.entries({ k: AES, k2: { ...AES, key_label: 'k2' }, ec: EC })) {
    done(await write(`sys/managed-keys/pkcs11/${name}`, { ...key, any_mount: true }))
  }
  done(await write('transit/keys/a', { type: 'managed_key', managed_key_name: 'k' }))
  const { ciphertext } = (await write('transit/encrypt/a', { plaintext: HELLO })).body.data as { ciphertext: string }
  for (const [body, named] of [
    [{}, /"managed_key_name" or "managed_key_id"/],
    [{ managed_key_name: 'k' }, /already/],
    [{ managed_key_name: 'ec' }, /another mechanism/],
    [{ managed_key_name: 'none' }, /"managed_key_name"/],
  ] as const) {
    const called = await write('transit/keys/a/rotate', body)
    assert.deepEqual([called.status, named.test(sentence(called))], [400, true], sentence(called))
  }
  const { UUID } = (await read('sys/managed-keys/pkcs11/k2')).body.data as { UUID: string }
  assert.equal(done(await write('transit/keys/a/rotate', { managed_key_id: UUID })).body.data?.latest_version, 2)
  const rewrapped = done(await write('transit/rewrap/a', { ciphertext })).body.data as { ciphertext: string }
  assert.match(rewrapped.ciphertext, /^vault:v2:/)
  assert.equal(done(await write('transit/decrypt/a', rewrapped)).body.data?.plaintext, HELLO)
  const other = { managed_key_name: 'k' }
  done(await write('transit/keys/plain'))
  assert.match(sentence(await write('transit/keys/plain/rotate', other)), /only for keys of type managed_key/)
})

test('a key in a device promises nothing that only a key that is here can keep', async () => {
  const { write } = await newServer()
  done(await write('sys/managed-keys/pkcs11/k', { ...AES, any_mount: true }))
  const create = (more: object) => write('transit/keys/a', { type: 'managed_key', managed_key_name: 'k', ...more })
  for (const [more, named] of [
    [{ exportable: true }, /"exportable"/],
    [{ allow_plaintext_backup: true }, /"allow_plaintext_backup"/],
    [{ auto_rotate_period: '2h' }, /"auto_rotate_period"/],
    [{ derived: true }, /not supported/],
    [{ key_size: 32 }, /"key_size"/],
    [{ managed_key_name: '' }, /"managed_key_name"/],
  ] as const) {
    const called = await create(more)
    assert.deepEqual([called.status, named.test(sentence(called))], [400, true], sentence(called))
  }
  done(await create({}))
  for (const setting of [{ exportable: true }, { allow_plaintext_backup: true }, { auto_rotate_period: '2h' }]) {
    assert.equal((await write('transit/keys/a/config', setting)).status, 400)
  }
  const upsert = await write('transit/encrypt/new', { plaintext: HELLO, type: 'managed_key' })
  assert.deepEqual([upsert.status, /keys\/NAME/.test(sentence(upsert))], [400, true])
})

test('no device is asked before it is known that a key is wanted', async () => {
  const { write, device } = await newServer()
  done(await write('sys/managed-keys/pkcs11/k', { ...AES, any_mount: true }))
  done(await write('transit/keys/a'))
  device.fault = { fault: 'failed', detail: 'gone' }
  const called = done(await write('transit/keys/a', { type: 'managed_key', managed_key_name: 'k' }))
  assert.equal(called.body.data?.type, 'aes256-gcm96')
  assert.deepEqual(device.orders, [])
})

const FAULTS: readonly (readonly [OrderFault['fault'], number])[] = [
  ['not-installed', 502],
  ['no-library', 502],
  ['no-token', 502],
  ['failed', 502],
  ['pin', 400],
  ['no-key', 400],
  ['several-keys', 400],
  ['unfit', 400],
]
test('what a device cannot do is told with a status that says whose it is, and without the PIN', async () => {
  const { write, device } = await newServer()
  done(await write('sys/managed-keys/pkcs11/k', { ...AES, any_mount: true }))
  done(await write('transit/keys/a', { type: 'managed_key', managed_key_name: 'k' }))
  for (const [fault, status] of FAULTS) {
    device.fault = { fault, detail: 'so it is' }
    for (const called of [
      await write('transit/encrypt/a', { plaintext: HELLO }),
      await write('transit/keys/b', { type: 'managed_key', managed_key_name: 'k' }),
    ]) {
      assert.equal(called.status, status, fault)
      assert.match(sentence(called), /managed key "k": so it is/)
      assert.ok(!JSON.stringify(called.body).includes(DEVICE_PIN))
    }
  }
})

test('a key that the device lost is made again for nobody who only uses it', async () => {
  const { write, device } = await newServer()
  done(await write('sys/managed-keys/pkcs11/k', { ...AES, any_mount: true }))
  done(await write('transit/keys/a', { type: 'managed_key', managed_key_name: 'k' }))
  device.removeKey('k')
  const called = await write('transit/encrypt/a', { plaintext: HELLO })
  assert.deepEqual([called.status, /no such key/.test(sentence(called))], [400, true])
})

test('a PIN that is written may be tried again, and a change of anything else does not ask for that', async () => {
  const { write, device } = await newServer()
  done(await write('sys/managed-keys/pkcs11/k', AES))
  assert.equal(device.forgiven, 1)
  done(await write('sys/managed-keys/pkcs11/k', { any_mount: true }))
  assert.equal(device.forgiven, 1)
})

test('a sealed server forgets its devices', async () => {
  const { write, device, node, shares, read } = await newServer()
  done(await write('sys/managed-keys/pkcs11/k', { ...AES, any_mount: true }))
  await node.operations.seal()
  assert.equal(device.forgotten, 1)
  assert.equal((await read('sys/managed-keys/pkcs11/k')).status, 503)
  await node.operations.unseal(shares[0] ?? Buffer.alloc(0))
  done(await read('sys/managed-keys/pkcs11/k'))
})

for (const edition of ['enterprise', 'plus', 'community'] as const) {
  const what = edition === 'community' ? 'refused by name' : 'there'
  test(`edition ${edition}: managed keys and the sources seal and all are ${what}`, async () => {
    const { write, read, call } = await newServer(edition)
    const isOff = edition === 'community'
    const rows: readonly (readonly [string, Promise<Called>])[] = [
      ['Managed Keys', write('sys/managed-keys/pkcs11/k', { ...AES, any_mount: true })],
      ['Managed Keys', call('LIST', 'sys/managed-keys/pkcs11')],
      ['Managed Keys', read('sys/managed-keys/pkcs11/k')],
      ['Managed Keys', write('sys/mounts/transit/tune', { allowed_managed_keys: 'k' })],
      ['Managed Keys', write('sys/mounts/more', { type: 'transit', config: { allowed_managed_keys: 'k' } })],
      ['Managed Keys', write('transit/keys/a', { type: 'managed_key', managed_key_name: 'k' })],
      ['Managed Keys', write('transit/keys/b', { type: 'managed_key' })],
      ['Managed Keys', call('DELETE', 'sys/managed-keys/pkcs11/k')],
      ['Entropy Augmentation', write('transit/random/seal/8')],
      ['Entropy Augmentation', write('transit/random/all/8')],
      ['Entropy Augmentation', write('sys/tools/random/seal/8')],
      ['Entropy Augmentation', write('sys/tools/random/all/8')],
    ]
    for (const [feature, calling] of rows) {
      const called = await calling
      const isRefused = called.status === 400 && sentence(called).startsWith(`${feature} is not licensed`)
      assert.equal(isRefused, isOff, `${feature}: ${called.status} ${sentence(called)}`)
    }
    for (const path of ['transit/random/platform/8', 'sys/tools/random/8']) done(await write(path))
  })
}

test('C-03 seal and all mix the generator of the device with that of this machine: neither alone is told', async () => {
  const { write, device } = await newServer()
  for (const path of ['transit/random/seal/64', 'transit/random/all/64', 'sys/tools/random/seal/64']) {
    device.orders.length = 0
    const first = done(await write(path, { format: 'hex' })).body
    assert.deepEqual(first.warnings ?? null, null)
    assert.deepEqual(device.orders, [{ do: 'random', library: 'soft', count: 64 }])
    const second = (await write(path, { format: 'hex' })).body.data?.random_bytes
    assert.notEqual(second, first.data?.random_bytes, 'a device that gives always the same does no harm')
    assert.notEqual(first.data?.random_bytes, '5a'.repeat(64))
  }
  device.fault = { fault: 'no-token', detail: 'it is gone' }
  const refused = await write('sys/tools/random/seal/64')
  assert.deepEqual([refused.status, /it is gone/.test(sentence(refused))], [502, true])
  done(await write('sys/tools/random/platform/64'))
})

test('without a device seal is answered by this machine, with a warning', async () => {
  const { call } = await startMemoryServer()
  const seal = done(await call('POST', 'sys/tools/random/seal/8', {})).body
  assert.deepEqual(seal.warnings, ['no seal/entropy augmentation available, using platform entropy source'])
  assert.equal(done(await call('POST', 'sys/tools/random/all/8', {})).body.warnings ?? null, null)
  const called = await call('POST', 'sys/managed-keys/pkcs11/k', AES)
  assert.match(sentence(called), /must be the name of a kms_library in the configuration: it has none/)
})
