import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { HASH_NAMES, namedHash } from './named-hash.ts'

// FIPS 180-4 and FIPS 202, examples of NIST: the message "abc".
const OF_ABC: Readonly<Record<string, string>> = {
  'sha2-224': '23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7',
  'sha2-256': 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  'sha2-384': 'cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7',
  'sha2-512':
    'ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a' +
    '2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f',
  'sha3-224': 'e642824c3f8cf24ad09234ee7d3c766fc9a3a5168d0c94ad73b46fdf',
  'sha3-256': '3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532',
  'sha3-384': 'ec01498288516fc926459f58e2c6ad8df9b473cb0fc08c2596da7cf0e49be4b298d88cea927ac7f539f1edf228376d25',
  'sha3-512':
    'b751850b1a57168a5693cd924b6b096e08f621827444f70d884f5d0240d2712e' +
    '10e116e9192af3c91a7ec57647e3934057340b4cf408d5a56592f8274eec53f0',
}

for (const name of HASH_NAMES) {
  test(`NIST example for ${name}: the hash of abc`, () => {
    assert.equal(namedHash(name, Buffer.from('abc'))?.toString('hex'), OF_ABC[name])
  })
}

test('every example has its hash, and no other name has one', () => {
  assert.deepEqual(HASH_NAMES, Object.keys(OF_ABC))
  for (const name of ['sha1', 'md5', 'none', '', 'sha256', 'constructor', '__proto__', 'SHA2-256'])
    assert.equal(namedHash(name, Buffer.from('abc')), undefined, name)
})
