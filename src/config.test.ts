import { strict as assert } from 'node:assert'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseConfig, readConfigFile, type ServerConfig } from './config.ts'
import { isLoopback, parseAddress } from './config-listener.ts'
import { ConfigError } from './config-values.ts'
import { DEFAULT_LIMITS } from './http/listener.ts'
import { HclError } from './lib/hcl.ts'

const ACCEPTED: readonly {
  readonly name: string
  readonly texts: readonly string[]
  readonly is: Partial<ServerConfig>
}[] = [
  { name: 'nothing', texts: ['', '# a comment\n', '{}'], is: {} },
  {
    name: 'a listener on loopback',
    texts: [
      'listener "tcp" { address = "127.0.0.1:8300" }',
      'listener = { tcp = { address = "127.0.0.1:8300" } }',
      '{"listener": {"tcp": {"address": "127.0.0.1:8300"}}}',
      '{"listener": [{"tcp": {"address": "127.0.0.1:8300"}}]}',
      '{"listener": [{"tcp": [{"address": "127.0.0.1:8300"}]}]}',
    ],
    is: { host: '127.0.0.1', port: 8300, limits: DEFAULT_LIMITS },
  },
  {
    name: 'a listener without an address',
    texts: ['listener "tcp" {}', '{"listener": {"tcp": {}}}'],
    is: { host: '127.0.0.1', port: 8200, limits: DEFAULT_LIMITS },
  },
  {
    name: 'a listener for others, expressly without TLS',
    texts: [
      'listener "tcp" {\n  address = "0.0.0.0:8200"\n  tls_disable = true\n}',
      'listener "tcp" {\n  address = "0.0.0.0:8200"\n  tls_disable = 1\n}',
      'listener "tcp" {\n  address = "0.0.0.0:8200"\n  tls_disable = "true"\n}',
      '{"listener": {"tcp": {"address": "0.0.0.0:8200", "tls_disable": "1"}}}',
    ],
    is: { host: '0.0.0.0', port: 8200, limits: DEFAULT_LIMITS },
  },
  {
    name: 'a static seal',
    texts: [
      'seal "static" {\n  current_key_id = "a"\n  current_key = "file:///k"\n}',
      '{"seal": {"static": {"current_key_id": "a", "current_key": "file:///k"}}}',
    ],
    is: { seal: { keyId: 'a', key: 'file:///k', previous: undefined } },
  },
  {
    name: 'a static seal that is being changed',
    texts: [
      `seal "static" {
         current_key_id = "b"
         current_key = "env://K"
         previous_key_id = "a"
         previous_key = "file:///k"
       }`,
    ],
    is: { seal: { keyId: 'b', key: 'env://K', previous: { keyId: 'a', key: 'file:///k' } } },
  },
  { name: 'shares, expressly', texts: ['seal "shamir" {}'], is: {} },
  {
    name: 'a token asked for where shares are given',
    texts: [
      `listener "tcp" {
         disable_unauthed_generate_root_endpoints = true
         disable_unauthed_rekey_endpoints = false
       }`,
    ],
    is: {
      host: '127.0.0.1',
      port: 8200,
      limits: DEFAULT_LIMITS,
      tokenAskedFor: { generateRoot: true, rekey: false },
    },
  },
  {
    name: 'IPv6 in brackets, any free port',
    texts: ['listener "tcp" { address = "[::1]:0" }'],
    is: { host: '::1', port: 0, limits: DEFAULT_LIMITS },
  },
  {
    name: 'limits of the listener',
    texts: [
      `listener "tcp" {
         max_request_size = 1048576
         http_read_header_timeout = "5s"
         http_read_timeout = 20
         http_idle_timeout = "1m30s"
       }`,
      `{"listener": {"tcp": {"max_request_size": 1048576, "http_read_header_timeout": 5,
         "http_read_timeout": "20", "http_idle_timeout": "90s"}}}`,
    ],
    is: {
      host: '127.0.0.1',
      port: 8200,
      limits: { maxRequestBytes: 1_048_576, readHeaderTimeoutMs: 5_000, readTimeoutMs: 20_000, idleTimeoutMs: 90_000 },
    },
  },
  {
    name: '0 stands for the default of a limit',
    texts: ['listener "tcp" {\n max_request_size = 0\n http_read_timeout = "0"\n}'],
    is: { host: '127.0.0.1', port: 8200, limits: DEFAULT_LIMITS },
  },
  {
    name: 'storage in a directory',
    texts: [
      'storage "sqlite" { path = "/var/lib/keywright" }',
      '{"storage": {"sqlite": {"path": "/var/lib/keywright"}}}',
    ],
    is: { storage: { type: 'sqlite', directory: '/var/lib/keywright' } },
  },
  {
    name: 'how far back the log is kept',
    texts: ['storage "sqlite" {\n path = "d"\n log_retention_bytes = 1048576\n log_retention_time = "90m"\n}'],
    is: { storage: { type: 'sqlite', directory: 'd', retention: { bytes: 1_048_576, ms: 5_400_000 } } },
  },
  {
    name: 'how far back the log is kept, one of the two',
    texts: [
      'storage "sqlite" {\n path = "d"\n log_retention_bytes = 0\n log_retention_time = 60\n}',
      'storage "sqlite" {\n path = "d"\n log_retention_time = 60\n}',
    ],
    is: { storage: { type: 'sqlite', directory: 'd', retention: { bytes: 1_073_741_824, ms: 60_000 } } },
  },
  {
    name: 'storage in memory',
    texts: ['storage "inmem" {}', '{"storage": {"inmem": {}}}', '{"storage": [{"inmem": [{}]}]}'],
    is: { storage: { type: 'inmem' } },
  },
  {
    name: 'names, versions and lifetimes',
    texts: [
      `api_addr = "https://keys.example:8200"
       cluster_name = "north"
       reported_version = "1.18.3"
       default_lease_ttl = "12h"
       max_lease_ttl = 172800
       permission_denied_hints = false
       disable_mlock = true`,
      `{"api_addr": "https://keys.example:8200", "cluster_name": "north", "reported_version": "1.18.3",
        "default_lease_ttl": "12h", "max_lease_ttl": "2d", "permission_denied_hints": "false", "disable_mlock": true}`,
    ],
    is: {
      apiAddress: 'https://keys.example:8200',
      clusterName: 'north',
      reportedVersion: '1.18.3',
      defaultTtlSeconds: 43_200,
      maxTtlSeconds: 172_800,
      permissionHints: false,
    },
  },
  {
    name: 'an edition, and the store entry by entry',
    texts: ['edition = "plus"\nraw_storage_endpoint = true', '{"edition": "plus", "raw_storage_endpoint": "1"}'],
    is: { edition: 'plus', rawStorage: true },
  },
]

