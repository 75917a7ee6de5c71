import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aes256Gcm96 } from './aead-key-types.ts'
import { KEY_TYPES, keyTypeTable } from './key-types.ts'

test('every key type is found by its own name', () => {
  assert.ok(KEY_TYPES.size > 0)
  for (const [name, type] of KEY_TYPES) assert.equal(type.name, name)
  assert.equal(KEY_TYPES.get('aes256-gcm96'), aes256Gcm96)
  assert.equal(KEY_TYPES.get('constructor'), undefined)
})

test('two key types of one name refuse to start', () => {
  assert.throws(() => keyTypeTable([aes256Gcm96, aes256Gcm96]), /"aes256-gcm96"/)
})

test('two key types of one number in backups refuse to start', () => {
  assert.throws(() => keyTypeTable([aes256Gcm96, { ...aes256Gcm96, name: 'other' }]), /number 0 in backups/)
})

test('only types whose keys have the length of its output have the counter KDF, for restored and imported keys', () => {
  for (const { name, cipher, derivation } of KEY_TYPES.values()) {
    const has32Bytes = cipher?.takesAssociatedData === true && cipher.keyBytes === 32
    assert.equal(derivation?.deriveByCounter !== undefined, has32Bytes, name)
  }
})

test('the numbers of types in backups are those that were written', () => {
  const numbers = Object.fromEntries([...KEY_TYPES].map(([name, { backupId }]) => [name, backupId]))
  assert.deepEqual(numbers, {
    'aes256-gcm96': 0,
    'ecdsa-p256': 1,
    ed25519: 2,
    'rsa-2048': 3,
    'rsa-4096': 4,
    'chacha20-poly1305': 5,
    'ecdsa-p384': 6,
    'ecdsa-p521': 7,
    'aes128-gcm96': 8,
    'rsa-3072': 9,
    hmac: 10,
    'xchacha20-poly1305': 11,
    'aes128-cmac': 12,
    'aes256-cmac': 13,
    'aes192-cmac': 16,
    'ecdsa-secp256k1': 20_001,
    'ml-dsa-44': 20_044,
    'ml-dsa-65': 20_065,
    'ml-dsa-87': 20_087,
  })
})
