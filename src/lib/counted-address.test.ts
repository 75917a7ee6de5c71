import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countedAddress } from './counted-address.ts'

test('addresses of one network of IPv6 are one', () => {
  const same = [
    '2001:db8::1',
    '2001:DB8:0:0:1:2:3:4',
    '2001:0db8::ffff:0:0:1',
    '2001:db8::10.0.0.1',
    '2001:db8::1%eth0',
  ]
  assert.deepEqual([...new Set(same.map(countedAddress))], ['2001:db8:0:0::/64'])
  assert.deepEqual(['::1', 'fe80::1', '2001:db8:0:1::1', '::'].map(countedAddress), [
    '0:0:0:0::/64',
    'fe80:0:0:0::/64',
    '2001:db8:0:1::/64',
    '0:0:0:0::/64',
  ])
  assert.deepEqual(['10.0.0.1', '::ffff:10.0.0.1', ''].map(countedAddress), ['10.0.0.1', '10.0.0.1', ''])
})