for (const { name, texts, is } of ACCEPTED) {
  test(`config takes ${name}`, () => {
    for (const text of texts) assert.deepEqual(parseConfig(text), is, text)
  })
}

const REFUSED: readonly { readonly name: string; readonly text: string; readonly says: RegExp }[] = [
  {
    name: 'an edition that is none',
    text: 'edition = "pro"',
    says: /"edition" must be one of enterprise, plus, community/,
  },
  {
    name: 'a misspelt block, with the near one',
    text: 'lisener "tcp" {}',
    says: /line 1: .*"lisener".*did you mean "listener"\?/,
  },
  { name: 'a misspelt key of JSON', text: '{"api_adr": "x"}', says: /"api_adr".*did you mean "api_addr"\?/ },
  {
    name: 'an unknown key, with what is known',
    text: '\nfrobnicate = 1',
    says: /line 2: .*"frobnicate".*known are threads, listener, storage/,
  },
  {
    name: 'a misspelt key of the listener',
    text: 'listener "tcp" {\n  adress = "127.0.0.1:1"\n}',
    says: /line 2: .*"adress" in listener "tcp", did you mean "address"\?/,
  },
  { name: 'another key of the storage', text: 'storage "sqlite" { file = "x" }', says: /"file" in storage "sqlite"/ },
  { name: 'a key of the storage in memory', text: 'storage "inmem" { path = "x" }', says: /"path" in storage "inmem"/ },
  { name: 'another seal', text: 'seal "awskms" {}', says: /line 1: the seal "awskms" is not offered, use static/ },
  { name: 'another key of the seal', text: 'seal "static" { key = "x" }', says: /"key" in seal "static"/ },
  {
    name: 'a static seal without a key',
    text: 'seal "static" { current_key_id = "a" }',
    says: /needs current_key_id and current_key/,
  },
  {
    name: 'half of a previous key',
    text: 'seal "static" {\n current_key_id = "a"\n current_key = "env://K"\n previous_key_id = "b"\n}',
    says: /previous_key_id and previous_key together/,
  },
  {
    name: 'two static keys of one name',
    text: `seal "static" {
      current_key_id = "a"
      current_key = "env://K"
      previous_key_id = "a"
      previous_key = "env://L"
    }`,
    says: /two keys with the id "a"/,
  },
  { name: 'another listener', text: 'listener "unix" {}', says: /line 1: the listener "unix".*use listener "tcp"/ },
  { name: 'another storage', text: 'storage "raft" { path = "x" }', says: /line 1: the storage "raft".*sqlite, inmem/ },
  { name: 'a second listener', text: 'listener "tcp" {}\nlistener "tcp" {}', says: /line 2: a second listener/ },
  { name: 'a listener without a kind', text: 'listener { address = "127.0.0.1:1" }', says: /line 1.*expected a block/ },
  {
    name: 'a size of the log that is none',
    text: 'storage "sqlite" {\n path = "d"\n log_retention_bytes = "1GB"\n}',
    says: /"log_retention_bytes" must be a number of bytes/,
  },
  { name: 'storage without a directory', text: 'storage "sqlite" {}', says: /needs path, a directory/ },
  { name: 'an empty directory', text: 'storage "sqlite" { path = "" }', says: /needs path, a directory/ },
  {
    name: 'a directory that is a list',
    text: 'storage "sqlite" { path = ["x"] }',
    says: /"path" must be a single value/,
  },
  {
    name: 'an address for others without tls_disable',
    text: 'listener "tcp" { address = "0.0.0.0:8200" }',
    says: /line 1: TLS is not offered yet.*tls_disable = true/,
  },
  {
    name: 'an address for others with tls_disable off',
    text: 'listener "tcp" {\n address = "10.0.0.1:8200"\n tls_disable = "false"\n}',
    says: /tls_disable = true/,
  },
  {
    name: 'a switch that is neither',
    text: 'listener "tcp" { tls_disable = "maybe" }',
    says: /"tls_disable" must be true or false/,
  },
  {
    name: 'an address without a port',
    text: 'listener "tcp" { address = "127.0.0.1" }',
    says: /"127\.0\.0\.1" is not of the form/,
  },
  { name: 'a key given twice', text: 'api_addr = "a"\napi_addr = "b"', says: /line 2: "api_addr" stands twice/ },
  { name: 'a name that is a number', text: 'cluster_name = 7', says: /"cluster_name" must be text/ },
  { name: 'a version that is none', text: 'reported_version = "1.21"', says: /must be a version such as 1\.21\.0/ },
  {
    name: 'a lifetime that is no duration',
    text: 'max_lease_ttl = "soon"',
    says: /"max_lease_ttl" must be seconds or a duration/,
  },
  { name: 'half a second', text: 'max_lease_ttl = 1.5', says: /"max_lease_ttl" must be seconds or a duration/ },
  { name: 'a lifetime below zero', text: 'default_lease_ttl = "-1h"', says: /"default_lease_ttl" must be seconds/ },
  {
    name: 'a default lifetime beyond the longest',
    text: 'default_lease_ttl = "2h"\nmax_lease_ttl = "1h"',
    says: /default_lease_ttl, 7200 s, must not be longer than max_lease_ttl, 3600 s/,
  },
  {
    name: 'a longest lifetime below the default of the other',
    text: 'max_lease_ttl = "1h"',
    says: /must not be longer/,
  },
  {
    name: 'a limit that is text',
    text: 'listener "tcp" { max_request_size = "1MB" }',
    says: /must be a number of bytes/,
  },
  { name: 'half a byte', text: 'listener "tcp" { max_request_size = 0.5 }', says: /must be a number of bytes/ },
  {
    name: 'more time for the headers than for the request',
    text: 'listener "tcp" { http_read_header_timeout = "1m" }',
    says: /"http_read_header_timeout" must not be longer than "http_read_timeout"/,
  },
]

