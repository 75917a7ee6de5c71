// What every key type promises whose keys are for MACs alone.
import assert from 'node:assert/strict'
import { type KeyObject, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import type { KeyType } from '../../src/crypto/key-types/key-type.ts'
import { HMAC_HASH_NAMES, namedHmac } from '../../src/crypto/primitives/named-hmac.ts'
import { inlineWork } from '../../src/lib/slow-work.ts'
import { realWorld } from '../../src/lib/world.ts'
import type { MacVector } from '../fixtures/vectors.ts'

const fromHex = (hex: string): Buffer => Buffer.from(hex, 'hex')
const slow = inlineWork(realWorld())

export function macConformance(type: KeyType, vectors: readonly MacVector[]): void {
  const compute = macOf(type)
  if (compute === undefined) return

  for (const { name, key, input, hash, mac } of vectors) {
    test(`${type.name}: official vector, ${name}`, () => {
      assert.equal(compute(type.load(fromHex(key)), fromHex(input), hash).toString('hex'), mac)
    })
  }

  test(`${type.name}: keys of the least, the usual and the greatest length give different MACs`, async () => {
    const { min, usual, max } = type.sizes ?? { min: undefined, usual: undefined, max: undefined }
    const macs = new Set<string>()
    for (const bytes of [min, usual, max]) {
      const material = await type.generate((count) => randomBytes(count), slow, bytes)
      if (bytes !== undefined) assert.equal(material.length, bytes)
      macs.add(compute(type.load(material), Buffer.from('the quick brown fox')).toString('hex'))
    }
    assert.equal(macs.size, 3)
  })
}

function macOf({ cmac, isHmacKey }: KeyType) {
  if (cmac !== undefined) return (key: KeyObject, input: Buffer) => cmac(key, input)
  if (isHmacKey === undefined) return undefined
  return (key: KeyObject, input: Buffer, hash = 'sha2-256') => {
    assert.ok(HMAC_HASH_NAMES.includes(hash), hash)
    return namedHmac(hash, key, input) ?? assert.fail()
  }
}
