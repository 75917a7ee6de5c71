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
