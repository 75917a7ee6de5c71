import { strict as assert } from 'node:assert'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import type { JsonObject } from '../../lib/json.ts'
import { readKeySet } from './key-set.ts'

const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const { n = '', e = '' } = publicKey.export({ format: 'jwk' })
const named = (kid: string): JsonObject => ({ kty: 'RSA', use: 'sig', kid, n, e })

test('a key whose name has more than 256 characters is left out', async () => {
  const longest = 'k'.repeat(256)
  const found = await readKeySet({ keys: [named(longest), named(`${longest}k`)] })
  assert.deepEqual([...(found?.keys() ?? [])], [longest])
})

test('a document in which two keys have one name is not trusted', async () => {
  assert.equal(await readKeySet({ keys: [named('k'), named('k')] }), undefined)
})
