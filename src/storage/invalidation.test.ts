import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { Invalidation } from './invalidation.ts'

test('a change reaches every cache whose prefix it has, in any namespace', () => {
  const invalidation = new Invalidation()
  const seen: string[] = []
  invalidation.register({
    prefix: 'sys/policy/',
    changed: (rest) => seen.push(`policy ${rest}`),
    reset: () => seen.push('reset'),
  })
  invalidation.register({
    prefix: 'sys/',
    changed: (rest) => seen.push(`sys ${rest}`),
    reset: () => seen.push('reset'),
  })
  invalidation.changed('root/sys/policy/a')
  invalidation.changed('team/sys/token/id/x')
  invalidation.changed('root/logical/u/key/k')
  assert.deepEqual(seen, ['policy a', 'sys policy/a', 'sys token/id/x'])
  invalidation.reset()
  assert.equal(seen.length, 5)
})
