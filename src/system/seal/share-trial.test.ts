import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { AuthenticationFailed } from '../../crypto/primitives/aead.ts'
import { realWorld } from '../../lib/world.ts'
import { splitKey } from './key-shares.ts'
import { requireGoodShares } from './share-trial.ts'

const { random } = realWorld()
const key = random.bytes(32)

test('S-04 shares that open with as few as the threshold says are handed out', () => {
  for (const config of [
    { shares: 1, threshold: 1 },
    { shares: 5, threshold: 2 },
    { shares: 5, threshold: 3 },
    { shares: 5, threshold: 5 },
  ])
    requireGoodShares({ shares: splitKey(key, config, random), config, key }, random)
})

test('S-04 shares of which more are needed than the threshold says are not handed out', () => {
  const config = { shares: 5, threshold: 2 }
  const shares = splitKey(key, { shares: 5, threshold: 3 }, random)
  assert.throws(() => requireGoodShares({ shares, config, key }, random), AuthenticationFailed)
})

test('S-04 one bad share anywhere is noticed', () => {
  const config = { shares: 5, threshold: 2 }
  for (let bad = 0; bad < config.shares; bad++) {
    const shares = splitKey(key, config, random).map((share, at) => {
      const copy = Buffer.from(share)
      if (at === bad) copy.writeUInt8((copy.readUInt8(0) ^ 1) & 0xff, 0)
      return copy
    })
    assert.throws(() => requireGoodShares({ shares, config, key }, random), AuthenticationFailed, `share ${bad}`)
  }
})
