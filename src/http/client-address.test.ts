import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '../api/errors.ts'
import { type ForwardedRules, forwardedAddress } from './client-address.ts'

const RULES: ForwardedRules = {
  authorized: ['10.0.0.0/8', '::1'],
  hopSkips: 0,
  rejectNotPresent: true,
  rejectNotAuthorized: true,
}
const PROXY = '10.1.2.3'
const STRANGER = '203.0.113.9'

const TAKEN = [
  { name: 'the only entry', header: '203.0.113.7', is: '203.0.113.7' },
  { name: 'the last entry, not what a client wrote before it', header: '198.51.100.1, 203.0.113.7', is: '203.0.113.7' },
  { name: 'no heed of garbage to the left', header: 'garbage,,::zz, 203.0.113.7', is: '203.0.113.7' },
  { name: 'IPv6', header: '2001:db8::1', is: '2001:db8::1' },
  { name: 'blanks around it', header: ' a ,\t203.0.113.7 ', is: '203.0.113.7' },
  { name: 'the entry before those that are skipped', header: '1.1.1.1, 2.2.2.2, 3.3.3.3', hopSkips: 1, is: '2.2.2.2' },
  { name: 'the first where all others are skipped', header: '1.1.1.1, 2.2.2.2, 3.3.3.3', hopSkips: 2, is: '1.1.1.1' },
]

for (const { name, header, hopSkips = 0, is } of TAKEN) {
  test(`H-10: X-Forwarded-For gives ${name}`, () => {
    assert.equal(forwardedAddress({ ...RULES, hopSkips })(PROXY, header), is)
    assert.equal(forwardedAddress({ ...RULES, hopSkips })(`::ffff:${PROXY}`, header), is)
  })
}

test('H-10: without the header, or from elsewhere, the other end counts where the rules allow it', () => {
  const lenient = { ...RULES, rejectNotPresent: false, rejectNotAuthorized: false }
  assert.equal(forwardedAddress(lenient)(PROXY, undefined), PROXY)
  assert.equal(forwardedAddress(lenient)(STRANGER, undefined), STRANGER)
  assert.equal(forwardedAddress(lenient)(STRANGER, '127.0.0.1'), STRANGER)
})

const REFUSED = [
  { name: 'missing', from: PROXY, header: undefined },
  { name: 'empty', from: PROXY, header: '' },
  { name: 'sent by a stranger', from: STRANGER, header: '127.0.0.1' },
  { name: 'sent over a Unix socket', from: '', header: '127.0.0.1' },
  { name: 'with a port', from: PROXY, header: '203.0.113.7:80' },
  { name: 'with IPv6 in brackets', from: PROXY, header: '[2001:db8::1]' },
  { name: 'with a zone', from: PROXY, header: 'fe80::1%eth0' },
  { name: 'with IPv4 in the form of IPv6', from: PROXY, header: '::ffff:203.0.113.7' },
  { name: 'with IPv4 in the form of IPv6, in digits', from: PROXY, header: '::FFFF:cb00:7107' },
  { name: 'with a name', from: PROXY, header: 'localhost' },
  { name: 'with leading zeros', from: PROXY, header: '203.0.113.07' },
  { name: 'with nothing at its end', from: PROXY, header: '203.0.113.7,' },
  { name: 'with garbage in what is skipped', from: PROXY, header: '203.0.113.7, garbage', hopSkips: 1 },
  { name: 'with fewer entries than are skipped', from: PROXY, header: '203.0.113.7', hopSkips: 1 },
]

for (const { name, from, header, hopSkips = 0 } of REFUSED) {
  test(`H-10, H-05: X-Forwarded-For ${name} is a 400 that tells no address`, () => {
    assert.throws(
      () => forwardedAddress({ ...RULES, hopSkips })(from, header),
      (cause) => cause instanceof Refusal && cause.status === 400 && !/\d/.test(cause.message),
    )
  })
}
