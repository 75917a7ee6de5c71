// P-14, Q-18: after seal no key is left in the memory of the process. What is searched for was found there before.
import { strict as assert } from 'node:assert'
import { createPrivateKey } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { importSecret } from '../../../src/crypto/primitives/secret-key.ts'
import { combineShares } from '../../../src/crypto/primitives/shamir.ts'
import { realWorld } from '../../../src/lib/world.ts'
import { Barrier, openRecord } from '../../../src/storage/barrier.ts'
import { decodeKeyring } from '../../../src/storage/keyring.ts'
import { countInMemory, formsOf } from '../../fixtures/process-memory.ts'
import { api, type RunningProcess, startConfigured, temporaryDirectory } from '../../fixtures/server-process.ts'

const skip = process.platform !== 'linux' && 'there is no /proc'

type Secrets = ReadonlyMap<string, Buffer>

/** A server with a file of configuration, in a directory that goes with the test. */
async function start(context: TestContext, seal: (directory: string) => string) {
  const directory = temporaryDirectory()
  const config = join(directory.path, 'server.hcl')
  const data = join(directory.path, 'data')
  const text =
    `listener "tcp" { address = "127.0.0.1:0", tls_disable = true }\nstorage "sqlite" { path = "${data}" }\n` +
    'api_addr = "http://127.0.0.1:1"\n'
  writeFileSync(config, text + seal(directory.path))
  const server = await startConfigured(config)
  context.after(async () => {
    await server.stop()
    directory.cleanUp()
  })
  return { server, data }
}

/** All keys of the server, opened from its storage as it opens them itself. */
function keysOf(data: string, unsealKey: Buffer): { readonly secrets: Secrets; readonly pairs: Secrets } {
  const database = new DatabaseSync(join(data, 'keywright.db'), { readOnly: true })
  const stored = (key: string): Buffer => {
    const row = database.prepare('SELECT value FROM data WHERE key LIKE ?').get(key)
    return Buffer.from(row?.value as Uint8Array)
  }
  const materialOf = (name: string): Buffer => {
    const row = database.prepare('SELECT key FROM data WHERE key LIKE ?').get(`root/logical/%/key/${name}`)
    const ring = barrier.open(String(row?.key), stored(String(row?.key)))
    const at = 5 + ring.readUInt32BE(1)
    return ring.subarray(at + 4, at + 4 + ring.readUInt32BE(at))
  }
  const open = (key: Buffer, path: string): Buffer => openRecord(importSecret(key), 0, path, stored(path))
  const rootKey = open(unsealKey, 'root/core/root-key')
  const keyring = decodeKeyring(open(rootKey, 'root/core/keyring'))
  const barrier = new Barrier(realWorld().random, keyring)
  const secrets = new Map([
    ['root key', rootKey],
    ['token key', barrier.open('root/sys/token/key', stored('root/sys/token/key'))],
    ['leaf key', barrier.open('root/core/leaf-key', stored('root/core/leaf-key'))],
    ['transit key', materialOf('k')],
    ...[...keyring.terms].map(([term, { key }]) => [`data key ${term}`, key.export()] as const),
  ])
  const wrapping = barrier.open('root/core/wrapping-key', stored('root/core/wrapping-key'))
  const pairs = new Map([
    ...pairSecrets(materialOf('pair')),
    ...scalarOf(wrapping),
    ...identitySecrets(database, barrier),
    ...SIGNING_TYPES.flatMap((type) => [...signingSecrets(type, materialOf(`signs-${type}`))]),
  ])
  database.close()
  return { secrets, pairs }
}

/** 32 bytes out of each secret number: as it is stored, and as it is computed with, least significant byte first. */
function pairSecrets(material: Buffer): Secrets {
  const numbers = createPrivateKey({ key: material, format: 'der', type: 'pkcs8' }).export({ format: 'jwk' })
  const found = new Map<string, Buffer>()
  for (const name of ['p', 'q', 'd'] as const) {
    const number = Buffer.from(String(numbers[name]), 'base64url')
    found.set(`RSA ${name} stored`, number.subarray(32, 64))
    found.set(`RSA ${name} loaded`, Buffer.from(number.subarray(32, 64)).reverse())
  }
  return found
}

/** Of the keys that sign identity tokens: that in use, and the next one. */
function identitySecrets(database: DatabaseSync, barrier: Barrier): Secrets {
  const rows = database
    .prepare("SELECT key, value FROM data WHERE key LIKE 'root/core/local-plugin-identity/private/%'")
    .all()
  assert.equal(rows.length, 2)
  const opened = rows.map(({ key, value }) => barrier.open(String(key), Buffer.from(value as Uint8Array)))
  return new Map(opened.flatMap((each, i) => [...pairSecrets(each)].map(([name, s]) => [`identity ${i} ${name}`, s])))
}

/** Of the pairs, what is in memory as long as they are in use. */
const LOADED = ['RSA p loaded', 'RSA q loaded', 'P-521 d loaded', 'ed25519 seed', 'ecdsa-p521 loaded', 'ml-dsa-65 seed']
const SIGNING_TYPES = ['ed25519', 'ecdsa-p521', 'ml-dsa-65']

/** Seeds as they are, which stand at the end; the number of a curve as it is computed with. */
function signingSecrets(type: string, material: Buffer): Secrets {
  if (!type.startsWith('ecdsa-')) return new Map([[`${type} seed`, Buffer.from(material.subarray(-32))]])
  const key = createPrivateKey({ key: material, format: 'der', type: 'pkcs8' })
  const part = key.export({ format: 'raw-private' }).subarray(-32)
  return new Map([[`${type} loaded`, Buffer.from(part).reverse()]])
}

