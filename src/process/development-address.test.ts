import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { parseConfig, settle } from '../config/config.ts'
import { withDevelopmentAddress } from './development-address.ts'

const addressesOf = (text: string): readonly (string | number | undefined)[] => {
  const config = settle(withDevelopmentAddress(parseConfig(text, { isPlainAllowed: true })))
  const { apiAddress, clusterAddress, listeners } = config
  return [apiAddress, clusterAddress, listeners[0]?.clusterAddress?.port]
}

test('a development server tells others where its listener is, and where its cluster port is', () => {
  assert.deepEqual(addressesOf(''), ['http://127.0.0.1:8200', 'https://127.0.0.1:8201', 8_201])
  const listener = (keys: string): string => `listener "tcp" {\n ${keys}\n}`
  assert.deepEqual(addressesOf(listener('address = "127.0.0.1:8210"')), [
    'http://127.0.0.1:8210',
    'https://127.0.0.1:8211',
    8_211,
  ])
  const tls = 'address = "[::1]:8210"\n tls_cert_file = "c"\n tls_key_file = "k"\n cluster_address = "[::1]:9000"'
  assert.deepEqual(addressesOf(listener(tls)), ['https://[::1]:8210', 'https://[::1]:9000', 9_000])
})

test('a development server keeps the addresses that it is given, and tells none that it cannot know', () => {
  assert.deepEqual(addressesOf('api_addr = "http://a:1"\ncluster_addr = "https://c:2"'), [
    'http://a:1',
    'https://c:2',
    8_201,
  ])
  assert.deepEqual(addressesOf('listener "tcp" { address = "127.0.0.1:0" }'), ['', '', 0])
  assert.deepEqual(addressesOf('listener "unix" { address = "/s" }'), ['', '', undefined])
})
