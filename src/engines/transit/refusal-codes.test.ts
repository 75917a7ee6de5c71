// The code of a refusal says what was wrong, whatever its sentence: clients react to each code in another way.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { base64, mountTransit } from '../../../test/fixtures/mounted-transit.ts'
import type { ErrorCode } from '../../api/errors.ts'
import type { JsonObject } from '../../lib/json.ts'

const plaintext = base64('text')

type Row = { readonly path: string; readonly body?: JsonObject; readonly code: ErrorCode }

const REFUSED: readonly Row[] = [
  { path: 'encrypt/k', code: 'field_missing' },
  { path: 'encrypt/k', body: { plaintext: '-_' }, code: 'base64_invalid' },
  { path: 'encrypt/k', body: { plaintext, key_version: 3 }, code: 'version_unknown' },
  { path: 'encrypt/k', body: { plaintext, key_version: -1 }, code: 'version_unknown' },
  { path: 'encrypt/k', body: { plaintext, nonce: base64('twelve bytes') }, code: 'nonce_refused' },
  { path: 'encrypt/k', body: { plaintext, padding_scheme: 'oaep' }, code: 'field_not_applicable' },
  { path: 'encrypt/k', body: { plaintext, padding_scheme: 'none' }, code: 'choice_unknown' },
  { path: 'encrypt/k', body: { batch_input: [] }, code: 'batch_invalid' },
  { path: 'encrypt/derived', body: { plaintext }, code: 'field_missing' },
  { path: 'encrypt/signs', body: { plaintext }, code: 'key_cannot' },
  { path: 'encrypt/rsa', body: { plaintext: base64('x'.repeat(500)) }, code: 'plaintext_too_long' },
  { path: 'encrypt/deleted', body: { plaintext }, code: 'key_soft_deleted' },
  { path: 'encrypt/old', body: { plaintext, key_version: 1 }, code: 'version_retired' },
  { path: 'decrypt/none', body: { ciphertext: 'vault:v1:AAAA' }, code: 'key_not_found' },
  { path: 'decrypt/k', body: { ciphertext: 'AAAA' }, code: 'ciphertext_malformed' },
  { path: 'decrypt/k', body: { ciphertext: 'vault:v1:A' }, code: 'ciphertext_malformed' },
  { path: 'decrypt/k', body: { ciphertext: 'vault:v1:AAAA' }, code: 'ciphertext_malformed' },
  { path: 'decrypt/k', body: { ciphertext: `vault:v1:${base64('x'.repeat(40))}` }, code: 'decryption_failed' },
  { path: 'decrypt/k', body: { ciphertext: `vault:v2:${base64('x'.repeat(40))}` }, code: 'version_unknown' },
  { path: 'decrypt/old', body: { ciphertext: `vault:v1:${base64('x'.repeat(40))}` }, code: 'version_retired' },
  { path: 'verify/signs', body: { input: plaintext, signature: 'AAAA' }, code: 'signature_malformed' },
  { path: 'verify/signs', body: { batch_input: [{ input: plaintext }] }, code: 'field_missing' },
  {
    path: 'verify/signs',
    body: { batch_input: [{ input: plaintext, signature: 'a' }, { input: plaintext }] },
    code: 'batch_invalid',
  },
  { path: 'sign/rsa', body: { input: plaintext, prehashed: true }, code: 'input_unusable' },
  { path: 'sign/rsa', body: { input: plaintext, hash_algorithm: 'none' }, code: 'fields_conflict' },
  { path: 'keys/new', body: { type: 'des' }, code: 'choice_unknown' },
  { path: 'keys/new', body: { convergent_encryption: true }, code: 'fields_conflict' },
  { path: 'keys/new', body: { auto_rotate_period: 60 }, code: 'out_of_range' },
  { path: 'keys/k/config', body: { min_decryption_version: 2 }, code: 'version_bounds' },
  { path: 'keys/k/config', body: { min_mac_length: 8 }, code: 'field_not_applicable' },
  { path: 'keys/k/import_version', body: { ciphertext: plaintext }, code: 'import_not_allowed' },
  { path: 'keys/new/import', body: { public_key: 'pem' }, code: 'key_cannot' },
  { path: 'keys/new/import', body: { type: 'rsa-2048', public_key: 'pem' }, code: 'key_material_invalid' },
  { path: 'keys/k/import', body: { ciphertext: plaintext }, code: 'already_exists' },
  { path: 'keys/signs/csr', body: { csr: 'pem' }, code: 'certificate_request_invalid' },
  { path: 'keys/signs/set-certificate', body: { certificate_chain: 'pem' }, code: 'certificate_chain_invalid' },
  { path: 'restore', body: { backup: 'AAAA' }, code: 'backup_invalid' },
]

async function mounted() {
  const { client } = mountTransit()
  for (const [name, body] of Object.entries({
    k: {},
    derived: { derived: true },
    signs: { type: 'ecdsa-p256' },
    rsa: { type: 'rsa-2048' },
    deleted: {},
    old: {},
  }))
    assert.equal((await client.write(`keys/${name}`, body)).status, 200, name)
  await client.delete('keys/deleted/soft-delete')
  await client.write('keys/old/rotate')
  await client.write('keys/old/config', { min_decryption_version: 2 })
  return client
}

test('the code of a refusal says what was wrong', async () => {
  const client = await mounted()
  for (const { path, body, code } of REFUSED)
    assert.equal(await client.codeOfWrite(path, body), code, `${path} ${JSON.stringify(body)}`)
})
