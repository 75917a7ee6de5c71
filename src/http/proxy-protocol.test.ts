import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pseudoRandom } from '../../test/fixtures/pseudo-random.ts'
import { readProxyHeader } from './proxy-protocol.ts'

const REST = 'GET / HTTP/1.1\r\n'
const line = (text: string) => readProxyHeader(Buffer.from(text, 'latin1'))

const READ = [
  { text: 'PROXY TCP4 203.0.113.7 192.0.2.1 51034 8200\r\n', address: '203.0.113.7' },
  { text: 'PROXY TCP4 255.255.255.255 0.0.0.0 65535 0\r\n', address: '255.255.255.255' },
  { text: 'PROXY TCP6 2001:db8::1 ::1 1 2\r\n', address: '2001:db8::1' },
  { text: 'PROXY TCP6 ::ffff:203.0.113.7 ::1 1 2\r\n', address: '203.0.113.7' },
  { text: 'PROXY UNKNOWN\r\n', address: undefined },
  { text: `PROXY UNKNOWN ${'f'.repeat(91)}\r\n`, address: undefined },
]

for (const { text, address } of READ) {
  test(`H-10: ${JSON.stringify(text.slice(0, 60))} is read, whatever follows and however it comes`, () => {
    assert.deepEqual(line(text + REST), { kind: 'read', length: text.length, address })
    for (let end = 0; end < text.length; end++) assert.deepEqual(line(text.slice(0, end)), { kind: 'incomplete' })
  })
}

const MALFORMED = [
  'GET / HTTP/1.1\r\n',
  'proxy TCP4 203.0.113.7 192.0.2.1 1 2\r\n',
  'PROXY  TCP4 203.0.113.7 192.0.2.1 1 2\r\n',
  'PROXY TCP5 203.0.113.7 192.0.2.1 1 2\r\n',
  'PROXY\r\n',
  'PROXY \r\n',
  'PROXY TCP4 203.0.113.7 192.0.2.1 1\r\n',
  'PROXY TCP4 203.0.113.7 192.0.2.1 1 2 3\r\n',
  'PROXY TCP4 203.0.113.7 192.0.2.1 1 2 \r\n',
  'PROXY TCP4 203.0.113.7 192.0.2.1 01 2\r\n',
  'PROXY TCP4 203.0.113.7 192.0.2.1 1 65536\r\n',
  'PROXY TCP4 203.0.113.7 192.0.2.1 1 -2\r\n',
  'PROXY TCP4 203.0.113.7 192.0.2.1 1 1e3\r\n',
  'PROXY TCP4 203.0.113 192.0.2.1 1 2\r\n',
  'PROXY TCP4 203.0.113.07 192.0.2.1 1 2\r\n',
  'PROXY TCP4 2001:db8::1 ::1 1 2\r\n',
  'PROXY TCP6 203.0.113.7 192.0.2.1 1 2\r\n',
  'PROXY TCP6 fe80::1%eth0 ::1 1 2\r\n',
  'PROXY TCP6 ::ffff:cb00:7107 ::1 1 2\r\n',
  'PROXY TCP4 203.0.113.7 192.0.2.1 1 2\n',
  `PROXY UNKNOWN ${'f'.repeat(92)}\r\n`,
]

for (const text of MALFORMED) {
  test(`H-10: ${JSON.stringify(text.slice(0, 50))} is no header of a proxy`, () => {
    const long = text.endsWith('\r\n') ? text : text + 'x'.repeat(200)
    assert.deepEqual(line(long), { kind: 'malformed' })
  })
}

const SIGNATURE = '\r\n\r\n\0\r\nQUIT\n'

function binary(command: number, family: number, body: Buffer, length = body.length): Buffer {
  const head = Buffer.alloc(16)
  head.write(SIGNATURE, 'latin1')
  head.set([command, family, length >> 8, length & 0xff], 12)
  return Buffer.concat([head, body])
}

const IPV4 = Buffer.from([203, 0, 113, 7, 192, 0, 2, 1, 0, 1, 0, 2])
const IPV6 = Buffer.concat([
  Buffer.from('20010db8000000000000000000000001', 'hex'),
  Buffer.from('00000000000000000000000000000001', 'hex'),
  Buffer.from([0, 1, 0, 2]),
])
const MAPPED = Buffer.concat([Buffer.from('00000000000000000000ffffcb007107', 'hex'), IPV6.subarray(16)])

const BINARY = [
  { name: 'IPv4', bytes: binary(0x21, 0x11, IPV4), address: '203.0.113.7' },
  {
    name: 'IPv4 with more values',
    bytes: binary(0x21, 0x11, Buffer.concat([IPV4, Buffer.alloc(50)])),
    address: '203.0.113.7',
  },
  { name: 'IPv6', bytes: binary(0x21, 0x21, IPV6), address: '2001:db8:0:0:0:0:0:1' },
  { name: 'IPv4 in the form of IPv6', bytes: binary(0x21, 0x21, MAPPED), address: '203.0.113.7' },
  { name: 'the proxy itself', bytes: binary(0x20, 0x00, Buffer.alloc(0)), address: undefined },
]

for (const { name, bytes, address } of BINARY) {
  test(`H-10: the second version of the header is read: ${name}`, () => {
    const read = readProxyHeader(Buffer.concat([bytes, Buffer.from(REST)]))
    assert.deepEqual(read, { kind: 'read', length: bytes.length, address })
    for (let end = 0; end < bytes.length; end++)
      assert.deepEqual(readProxyHeader(bytes.subarray(0, end)), { kind: 'incomplete' })
  })
}

const BAD_BINARY = [
  { name: 'another version', bytes: binary(0x11, 0x11, IPV4) },
  { name: 'another command', bytes: binary(0x22, 0x11, IPV4) },
  { name: 'datagrams', bytes: binary(0x21, 0x12, IPV4) },
  { name: 'a Unix socket', bytes: binary(0x21, 0x31, Buffer.alloc(216)) },
  { name: 'no family', bytes: binary(0x21, 0x00, Buffer.alloc(0)) },
  { name: 'too short', bytes: binary(0x21, 0x21, IPV4) },
  { name: 'too long', bytes: binary(0x21, 0x11, Buffer.alloc(1_009)) },
  { name: 'another signature', bytes: Buffer.from('\r\n\r\n\0\r\nEXIT\n!\u0011\0\0', 'latin1') },
]

for (const { name, bytes } of BAD_BINARY) {
  test(`H-10: the second version is refused with ${name}`, () => {
    assert.deepEqual(readProxyHeader(bytes), { kind: 'malformed' })
  })
}

test('H-10: whatever comes first on a connection is decided within 1,024 bytes', () => {
  const random = pseudoRandom(7)
  for (let i = 0; i < 2_000; i++) {
    const start = Buffer.from(['', 'PROXY ', 'PROXY TCP4 ', SIGNATURE, '\r\n'][i % 5] as string, 'latin1')
    const noise = Buffer.from(Array.from({ length: 1_024 }, () => random.int(256)))
    const { kind } = readProxyHeader(Buffer.concat([start, noise]))
    assert.notEqual(kind, 'incomplete', `case ${i}`)
  }
})
