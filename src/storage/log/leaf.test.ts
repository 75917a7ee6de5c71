import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import { test } from 'node:test'
import { importSecret } from '../../crypto/primitives/secret-key.ts'
import { leafOf } from './leaf.ts'

const keyBytes = Buffer.alloc(32, 9)
const leafKey = importSecret(keyBytes)
const value = Buffer.from('value')

test('a leaf is the MAC that its definition says', () => {
  const element = Buffer.concat([
    Buffer.from([1, 0, 6]),
    Buffer.from('system'),
    Buffer.from([0, 18]),
    Buffer.from('root/sys/policy/é'),
    createHash('sha256').update(value).digest(),
  ])
  const expected = createHmac('sha256', keyBytes).update(element).digest().subarray(0, 16)
  assert.deepEqual(leafOf(leafKey, 'replicated', 'system', 'root/sys/policy/é', value), expected)
})

test('class, mount, key and value each change the leaf, and nothing can move between them', () => {
  const leaves = [
    leafOf(leafKey, 'replicated', 'ab', 'c/d', value),
    leafOf(leafKey, 'local', 'ab', 'c/d', value),
    leafOf(leafKey, 'replicated', 'a', 'bc/d', value),
    leafOf(leafKey, 'replicated', 'ab', 'c/e', value),
    leafOf(leafKey, 'replicated', 'ab', 'c/d', Buffer.from('other')),
    leafOf(importSecret(Buffer.alloc(32, 8)), 'replicated', 'ab', 'c/d', value),
  ]
  assert.equal(new Set(leaves.map((leaf) => leaf.toString('hex'))).size, leaves.length)
})
