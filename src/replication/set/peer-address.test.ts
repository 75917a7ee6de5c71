import assert from 'node:assert/strict'
import { test } from 'node:test'
import { faultOfApiAddress, faultOfClusterAddress, linkAddressOf, MAX_ADDRESS_CHARACTERS } from './peer-address.ts'

const CLUSTERS = [
  'https://a:8201',
  'https://a.example.org:1/',
  'https://10.0.0.1:65535',
  'https://[::1]:8201',
  'https://A_b-1:443',
]

test('addresses of cluster ports have a scheme, a host and a port, and nothing else', () => {
  for (const address of CLUSTERS) assert.equal(faultOfClusterAddress(address), undefined, address)
  const bad: readonly (readonly [RegExp, string])[] = [
    [/begins with https/, ''],
    [/begins with https/, 'a:8201'],
    [/begins with https/, 'http://a:8201'],
    [/begins with https/, 'HTTPS://a:8201'],
    [/begins with https/, 'https:a:8201'],
    [/begins with https/, 'https:/a:8201'],
    [/begins with https/, ' https://a:8201'],
    [/begins with https/, 'https://a b:8201'],
    [/begins with https/, 'https://ä:8201'],
    [/begins with https/, 'https://a:8201\n'],
    [/no port/, 'https://a'],
    [/no port/, 'https://[::1]'],
    [/no port/, 'https://[::1]/'],
    [/more than a host/, 'https:///a:8201'],
    [/has a path/, 'https://a:8201/v1'],
    [/has a path/, 'https://a:8201//'],
    [/more than a host/, 'https://a:8201?'],
    [/more than a host/, 'https://a#:8201'],
    [/more than a host/, 'https://u:p@a:8201'],
    [/more than a host/, 'https://a\\b:8201'],
    [/cannot be/, 'https://a:65536'],
    [/cannot be/, 'https://[::g]:1'],
    [/cannot be/, 'https://a:b:1'],
    [/cannot be/, 'https://1.2.3.256:1'],
    [/300 characters/, `https://${'a'.repeat(MAX_ADDRESS_CHARACTERS - 12)}:8201`],
  ]
  for (const [fault, address] of bad) assert.match(faultOfClusterAddress(address) ?? 'taken', fault, address)
})

test('addresses of an API may be in clear, without a port, and with a path', () => {
  for (const address of [...CLUSTERS, 'http://a', 'https://a/', 'http://[::1]', 'https://lb/keys/', 'http://a:1/b'])
    assert.equal(faultOfApiAddress(address), undefined, address)
  for (const address of ['', 'ftp://a', 'https://', 'http://a/v1?', 'http:///a', 'http://u@a/b', 'unix:///a'])
    assert.match(faultOfApiAddress(address) ?? 'taken', /address|host/, address)
})

test('a link is dialed at the host and the port of an address', () => {
  assert.deepEqual(linkAddressOf('https://a.example:8201'), { host: 'a.example', port: 8_201 })
  assert.deepEqual(linkAddressOf('https://[2001:db8::1]:8201/'), { host: '2001:db8::1', port: 8_201 })
  assert.deepEqual(linkAddressOf('https://a:443'), { host: 'a', port: 443 })
  assert.equal(linkAddressOf('https://a'), undefined)
})