for (const { name, text, says } of REFUSED) {
  test(`config refuses ${name}`, () => {
    assert.throws(
      () => parseConfig(text),
      (cause) => (cause instanceof ConfigError || cause instanceof HclError) && says.test(cause.message),
    )
  })
}

const MALFORMED = ['listener "tcp" {', '{"listener": ', 'listener = = 1', 'a b c', '{"a": 1} x', '[]']

for (const text of MALFORMED) {
  test(`config refuses ${JSON.stringify(text)}, which is neither HCL nor JSON`, () => {
    assert.throws(
      () => parseConfig(text),
      (cause) => cause instanceof HclError && /line 1/.test(cause.message),
    )
  })
}

test('config names the file in what it refuses', (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'config-'))
  context.after(() => rmSync(directory, { recursive: true }))
  const path = join(directory, 'server.hcl')
  const refusal = (pattern: RegExp) => (cause: unknown) =>
    cause instanceof ConfigError && cause.message.includes(path) && pattern.test(cause.message)
  assert.throws(() => readConfigFile(path), refusal(/cannot be read \(ENOENT\)/))
  writeFileSync(path, 'storage "sqlite" {')
  assert.throws(() => readConfigFile(path), refusal(/line 1/))
  writeFileSync(path, 'storag "sqlite" {}')
  assert.throws(() => readConfigFile(path), refusal(/did you mean "storage"/))
  assert.throws(
    () => readConfigFile(directory),
    (cause) => cause instanceof ConfigError && /EISDIR/.test(cause.message),
  )
})

