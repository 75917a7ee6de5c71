import assert from 'node:assert/strict'
import { test } from 'node:test'
import { networkOf } from './network.ts'

const CASES = [
  { address: '192.0.2.7', network: '192.0.2.7' },
  { address: '::ffff:192.0.2.7', network: '192.0.2.7' },
  { address: '::FFFF:192.0.2.7', network: '192.0.2.7' },
  { address: '::1', network: '0:0:0:0::/64' },
  { address: '2001:db8:0:1::7', network: '2001:db8:0:1::/64' },
  { address: '2001:DB8:0:1:ffff:ffff:ffff:ffff', network: '2001:db8:0:1::/64' },
  { address: '2001:0db8:0000:0001:0:0:0:1', network: '2001:db8:0:1::/64' },
  { address: '2001:db8::1:2:3:4:5', network: '2001:db8:0:1::/64' },
  { address: 'fe80::1%eth0', network: 'fe80:0:0:0::/64' },
  { address: '64:ff9b::192.0.2.7', network: '64:ff9b:0:0::/64' },
  { address: '1:2:3:4:5:6:192.0.2.7', network: '1:2:3:4::/64' },
  { address: '', network: '' },
  { address: 'unix', network: 'unix' },
]

for (const { address, network } of CASES) {
  test(`the network of "${address}" is "${network}"`, () => assert.equal(networkOf(address), network))
}
