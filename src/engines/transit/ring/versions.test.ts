import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '../../../api/errors.ts'
import {
  changeMinimums,
  decryptionVersion,
  encryptionVersion,
  FIRST_BOUNDS,
  requireAvailable,
  type VersionBounds,
} from './versions.ts'

function bounds(latest: number, minDecryption: number, minEncryption: number, minAvailable = 0): VersionBounds {
  return {
    latestVersion: latest,
    minDecryptionVersion: minDecryption,
    minEncryptionVersion: minEncryption,
    minAvailableVersion: minAvailable,
  }
}

/** A version, or a part of the refusal. */
type Expected = number | string

function assertGives(expected: Expected, work: () => number): void {
  if (typeof expected === 'number') assert.equal(work(), expected)
  else
    assert.throws(work, (cause) => cause instanceof Refusal && cause.status === 400 && cause.message.includes(expected))
}

const ENCRYPTION: readonly { name: string; bounds: VersionBounds; requested: number; expected: Expected }[] = [
  { name: '0 is the latest', bounds: bounds(5, 1, 0), requested: 0, expected: 5 },
  { name: '0 is the latest above a minimum', bounds: bounds(5, 3, 4), requested: 0, expected: 5 },
  { name: 'any loaded version without a minimum', bounds: bounds(5, 1, 0), requested: 1, expected: 1 },
  { name: 'the minimum itself', bounds: bounds(5, 2, 3), requested: 3, expected: 3 },
  { name: 'below the minimum', bounds: bounds(5, 2, 3), requested: 2, expected: 'less than the minimum encryption' },
  { name: 'not loaded', bounds: bounds(5, 3, 0), requested: 2, expected: 'no such key version' },
  { name: 'not loaded nor allowed', bounds: bounds(5, 3, 4), requested: 1, expected: 'less than the minimum' },
  { name: 'above the latest', bounds: bounds(5, 1, 0), requested: 6, expected: 'higher than the latest key version' },
  { name: 'negative', bounds: bounds(5, 1, 0), requested: -1, expected: 'is negative' },
]
for (const { name, bounds: given, requested, expected } of ENCRYPTION) {
  test(`encryptionVersion: ${name}`, () => assertGives(expected, () => encryptionVersion(given, requested)))
}

const DECRYPTION: readonly { name: string; bounds: VersionBounds; written: number; expected: Expected }[] = [
  { name: 'the latest', bounds: bounds(3, 1, 0), written: 3, expected: 3 },
  { name: 'the minimum for encryption does not count', bounds: bounds(3, 1, 3), written: 1, expected: 1 },
  { name: '0 was written before versions were counted', bounds: bounds(3, 1, 0), written: 0, expected: 1 },
  { name: '0 is too old as 1 is', bounds: bounds(3, 2, 0), written: 0, expected: 'disallowed by policy (too old)' },
  { name: 'below the minimum', bounds: bounds(3, 2, 0), written: 1, expected: 'disallowed by policy (too old)' },
  { name: 'negative', bounds: bounds(3, 1, 0), written: -1, expected: 'disallowed by policy (too old)' },
  { name: 'above the latest', bounds: bounds(3, 1, 0), written: 4, expected: 'version is too new' },
]
for (const { name, bounds: given, written, expected } of DECRYPTION) {
  test(`decryptionVersion: ${name}`, () => assertGives(expected, () => decryptionVersion(given, written)))
}

const CHANGES: readonly {
  name: string
  bounds: VersionBounds
  decryption?: number
  encryption?: number
  expected: readonly [number, number] | string
}[] = [
  { name: 'nothing wanted', bounds: bounds(5, 2, 3), expected: [2, 3] },
  { name: 'raise both', bounds: bounds(5, 1, 0), decryption: 2, encryption: 3, expected: [2, 3] },
  { name: 'together past each other', bounds: bounds(5, 1, 2), decryption: 3, encryption: 4, expected: [3, 4] },
  { name: 'equal', bounds: bounds(5, 1, 0), decryption: 5, encryption: 5, expected: [5, 5] },
  { name: 'decryption 0 means 1', bounds: bounds(5, 3, 4), decryption: 0, expected: [1, 4] },
  { name: 'lower decryption', bounds: bounds(5, 3, 4), decryption: 1, expected: [1, 4] },
  { name: 'encryption 0 sets no bound', bounds: bounds(5, 3, 4), encryption: 0, expected: [3, 0] },
  { name: 'decryption negative', bounds: bounds(5, 1, 0), decryption: -1, expected: 'cannot be negative' },
  { name: 'encryption negative', bounds: bounds(5, 1, 0), encryption: -1, expected: 'cannot be negative' },
  {
    name: 'decryption above the latest',
    bounds: bounds(5, 1, 0),
    decryption: 6,
    expected: 'cannot set min decryption version of 6, latest key version is 5',
  },
  {
    name: 'encryption above the latest',
    bounds: bounds(5, 1, 0),
    encryption: 6,
    expected: 'cannot set min encryption version of 6, latest key version is 5',
  },
  {
    name: 'encryption below decryption',
    bounds: bounds(5, 3, 0),
    encryption: 2,
    expected: 'min encryption version of 2 must be 0 or greater than or equal to min decryption version of 3',
  },
  { name: 'decryption above encryption', bounds: bounds(5, 1, 2), decryption: 3, expected: 'greater than or equal' },
  { name: 'both wrong together', bounds: bounds(5, 1, 0), decryption: 3, encryption: 2, expected: 'greater than' },
]
for (const { name, bounds: given, decryption, encryption, expected } of CHANGES) {
  test(`changeMinimums: ${name}`, () => {
    const before = structuredClone(given)
    const change = () => changeMinimums(given, { minDecryptionVersion: decryption, minEncryptionVersion: encryption })
    if (typeof expected === 'string') {
      assert.throws(change, (cause) => cause instanceof Refusal && cause.message.includes(expected))
    } else {
      const changed = change()
      assert.deepEqual([changed.minDecryptionVersion, changed.minEncryptionVersion], expected)
    }
    assert.deepEqual(given, before)
  })
}

test('requireAvailable: after a trim no minimum goes below what is left, and none is unset', () => {
  requireAvailable(FIRST_BOUNDS)
  requireAvailable(bounds(5, 3, 4, 3))
  for (const tooLow of [bounds(5, 2, 4, 3), bounds(5, 3, 0, 3), bounds(5, 2, 2, 3)]) {
    assert.throws(() => requireAvailable(tooLow), /cannot be below 3/)
  }
})
