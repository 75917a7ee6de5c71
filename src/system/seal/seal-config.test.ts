import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { MAX_SHARES } from '../../crypto/primitives/shamir.ts'
import { StorageCorrupt } from '../../storage/errors.ts'
import { decodeSealConfig, encodeSealConfig, type SealConfig } from './seal-config.ts'

const ID = '0d3f9b64-2a55-4c1c-9d0e-6f1f6d2b7a10'
const good: readonly SealConfig[] = [
  { shares: 1, threshold: 1, id: '' },
  { shares: MAX_SHARES, threshold: MAX_SHARES, id: ID },
  { shares: 3, threshold: 2, keyId: 'a', id: ID },
  { shares: 1, threshold: 1, keyId: '', id: ID },
]
for (const config of good) {
  test(`the seal configuration ${JSON.stringify(config)} is read as it was written`, () => {
    assert.deepEqual(decodeSealConfig(encodeSealConfig(config)), config)
  })
}

test('S9: shares of a store that was not rekeyed have no id', () => {
  const { id } = decodeSealConfig(Buffer.from('{"format":1,"type":"shamir","shares":3,"threshold":2}'))
  assert.equal(id, '')
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
  { ...SHAMIR, id: 2 },
  { ...SHAMIR, id: '' },
  { ...SHAMIR, id: `${ID}0` },
  { ...SHAMIR, id: 'é'.repeat(36) },
  [SHAMIR],
  null,
]
for (const text of [...bad.map((value) => JSON.stringify(value)), '{', '']) {
  test(`the seal configuration ${text} is refused as damaged`, () => {
    assert.throws(() => decodeSealConfig(Buffer.from(text)), StorageCorrupt)
  })
}
