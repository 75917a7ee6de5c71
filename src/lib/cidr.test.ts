import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { areWithin, CidrError, intersectCidrs, isInCidrs, normalizeCidr } from './cidr.ts'

test('a block is read back as it was meant, a single host without its length', () => {
  assert.deepEqual(['10.0.0.0/8', '127.0.0.1/32', ' 2001:DB8::/32', '::1/128', '10.1.2.3'].map(normalizeCidr), [
    '10.0.0.0/8',
    '127.0.0.1',
    '2001:db8::/32',
    '::1',
    '10.1.2.3',
  ])
})

test('what is no block is refused', () => {
  for (const text of [
    '',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/08',
    '10.0.0',
    'host',
    '::1/129',
    '10.0.0.0/',
    '1/8/8',
  ])
    assert.throws(() => normalizeCidr(text), CidrError, text)
})

test('an address lies in a block of its own family, however the socket writes it', () => {
  assert.equal(isInCidrs('10.200.0.1', ['10.0.0.0/8']), true)
  assert.equal(isInCidrs('11.0.0.1', ['10.0.0.0/8']), false)
  assert.equal(isInCidrs('::ffff:10.0.0.1', ['10.0.0.1']), true)
  assert.equal(isInCidrs('2001:db8::7', ['10.0.0.0/8', '2001:db8::/32']), true)
  assert.equal(isInCidrs('::1', ['0.0.0.0/0']), false)
  assert.equal(isInCidrs('', ['0.0.0.0/0']), false)
  assert.equal(isInCidrs('anything', []), true)
})

test('of two lists what lies in both is left', () => {
  assert.deepEqual(intersectCidrs(['10.0.0.0/8', '2001:db8::/32'], ['10.1.0.0/16', '2001:db8::7']), [
    '10.1.0.0/16',
    '2001:db8::7',
  ])
  assert.deepEqual(intersectCidrs(['10.1.2.3'], ['0.0.0.0/0', '10.0.0.0/8']), ['10.1.2.3'])
  assert.deepEqual(intersectCidrs(['10.0.0.0/8'], ['11.0.0.0/8', '::/0']), [])
  assert.equal(areWithin(['10.0.0.0/8'], ['10.0.0.0/8']), true)
  assert.equal(areWithin(['10.0.0.0/7'], ['10.0.0.0/8']), false)
})

test('H-02: a long list gives the answers of a short one', () => {
  const blocks = ['10.0.0.0/8', '10.1.2.3', '::/0', '2001:db8::/32', '::ffff:10.0.0.0/104', '0.0.0.0/0', 'fe80::/10']
  const more = ['128.0.0.0/1', '2001:db8:0:1::/64', '::ffff:0:0/96', '1.2.3.4/31', '2001:db8::1.2.3.4/120', '::1']
  const addresses = ['10.1.2.3', '11.0.0.1', '::ffff:10.1.2.3', '::1', '2001:db8::7', '2001:db8:0:1:2:3:4:5', '1.2.3.5']
  const odd = ['0:0:0:0:0:ffff:10.1.2.3', '::ffff:a01:203', '2001:db8::102:377', '2001:DB8::7', 'fe80::1%eth0', '', 'x']
  for (const block of [...blocks, ...more])
    for (const address of [...addresses, ...odd]) {
      const short = isInCidrs(address, [block])
      assert.equal(isInCidrs(address, [...Array<string>(99).fill('192.0.2.0/24'), block]), short, `${address} ${block}`)
    }
  const hosts = Array.from({ length: 1_000 }, (_, at) => `10.1.${at >> 8}.${at & 255}`)
  assert.deepEqual(intersectCidrs(hosts, hosts.toReversed()), hosts)
  assert.deepEqual(intersectCidrs(hosts, ['10.1.1.0/24', '10.2.0.0/16']).length, 256)
  assert.deepEqual(
    [areWithin(hosts, ['10.1.0.0/16']), areWithin([...hosts, '10.2.0.1'], ['10.1.0.0/16'])],
    [true, false],
  )
})
