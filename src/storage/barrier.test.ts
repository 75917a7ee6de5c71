import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { RandomnessFailed } from '../crypto/primitives/random-bytes.ts'
import { importSecret } from '../crypto/primitives/secret-key.ts'
import { realWorld } from '../lib/world.ts'
import { Barrier, openRecord, sealRecord } from './barrier.ts'
import { Sealed, StorageCorrupt } from './errors.ts'
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

/**
 * Made with AES-256-GCM of two other implementations (OpenSSL by itself, and the Python package cryptography), from the
 * bytes at the head of barrier.ts: key 00 to 1f, nonce a0 to ab.
 */
const VECTORS = [
  {
    term: 0,
    path: 'root/core/keyring',
    text: 'a keyring',
    record: '0100000000a0a1a2a3a4a5a6a7a8a9aaab873817483cb96bd10541e8207d3132cee758663aa2a09f2287',
  },
  {
    term: 1,
    path: 'root/logical/a',
    text: 'a value',
    record: '0100000001a0a1a2a3a4a5a6a7a8a9aaab87380a4c29be677ed87837634031e1bb15b23c2b6ba67d',
  },
  {
    term: 0x01020304,
    path: 'root/lögical/a',
    text: '',
    record: '0101020304a0a1a2a3a4a5a6a7a8a9aaab57196e1db2460c5646df7d2986cd49a7',
  },
]

for (const { term, path, text, record } of VECTORS) {
  test(`a record of term ${term} has the bytes that others make of it`, () => {
    const key = importSecret(Buffer.from(Array.from({ length: 32 }, (_, at) => at)))
    const nonce = Buffer.from(Array.from({ length: 12 }, (_, at) => 0xa0 + at))
    assert.equal(sealRecord(key, term, path, nonce, Buffer.from(text)).toString('hex'), record)
    assert.equal(openRecord(key, term, path, Buffer.from(record, 'hex')).toString(), text)
  })
}

test('a record does not pass for one of another term, also where both terms have the same key', () => {
  const dataKey = { key: importSecret(Buffer.alloc(32, 1)), installedAtMs: 0 }
  const twins = new Barrier(random, {
    activeTerm: 1,
    terms: new Map([
      [1, dataKey],
      [2, dataKey],
    ]),
  })
  const record = twins.seal('root/a', value)
  assert.deepEqual(twins.open('root/a', record), value)
  record.writeUInt32BE(2, 1)
  assert.throws(() => twins.open('root/a', record), StorageCorrupt)
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
