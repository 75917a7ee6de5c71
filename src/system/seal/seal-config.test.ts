import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { MAX_SHARES } from '../../crypto/primitives/shamir.ts'
import { StorageCorrupt } from '../../storage/errors.ts'
import { decodeSealConfig, encodeSealConfig, type SealConfig } from './seal-config.ts'

const good: readonly SealConfig[] = [
  { shares: 1, threshold: 1, number: 1 },
  { shares: MAX_SHARES, threshold: MAX_SHARES, number: Number.MAX_SAFE_INTEGER },
  { shares: 3, threshold: 2, keyId: 'a', number: 2 },
  { shares: 1, threshold: 1, keyId: '', number: 1 },
]
for (const config of good) {
  test(`the seal configuration ${JSON.stringify(config)} is read as it was written`, () => {
    assert.deepEqual(decodeSealConfig(encodeSealConfig(config)), config)
  })
}

test('S9: a seal configuration from before shares had numbers has the first', () => {
  const { number } = decodeSealConfig(Buffer.from('{"format":1,"type":"shamir","shares":3,"threshold":2}'))
  assert.equal(number, 1)
})

const SHAMIR = { format: 1, type: 'shamir', shares: 3, threshold: 2 }
const bad = [
  { ...SHAMIR, format: 2 },
  { ...SHAMIR, type: 'other' },
  { ...SHAMIR, type: 'static' },
  { ...SHAMIR, type: 'static', keyId: 7 },
  { ...SHAMIR, keyId: 'a' },
  { ...SHAMIR, shares: undefined },
  { ...SHAMIR, threshold: undefined },
  { ...SHAMIR, shares: 2.5 },
  { ...SHAMIR, threshold: 1.5 },
  { ...SHAMIR, threshold: '2' },
  { ...SHAMIR, threshold: 0 },
  { ...SHAMIR, threshold: -1 },
  { ...SHAMIR, threshold: 4 },
  { ...SHAMIR, shares: MAX_SHARES + 1 },
  { ...SHAMIR, number: 0 },
  { ...SHAMIR, number: 1.5 },
  { ...SHAMIR, number: '2' },
  [SHAMIR],
  null,
]
for (const text of [...bad.map((value) => JSON.stringify(value)), '{', '']) {
  test(`the seal configuration ${text} is refused as damaged`, () => {
    assert.throws(() => decodeSealConfig(Buffer.from(text)), StorageCorrupt)
  })
}
