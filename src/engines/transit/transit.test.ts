import assert from 'node:assert/strict'
import { test } from 'node:test'
import { base64, mountTransit } from '../../../test/fixtures/mounted-transit.ts'
import type { Endpoint } from '../../api/endpoint.ts'
import { KEY_TYPES } from '../../crypto/key-types/key-types.ts'
import { Secret } from '../../crypto/primitives/secret.ts'
import type { JsonObject } from '../../lib/json.ts'
import { decodeRing } from './ring/key-ring.ts'
import { TRANSIT } from './transit.ts'

const plaintext = base64('the quick brown fox')

test('the engine offers the endpoints of the interface, and those that always write run on the writer', () => {
  const shown = TRANSIT.router.endpoints.map(({ operation, path, runsOn }) => `${operation} ${path} ${runsOn}`)
  assert.deepEqual(shown.sort(), [
    'delete keys/:name writer',
    'delete keys/:name/soft-delete writer',
    'list keys any-node',
    'read backup/:name writer',
    'read byok-export/:destination/:source(/:version...) any-node',
    'read cache-config any-node',
    'read config/keys any-node',
    'read export/:type/:name(/:version...) any-node',
    'read keys/:name any-node',
    'read wrapping_key any-node',
    'update cache-config writer',
    'update cmac/:name(/:mac_length) any-node',
    'update config/keys writer',
    'update datakey/:type/:name any-node',
    'update datakeys/:type/:name any-node',
    'update decrypt/:name any-node',
    'update derive-key/:name writer',
    'update encrypt/:name any-node',
    'update hash(/:algorithm) any-node',
    'update hmac/:name(/:algorithm) any-node',
    'update keys/:name writer',
    'update keys/:name/config writer',
    'update keys/:name/csr any-node',
    'update keys/:name/import writer',
    'update keys/:name/import_version writer',
    'update keys/:name/rotate writer',
    'update keys/:name/set-certificate writer',
    'update keys/:name/soft-delete-restore writer',
    'update keys/:name/trim writer',
    'update random(/:source)(/:bytes) any-node',
    'update restore(/:name...) writer',
    'update rewrap/:name any-node',
    'update sign/:name(/:hash_algorithm) any-node',
    'update verify/:name(/:hash_algorithm) any-node',
  ])
})

test('what a client sends in confidence is marked so', () => {
  const SECRET = ['plaintext', 'ciphertext', 'context', 'nonce', 'associated_data', 'batch_input', 'backup']
  for (const { id, fields } of TRANSIT.router.endpoints) {
    for (const name of SECRET) assert.ok(fields[name]?.secret ?? true, `${id} ${name}`)
  }
})

const FORMS = ['latin1', 'hex', 'base64', 'base64url'] as const

test('C-10 no endpoint gives away a byte string of a key', async () => {
  const { client, view } = mountTransit()
  await client.write('keys/k', { exportable: true, allow_plaintext_backup: true })
  await client.write('keys/k/rotate')
  const { ciphertext } = (await client.write('encrypt/k', { plaintext })).data
  const replies: unknown[] = []
  for (const endpoint of TRANSIT.router.endpoints.toSorted(deletesLast)) {
    for (const body of [{}, { plaintext, ciphertext }, { batch_input: [{ plaintext, ciphertext }] }] as JsonObject[]) {
      const secrets = secretsOf(view.entries.get('key/k'))
      const path = endpoint.path.replace(':type', 'plaintext').replace(':name', 'k')
      const reply = await client.call(endpoint.operation, path, { ...body, deletion_allowed: true })
      const printed = JSON.stringify(reply)
      for (const secret of secrets)
        for (const form of FORMS) assert.ok(!printed.includes(secret.toString(form)), endpoint.id)
      replies.push(reply)
    }
  }
  assert.equal(replies.length, 3 * TRANSIT.router.endpoints.length)
})

function deletesLast(a: Endpoint, b: Endpoint): number {
  return Number(a.operation === 'delete') - Number(b.operation === 'delete')
}

function secretsOf(stored: Buffer | undefined): Buffer[] {
  if (stored === undefined) return []
  return decodeRing(stored).secrets.flatMap(({ material, hmac }) => [material.reveal(), hmac.reveal()])
}

test('N-10 every secret that is laid open is wiped: of keys made, changed and loaded', async (t) => {
  const open = new Set<Secret>()
  const { reveal, wipe } = Secret.prototype
  t.mock.method(Secret.prototype, 'reveal', function (this: Secret) {
    open.add(this)
    return reveal.call(this)
  })
  t.mock.method(Secret.prototype, 'wipe', function (this: Secret) {
    open.delete(this)
    wipe.call(this)
  })
  const { client, view } = mountTransit()
  const works = [
    () => client.write('keys/k'),
    () => client.write('keys/k'),
    () => client.write('keys/k/rotate'),
    () => client.write('keys/k/config', { min_encryption_version: 1, deletion_allowed: true }),
    () => client.write('keys/k/config', { min_encryption_version: 9 }),
    () => client.write('encrypt/new', { plaintext }),
    () => client.write('encrypt/newer', { plaintext: '!' }),
    () => client.delete('keys/k'),
  ]
  for (const [index, work] of works.entries()) {
    await work()
    assert.equal(open.size, 0, `work ${index}`)
  }
  view.beforeCommit = () => {
    throw new Error('device')
  }
  for (const path of ['keys/failed', 'keys/new/rotate']) await assert.rejects(client.write(path), /device/)
  assert.equal(open.size, 0)
})

test('N-10 the plaintext of a rewrap and a data key are wiped where they were bytes', async (t) => {
  const { cipher } = KEY_TYPES.get('aes256-gcm96') ?? {}
  assert.ok(cipher)
  const seen: Buffer[] = []
  const { sealWithNonce } = cipher
  t.mock.method(cipher, 'sealWithNonce', (...args: Parameters<typeof sealWithNonce>) => {
    seen.push(args[2])
    return sealWithNonce(...args)
  })
  const { client } = mountTransit()
  await client.write('keys/k')
  const { ciphertext } = (await client.write('encrypt/k', { plaintext })).data
  seen.length = 0
  await client.write('rewrap/k', { ciphertext })
  await client.write('datakey/plaintext/k')
  assert.deepEqual(
    seen.map(({ length }) => length),
    [19, 32],
  )
  for (const bytes of seen) assert.ok(bytes.every((byte) => byte === 0))
})

test('two mounts over two views know nothing of each other', async () => {
  const [one, other] = [mountTransit(), mountTransit()]
  const { ciphertext } = (await one.client.write('encrypt/k', { plaintext })).data
  assert.equal((await other.client.read('keys/k')).status, 404)
  await other.client.write('keys/k')
  assert.equal((await other.client.write('decrypt/k', { ciphertext })).status, 400)
})
