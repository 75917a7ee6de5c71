import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { RandomnessFailed } from '../crypto/random-bytes.ts'
import { importSecret } from '../crypto/secret-key.ts'
import { realWorld } from '../lib/world.ts'
import { Barrier, openRecord, sealRecord } from './barrier.ts'
import { Sealed, StorageCorrupt } from './contract.ts'
import { decodeKeyring, encodeKeyring, type Keyring } from './keyring.ts'

const { random } = realWorld()
const keyring: Keyring = {
  activeTerm: 2,
  terms: new Map([
    [1, { key: importSecret(Buffer.alloc(32, 1)), installedAtMs: 1_700_000_000_000 }],
    [2, { key: importSecret(Buffer.alloc(32, 2)), installedAtMs: 1_800_000_000_000 }],
  ]),
}
const barrier = new Barrier(random, keyring)
const value = Buffer.from('a value of some length')

test('what is sealed opens at its path, and only there (P-09)', () => {
  const record = barrier.seal('root/a', value)
  assert.deepEqual(barrier.open('root/a', record), value)
  assert.throws(() => barrier.open('root/b', record), StorageCorrupt)
})

test('every flipped bit, and every other length, is found', () => {
  const record = barrier.seal('root/a', value)
  for (let bit = 0; bit < record.length * 8; bit++) {
    const changed = Buffer.from(record)
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    assert.throws(() => barrier.open('root/a', changed), StorageCorrupt, `bit ${bit}`)
  }
  for (let length = 0; length < record.length; length++) {
    assert.throws(() => barrier.open('root/a', record.subarray(0, length)), StorageCorrupt, `${length} bytes`)
  }
  assert.throws(() => barrier.open('root/a', Buffer.concat([record, Buffer.alloc(1)])), StorageCorrupt)
})

test('a record of an older term opens, one of an unknown term does not', () => {
  const old = new Barrier(random, { ...keyring, activeTerm: 1 }).seal('root/a', value)
  assert.deepEqual(barrier.open('root/a', old), value)
  const newer = new Barrier(random, {
    activeTerm: 3,
    terms: new Map([[3, { key: importSecret(random.bytes(32)), installedAtMs: 0 }]]),
  })
  assert.throws(() => barrier.open('root/a', newer.seal('root/a', value)), StorageCorrupt)
})

test('no nonce comes twice', () => {
  const nonces = new Set(Array.from({ length: 10_000 }, () => barrier.seal('root/a', value).toString('latin1', 5, 17)))
  assert.equal(nonces.size, 10_000)
})

test('C-03 with a source that gives only zeros nothing is sealed', () => {
  const blind = new Barrier({ ...random, bytes: (count) => Buffer.alloc(count) }, keyring)
  assert.throws(() => blind.seal('root/a', value), RandomnessFailed)
})

test('a sealed barrier neither seals nor opens', () => {
  const closed = new Barrier(random, keyring)
  const record = closed.seal('root/a', value)
  closed.setKeyring(undefined)
  assert.ok(closed.sealed)
  assert.throws(() => closed.seal('root/a', value), Sealed)
  assert.throws(() => closed.open('root/a', record), Sealed)
})

test('the records around the keyring are bound to key, path and term', () => {
  const key = importSecret(Buffer.alloc(32, 7))
  const record = sealRecord(key, 0, 'root/core/keyring', Buffer.alloc(12, 1), value)
  assert.deepEqual(openRecord(key, 0, 'root/core/keyring', record), value)
  assert.throws(() => openRecord(key, 0, 'root/core/root-key', record))
  assert.throws(() => openRecord(importSecret(Buffer.alloc(32, 8)), 0, 'root/core/keyring', record))
  assert.throws(() => openRecord(key, 1, 'root/core/keyring', record), StorageCorrupt)
})

test('a keyring comes back as it was, and nothing else does', () => {
  const bytes = encodeKeyring(keyring)
  const back = decodeKeyring(bytes)
  assert.equal(back.activeTerm, 2)
  assert.deepEqual([...back.terms.keys()], [1, 2])
  assert.equal(back.terms.get(1)?.installedAtMs, 1_700_000_000_000)
  assert.deepEqual(back.terms.get(2)?.key.export(), Buffer.alloc(32, 2))
  for (let length = 0; length < bytes.length; length++) {
    assert.throws(() => decodeKeyring(bytes.subarray(0, length)), StorageCorrupt, `${length} bytes`)
  }
  const other = Buffer.from(bytes)
  other[0] = 9
  assert.throws(() => decodeKeyring(other), StorageCorrupt)
  other[0] = 1
  other.writeUInt32BE(77, 1)
  assert.throws(() => decodeKeyring(other), StorageCorrupt)
})