test('an address is a host and a port', () => {
  assert.deepEqual(parseAddress('127.0.0.1:8200'), { host: '127.0.0.1', port: 8200 })
  assert.deepEqual(parseAddress('localhost:0'), { host: 'localhost', port: 0 })
  assert.deepEqual(parseAddress('[2001:db8::1]:65535'), { host: '2001:db8::1', port: 65_535 })
  const wrong = ['', ':', ':8200', '127.0.0.1', '127.0.0.1:', '127.0.0.1:65536', '127.0.0.1:-1', '127.0.0.1:8e3']
  wrong.push('127.0.0.1:0x50', '127.0.0.1: 80', '[]:80', '[::g]:80', '::1:8200', 'http://127.0.0.1:8200', 'a b:80')
  for (const text of wrong) assert.throws(() => parseAddress(text), ConfigError, text)
})

test('loopback is what no other machine reaches', () => {
  for (const host of ['localhost', '::1', '127.0.0.1', '127.255.255.254']) assert.ok(isLoopback(host), host)
  for (const host of ['0.0.0.0', '::', '10.0.0.1', '127.example.org', '127.0.0.1.example.org', '']) {
    assert.ok(!isLoopback(host), host)
  }
})

test('P-67: strict_hardening and require_audit are switches; secrets in the file are named, not told', () => {
  const config = parseConfig(`strict_hardening = true
    seal "static" {
      current_key_id = "2"
      current_key    = "file:///etc/key"
      previous_key_id = "1"
      previous_key   = "0123456789abcdef0123456789abcdef"
    }`)
  assert.deepEqual(config.hardening, { isStrict: true, isAuditRequired: false, inlineSecrets: ['seal.previous_key'] })
  assert.equal(parseConfig('require_audit = "true"').hardening?.isAuditRequired, true)
  assert.equal(parseConfig('require_audit = false').hardening, undefined)
  assert.throws(() => parseConfig('strict_hardening = "very"'), /"strict_hardening" must be true or false/)
  const json = parseConfig('{"seal": [{"static": {"current_key_id": "1", "current_key": "x"}}]}')
  assert.deepEqual(json.hardening?.inlineSecrets, ['seal.static.current_key'])
})
