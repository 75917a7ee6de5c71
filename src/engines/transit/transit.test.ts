import assert from 'node:assert/strict'
import { test } from 'node:test'
import { base64, mountTransit } from '../../../test/fixtures/mounted-transit.ts'
import type { Endpoint } from '../../api/endpoint.ts'
import type { JsonObject } from '../../lib/json.ts'
import { decodeRing } from './key-ring.ts'
import { TRANSIT } from './transit.ts'

const plaintext = base64('the quick brown fox')

test('the engine offers the endpoints of the interface, and those that always write run on the writer', () => {
  const shown = TRANSIT.router.endpoints.map(({ operation, path, runsOn }) => `${operation} ${path} ${runsOn}`)
  assert.deepEqual(shown.sort(), [
    'delete keys/:name writer',
    'list keys any-node',
    'read config/keys any-node',
    'read keys/:name any-node',
    'update config/keys writer',
    'update datakey/:type/:name any-node',
    'update decrypt/:name any-node',
    'update encrypt/:name any-node',
    'update keys/:name writer',
    'update keys/:name/config writer',
    'update keys/:name/rotate writer',
    'update rewrap/:name any-node',
  ])
})

test('what a client sends in confidence is marked so', () => {
  const SECRET = ['plaintext', 'ciphertext', 'context', 'nonce', 'associated_data', 'batch_input']
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

test('two mounts over two views know nothing of each other', async () => {
  const [one, other] = [mountTransit(), mountTransit()]
  const { ciphertext } = (await one.client.write('encrypt/k', { plaintext })).data
  assert.equal((await other.client.read('keys/k')).status, 404)
  await other.client.write('keys/k')
  assert.equal((await other.client.write('decrypt/k', { ciphertext })).status, 400)
})
