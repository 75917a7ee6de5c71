import assert from 'node:assert/strict'
import { test } from 'node:test'
import { leaseIdOf, tokenOfLeaf, tokenOfLease } from './token-keys.ts'

const ID = '0123456789abcdef'.repeat(4)
const ENDS = { atMs: 1 }

test('a lease names its token, also where the path is that of a list, or the namespace another one', () => {
  for (const path of ['auth/userpass/login/bob', 'auth/token/accessors/', 'auth/a.b/login/c.d']) {
    for (const [namespace, ending] of [
      ['root', ''],
      ['a1B2c3', '.a1B2c3'],
    ] as const) {
      const lease = leaseIdOf(ID, { namespace, path, expiry: ENDS })
      assert.equal(lease, `${path.replace(/\/$/, '')}/h${ID}${ending}`)
      assert.equal(tokenOfLease(lease), ID)
    }
  }
})

test('what is no lease id names no token', () => {
  const leaves = ['', ID, `g${ID}`, `H${ID}`, `h${ID.slice(1)}`, `h${ID}0`, `h${ID.slice(1)}g`, `h${ID.slice(1)}A`]
  for (const leaf of leaves) {
    assert.equal(tokenOfLeaf(leaf), undefined, leaf)
    assert.equal(tokenOfLease(`auth/userpass/login/bob/${leaf}`), undefined, leaf)
  }
  for (const lease of ['', `h${ID}`, `/h${ID}`]) assert.equal(tokenOfLease(lease), undefined, lease)
})
