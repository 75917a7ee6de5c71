import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { CidrError, intersectCidrs, isInCidrs, isWithin, normalizeCidr } from './cidr.ts'

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
  assert.equal(isWithin('10.0.0.0/8', '10.0.0.0/8'), true)
  assert.equal(isWithin('10.0.0.0/7', '10.0.0.0/8'), false)
})
