import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KEY_TYPES } from '../../crypto/key-types/key-types.ts'
import { keyTypeName } from './parameter-set.ts'

test('both spellings of a type with parameter sets name the same type', () => {
  for (const set of ['44', '65', '87']) {
    const name = keyTypeName('ml-dsa', set)
    assert.equal(keyTypeName(name, ''), name)
    assert.equal(keyTypeName(name, set), name)
    assert.equal(KEY_TYPES.get(name)?.name, `ml-dsa-${set}`)
  }
})

test('a parameter set that is missing, unknown or not of the type is refused by name', () => {
  for (const [type, set] of [
    ['ml-dsa', ''],
    ['ml-dsa', '128'],
    ['ml-dsa', 'constructor'],
    ['ml-dsa-44', '65'],
    ['ecdsa-p256', '44'],
    ['aes256-gcm96', '0'],
  ] as const)
    assert.throws(() => keyTypeName(type, set), /"parameter_set": .*44, 65, 87/, `${type} ${set}`)
})

test('other types keep their name', () => {
  for (const name of KEY_TYPES.keys()) assert.equal(keyTypeName(name, ''), name)
  assert.equal(keyTypeName('unheard-of', ''), 'unheard-of')
})