/** The same of the key that signs wrapping tokens, which has 66 bytes. */
function scalarOf(material: Buffer): Secrets {
  const part = Buffer.from(material.subarray(17, 49))
  return new Map([
    ['P-521 d stored', part],
    ['P-521 d loaded', Buffer.from(part).reverse()],
  ])
}

/** Has every key in use. */
async function work(server: RunningProcess, token: string): Promise<void> {
  const call = (method: string, path: string, body?: object) => api({ ...server, token }, method, path, body)
  await call('POST', 'sys/mounts/transit', { type: 'transit' })
  await call('POST', 'transit/keys/k', {})
  await call('POST', 'sys/rotate')
  await call('POST', 'transit/keys/k2', {})
  await call('POST', 'transit/keys/pair', { type: 'rsa-2048' })
  for (const type of SIGNING_TYPES) {
    assert.equal((await call('POST', `transit/keys/signs-${type}`, { type })).status, 200)
    assert.equal((await call('POST', `transit/sign/signs-${type}`, { input: 'c29tZQ==' })).status, 200)
  }
  const batch_input = Array.from({ length: 1000 }, () => ({ plaintext: 'c29tZQ==' }))
  assert.equal((await call('POST', 'transit/encrypt/k', { batch_input })).status, 200)
  const sealed = (await call('POST', 'transit/encrypt/pair', { plaintext: 'c29tZQ==' })).body.data?.ciphertext
  assert.equal((await call('POST', 'transit/decrypt/pair', { ciphertext: sealed })).status, 200)
  // A token is signed when an audience is written.
  await call('POST', 'sys/auth/cloud', { type: 'cloud' })
  const cloud = { tenant_id: 'example.test', resource: 'https://example.test/', identity_token_audience: 'api://a' }
  assert.equal((await call('POST', 'auth/cloud/config', cloud)).status, 204)
  const wrapped = await fetch(`${server.address}/v1/sys/mounts`, {
    headers: { 'X-Vault-Token': token, 'X-Vault-Wrap-TTL': '60', 'X-Vault-Wrap-Format': 'jwt' },
  })
  const { wrap_info: info } = (await wrapped.json()) as { wrap_info: { token: string } }
  assert.equal((await call('POST', 'sys/wrapping/unwrap', { token: info.token })).status, 200)
  const { body } = await call('POST', 'transit/encrypt/k', { plaintext: 'c29tZQ==' })
  assert.equal((await call('POST', 'transit/decrypt/k', { ciphertext: body.data?.ciphertext })).status, 200)
}

const count = (server: RunningProcess, secrets: Secrets): Map<string, number> =>
  countInMemory(server.pid, new Map([...secrets].flatMap(([name, secret]) => formsOf(name, secret))))

const found = (counts: ReadonlyMap<string, number>): [string, number][] => [...counts].filter(([, n]) => n > 0)

async function sealed(context: TestContext, server: RunningProcess, token: string, secrets: Secrets) {
  const before = countInMemory(server.pid, new Map([...secrets].map(([name, secret]) => [`${name} raw`, secret])))
  context.diagnostic(`before seal: ${found(before).map(([name, n]) => `${name} ${n}`)}`)
  assert.equal((await api({ ...server, token }, 'PUT', 'sys/seal')).status, 204)
  const after = count(server, secrets)
  context.diagnostic(`after seal: ${found(after).map(([name, n]) => `${name} ${n}`)}`)
  return { before, after }
}

test('P-14: after seal nothing is left of the keys of a server that shares opened', { skip }, async (context) => {
  const { server, data } = await start(context, () => '')
  const made = (await api(server, 'PUT', 'sys/init', { secret_shares: 3, secret_threshold: 2 })).body
  const [first = '', second = ''] = made.keys_base64 as string[]
  for (const key of [first, second]) await api(server, 'PUT', 'sys/unseal', { key })
  const token = String(made.root_token)
  await work(server, token)
  const shares = [first, second].map((key) => Buffer.from(key, 'base64'))
  const unsealKey = combineShares(shares)
  const { secrets: keys, pairs } = keysOf(data, unsealKey)
  const given = new Map(shares.map((share, index) => [`share ${index + 1}`, share]))
  const { before, after } = await sealed(
    context,
    server,
    token,
    new Map([...keys, ...pairs, ['unseal key', unsealKey], ...given]),
  )
  for (const name of [...keys.keys(), ...LOADED])
    assert.ok((before.get(`${name} raw`) ?? 0) > 0, `${name} is searched for wrongly`)
  const inText = found(after).filter(([name]) => name.startsWith('share') && !name.endsWith('raw'))
  assert.deepEqual(
    found(after).filter((each) => !inText.some(([name]) => name === each[0])),
    [],
  )
})

test('P-14: nor of a static key and what it opened', { skip }, async (context) => {
  const staticKey = realWorld().random.bytes(32)
  const { server, data } = await start(context, (directory) => {
    const file = join(directory, 'static.key')
    writeFileSync(file, staticKey.toString('base64'))
    return `seal "static" {\n  current_key_id = "a"\n  current_key = "file://${file}"\n}\n`
  })
  const made = (await api(server, 'PUT', 'sys/init', { recovery_shares: 1, recovery_threshold: 1 })).body
  const token = String(made.root_token)
  await work(server, token)
  const { secrets: keys, pairs } = keysOf(data, staticKey)
  const { before, after } = await sealed(
    context,
    server,
    token,
    new Map([...keys, ...pairs, ['static key', staticKey]]),
  )
  for (const name of [...keys.keys(), ...LOADED])
    assert.ok((before.get(`${name} raw`) ?? 0) > 0, `${name} is searched for wrongly`)
  assert.deepEqual(found(after), [])
})
