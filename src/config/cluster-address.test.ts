import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { clusterListenAddresses, defaultClusterAddr } from './cluster-address.ts'
import { parseConfig, settle } from './config.ts'

const settled = (text: string) => settle(parseConfig(text, { isPlainAllowed: true }))
const tcp = (address: string, clusterAddress?: string): string =>
  `listener "tcp" {\n address = "${address}"\n tls_disable = true\n ${
    clusterAddress === undefined ? '' : `cluster_address = "${clusterAddress}"`
  }\n}\n`

/** Where the cluster ports of these listeners are, each as text. */
const opened = (text: string): readonly string[] =>
  clusterListenAddresses(settled(text).listeners).map(({ host, port }) => `${host} ${port}`)

const OPENED: readonly (readonly [string, string, readonly string[]])[] = [
  ['the host of the listener and the next port', tcp('10.0.0.1:8200'), ['10.0.0.1 8201']],
  ['no listener at all', '', ['127.0.0.1 8201']],
  ['any free port if the listener has one', tcp('127.0.0.1:0'), ['127.0.0.1 0']],
  ['one free port for several such listeners', tcp('127.0.0.1:0') + tcp('127.0.0.1:0'), ['127.0.0.1 0']],
  ['IPv6', tcp('[2001:db8::1]:8200'), ['2001:db8::1 8201']],
  ['what is set', tcp('127.0.0.1:8200', '[::1]:9000'), ['::1 9000']],
  ['what is set for the last port', tcp('127.0.0.1:65535', '127.0.0.1:1'), ['127.0.0.1 1']],
  ['one address of two listeners', tcp('10.0.0.1:1', '10.0.0.1:9') + tcp('10.0.0.1:2', '10.0.0.1:9'), ['10.0.0.1 9']],
  ['each of two listeners', tcp('10.0.0.1:8200') + tcp('10.0.0.2:8200'), ['10.0.0.1 8201', '10.0.0.2 8201']],
  ['two listeners on neighbouring ports', tcp('10.0.0.1:8200') + tcp('10.0.0.1:8201'), ['10.0.0.1 8202']],
  ['a neighbour that listens everywhere', tcp('10.0.0.1:8200') + tcp('0.0.0.0:8201'), ['0.0.0.0 8202']],
  ['a neighbour that is part of everywhere', tcp('[::]:8200') + tcp('10.0.0.1:8201'), ['10.0.0.1 8202']],
  ['what includes the others', tcp('10.0.0.1:1', '10.0.0.1:9') + tcp('10.0.0.1:2', '0.0.0.0:9'), ['0.0.0.0 9']],
  ['no other family of addresses', tcp('[::1]:1', '[::1]:9') + tcp('10.0.0.1:2', '0.0.0.0:9'), ['::1 9', '0.0.0.0 9']],
  ['nothing for a Unix socket', 'listener "unix" { address = "/s" }', []],
  ['nothing without replication', 'replication { enabled = false }', []],
  ['nothing for the last port without replication', `${tcp('127.0.0.1:65535')}replication { enabled = false }`, []],
]

for (const [name, text, wanted] of OPENED) {
  test(`the cluster port is ${name}`, () => assert.deepEqual(opened(text), wanted))
}

test('a cluster address that cannot be is refused, with what to do', () => {
  const refuses = (text: string, says: RegExp) => assert.throws(() => settled(text), says)
  refuses(tcp('127.0.0.1:65535'), /127\.0\.0\.1:65535 has no next port for clusters: set "cluster_address"/)
  refuses(tcp('127.0.0.1:8200', '127.0.0.1:8200'), /"cluster_address" 127\.0\.0\.1:8200 .*: give it another port/)
  refuses(tcp('10.0.0.1:1') + tcp('10.0.0.1:2', '10.0.0.1:1'), /the listener 10\.0\.0\.1:1 answers requests/)
  refuses(tcp('10.0.0.1:8200', '0.0.0.0:8200'), /"cluster_address" 0\.0\.0\.0:8200 is where the listener/)
  refuses(tcp('127.0.0.1:8200', 'a'), /line 1: The address "a" is not of the form/)
  refuses('listener "unix" {\n address = "/s"\n cluster_address = "a:1"\n}', /unknown key "cluster_address"/)
})

const TOLD: readonly (readonly [string, string, string])[] = [
  ['what is set', 'cluster_addr = "https://c.example:1"', 'https://c.example:1'],
  ['the host of api_addr', `api_addr = "http://a.example/path"\n${tcp('0.0.0.0:8200')}`, 'https://a.example:8201'],
  ['api_addr in IPv6', `api_addr = "https://[2001:db8::1]:8200"\n${tcp('[::]:8200')}`, 'https://[2001:db8::1]:8201'],
  ['the host that it listens on', tcp('10.0.0.1:8200', '10.0.0.1:9000'), 'https://10.0.0.1:9000'],
  ['the host in IPv6', tcp('[2001:db8::1]:8200'), 'https://[2001:db8::1]:8201'],
  ['the first cluster port', `listener "unix" { address = "/s" }\n${tcp('10.0.0.1:1')}`, 'https://10.0.0.1:2'],
  ['nothing for a host that is all of them', tcp('0.0.0.0:8200'), ''],
  ['nothing for all of IPv6', tcp('[::]:8200'), ''],
  ['nothing for a port that is not known yet', `api_addr = "https://a.example"\n${tcp('127.0.0.1:0')}`, ''],
  ['nothing without a cluster port', 'api_addr = "https://a.example"\nreplication { enabled = false }', ''],
]

for (const [name, text, wanted] of TOLD) {
  test(`other clusters are told ${name}`, () => assert.equal(settled(text).clusterAddress, wanted))
}

test('a cluster port that was free is told when it is known', () => {
  assert.equal(defaultClusterAddr(settled(tcp('127.0.0.1:0')), 4_711), 'https://127.0.0.1:4711')
  assert.equal(defaultClusterAddr(settled(tcp('127.0.0.1:8200')), 4_711), 'https://127.0.0.1:8201')
  assert.equal(defaultClusterAddr(settled(tcp('0.0.0.0:0')), 4_711), '')
})

const REFUSED: readonly (readonly [string, RegExp])[] = [
  ['http://a:1', /"cluster_addr" must be an address such as https:\S+: the cluster port speaks TLS alone, not http/],
  ['a:1', /this is no address that begins with https:/],
  ['https://a', /this has no port: https:\/\/host:port/],
  ['https://a:1/path', /this has a path/],
  ['https://a:65536', /this has a host or a port that cannot be/],
]

for (const [text, says] of REFUSED) {
  test(`cluster_addr is not ${text}`, () => assert.throws(() => settled(`cluster_addr = "${text}"`), says))
}
