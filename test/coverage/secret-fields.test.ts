// Which fields are secret: the audit never shows them, whatever form their values have, and no mount can declare them
// readable. One name means the same at every endpoint, so that none is forgotten.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PLACED_ENDPOINTS } from '../fixtures/endpoint-table.ts'

const SECRET: readonly string[] = [
  'associated_data',
  'batch_input',
  'ciphertext',
  'client_secret',
  'cmac',
  'context',
  'dr_operation_token',
  'input',
  'jwt',
  'key',
  'otp',
  'parameters',
  'password',
  'password_hash',
  'pin',
  'plaintext',
  'secret_id',
  'signature',
  'token',
  'unlock_key',
]
/** Where one of these names is a secret at the endpoints whose ids begin so, and means something else elsewhere. */
const SECRET_AT: Readonly<Record<string, string>> = {
  backup: 'transit-restore',
  hmac: 'transit-verify',
  id: 'token-create',
  nonce: 'transit-',
  value: 'raw-write',
}

function isSecretName(name: string, endpointId: string): boolean {
  const only = Object.hasOwn(SECRET_AT, name) ? SECRET_AT[name] : undefined
  return SECRET.includes(name) || (only !== undefined && endpointId.startsWith(only))
}

test('a field is secret where its name is that of a secret, and nowhere else', () => {
  const wrong = PLACED_ENDPOINTS.flatMap(({ endpoint: { id, fields } }) =>
    Object.entries(fields)
      .filter(([name, { secret }]) => secret !== isSecretName(name, id))
      .map(([name, { secret }]) => `${id}: ${name} is ${secret ? '' : 'not '}secret`),
  )
  assert.deepEqual(wrong, [])
})

test('every name that is called secret is a field', () => {
  const names = new Set(PLACED_ENDPOINTS.flatMap(({ endpoint }) => Object.keys(endpoint.fields)))
  assert.deepEqual(
    [...SECRET, ...Object.keys(SECRET_AT)].filter((name) => !names.has(name)),
    [],
  )
})
