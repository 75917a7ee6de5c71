import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { testSeed } from '../../../../test/fixtures/seed.ts'
import { Refusal } from '../../../api/errors.ts'
import { changeSettings, requireRotatePeriod, type WantedSettings } from './key-settings.ts'
import { assertSuccessor, MADE_HERE, type RingHeader } from './ring-header.ts'

const HEADER: RingHeader = {
  type: 'aes256-gcm96',
  derived: false,
  convergent: false,
  exportable: false,
  allowPlaintextBackup: false,
  deletionAllowed: false,
  autoRotatePeriodSeconds: 0,
  keySizeBytes: 0,
  ...MADE_HERE,
  latestVersion: 5,
  minDecryptionVersion: 2,
  minEncryptionVersion: 3,
  minAvailableVersion: 0,
  versions: [1, 2, 3, 4, 5].map((createdAtMs) => ({ createdAtMs, convergentVersion: 0 })),
}
const NOTHING: WantedSettings = {
  minDecryptionVersion: undefined,
  minEncryptionVersion: undefined,
  deletionAllowed: undefined,
  exportable: undefined,
  allowPlaintextBackup: undefined,
  autoRotatePeriodSeconds: undefined,
  minMacBytes: undefined,
}

test('nothing wanted, and what is so already: the same header', () => {
  assert.equal(changeSettings(HEADER, NOTHING), HEADER)
  assert.equal(changeSettings(HEADER, { ...NOTHING, exportable: false, minDecryptionVersion: 2 }), HEADER)
})

test('exportable and allow_plaintext_backup stay set, deletion_allowed does not', () => {
  const set = changeSettings(HEADER, {
    ...NOTHING,
    exportable: true,
    allowPlaintextBackup: true,
    deletionAllowed: true,
  })
  const unset = changeSettings(set, {
    ...NOTHING,
    exportable: false,
    allowPlaintextBackup: false,
    deletionAllowed: false,
  })
  assert.deepEqual(unset, { ...HEADER, exportable: true, allowPlaintextBackup: true })
})

test('the period is 0 or an hour and more', () => {
  for (const seconds of [0, 3600, 86_400]) requireRotatePeriod(seconds)
  for (const seconds of [1, 3599]) {
    assert.throws(() => requireRotatePeriod(seconds), /auto rotate period must be 0 to disable or at least an hour/)
  }
})

test('the first of several mistakes is the one that is named: minimums, then period, then what was trimmed', () => {
  const trimmed = { ...HEADER, minAvailableVersion: 2, versions: HEADER.versions.slice(1) }
  const wrong = { ...NOTHING, minEncryptionVersion: 6, autoRotatePeriodSeconds: 60 }
  assert.throws(() => changeSettings(trimmed, wrong), /cannot set min encryption version of 6/)
  assert.throws(() => changeSettings(trimmed, { ...wrong, minEncryptionVersion: 0 }), /auto rotate period/)
  assert.throws(() => changeSettings(trimmed, { ...NOTHING, minEncryptionVersion: 0 }), /older versions were trimmed/)
})

test('P-19 any sequence of changes keeps the rules, and a refused one changes nothing', (t) => {
  const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
  const wanted: fc.Arbitrary<WantedSettings> = fc.record({
    minDecryptionVersion: optional(fc.integer({ min: -1, max: 6 })),
    minEncryptionVersion: optional(fc.integer({ min: -1, max: 6 })),
    deletionAllowed: optional(fc.boolean()),
    exportable: optional(fc.boolean()),
    allowPlaintextBackup: optional(fc.boolean()),
    autoRotatePeriodSeconds: optional(fc.constantFrom(0, 1, 3599, 3600, 100_000)),
    minMacBytes: fc.constant(undefined),
  })
  const keepsRules = fc.property(fc.array(wanted, { minLength: 1 }), (changes) => {
    let header = HEADER
    for (const change of changes) {
      const before = structuredClone(header)
      try {
        const after = changeSettings(header, change)
        assertSuccessor(header, after)
        const { minDecryptionVersion: decryption, minEncryptionVersion: encryption, latestVersion } = after
        assert.ok(decryption >= 1 && decryption <= latestVersion)
        assert.ok(encryption === 0 || (encryption >= decryption && encryption <= latestVersion))
        assert.ok(after.autoRotatePeriodSeconds === 0 || after.autoRotatePeriodSeconds >= 3600)
        header = after
      } catch (cause) {
        assert.ok(cause instanceof Refusal, String(cause))
        assert.deepEqual(header, before)
      }
    }
  })
  fc.assert(keepsRules, { seed: testSeed(t) })
})
