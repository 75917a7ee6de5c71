// What the rooms below throw, as a caller sees it.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { fail } from '../api/errors.ts'
import { Reconsider } from '../api/request.ts'
import {
  Sealed,
  StorageClosed,
  StorageConflict,
  StorageCorrupt,
  StorageFailed,
  StorageFull,
} from '../storage/contract.ts'
import { refusalOf } from './response.ts'

const SECRET = 'a detail that is not for callers'

for (const { name, cause, status, code } of [
  { name: 'a server that is sealed', cause: new Sealed(SECRET), status: 503, code: 'sealed' },
  { name: 'a store that is away for a restore', cause: new StorageClosed(SECRET), status: 503, code: 'sealed' },
  {
    name: 'a request that is to be looked at anew too often',
    cause: new Reconsider(SECRET),
    status: 503,
    code: 'busy',
  },
  { name: 'a transaction that lost', cause: new StorageConflict(SECRET), status: 503, code: 'busy' },
  { name: 'a disk that is full', cause: new StorageFull(SECRET), status: 507, code: 'storage_full' },
  { name: 'storage that failed', cause: new StorageFailed(SECRET), status: 500, code: 'storage_failed' },
]) {
  test(`${name} is a ${status}, without its details`, () => {
    const refusal = refusalOf(cause)
    assert.deepEqual([refusal?.status, refusal?.code], [status, code])
    assert.ok(!String(refusal?.message).includes(SECRET))
    assert.equal(refusal?.cause, cause)
  })
}

test('a refusal passes as it is; what is our own fault is none', () => {
  const refusal = fail('not_found', [])
  assert.equal(refusalOf(refusal), refusal)
  for (const cause of [new Error('x'), new StorageCorrupt('x'), new TypeError('x'), undefined, 'x'])
    assert.equal(refusalOf(cause), undefined)
})
