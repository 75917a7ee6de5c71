import { strict as assert } from 'node:assert'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { DEFAULT_LIMITS } from '../http/limits.ts'
import type { ListenerRules } from '../http/listener.ts'
import { CIPHER_SUITES } from '../http/tls.ts'
import { HclError } from '../lib/hcl.ts'
import { type ConfigPart, DEFAULT_CONFIG, parseConfig, type ServerConfig, servingThreadsFor, settle } from './config.ts'
import { readConfig } from './files.ts'
import { isLoopback, type ListenerAddress, parseAddress } from './listener.ts'
import { NO_SWITCHES } from './switches.ts'
import { ConfigError } from './values.ts'

/** Parses with the rules of a development server, whose listener need not say that it speaks in clear. */
const parsePlain = (text: string): ConfigPart => parseConfig(text, { isPlainAllowed: true })
const settled = (text: string): ServerConfig => settle(parsePlain(text))

const NO_RULES: ListenerRules = {
  limits: DEFAULT_LIMITS,
  tls: undefined,
  forwarded: undefined,
  proxy: undefined,
  headers: {},
  switches: undefined,
}

function listening(host: string, port: number, rules: Partial<ListenerRules> = {}): Partial<ServerConfig> {
  const clusterAddress = { host, port: port === 0 ? 0 : port + 1 }
  return {
    listeners: [{ address: { kind: 'tcp', host, port }, clusterAddress, rules: { ...NO_RULES, ...rules } }],
    clusterAddress: port === 0 || host === '0.0.0.0' ? '' : `https://${host}:${clusterAddress.port}`,
  }
}

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
    is: listening('127.0.0.1', 8300),
  },
  {
    name: 'a listener without an address',
    texts: ['listener "tcp" {}', '{"listener": {"tcp": {}}}'],
    is: listening('127.0.0.1', 8200),
  },
  {
    name: 'a listener for others, expressly without TLS',
    texts: [
      'listener "tcp" {\n  address = "0.0.0.0:8200"\n  tls_disable = true\n}',
      'listener "tcp" {\n  address = "0.0.0.0:8200"\n  tls_disable = 1\n}',
      'listener "tcp" {\n  address = "0.0.0.0:8200"\n  tls_disable = "true"\n}',
      '{"listener": {"tcp": {"address": "0.0.0.0:8200", "tls_disable": "1"}}}',
    ],
    is: {
      ...listening('0.0.0.0', 8200),
      warnings: ['line 1: 0.0.0.0:8200 has no TLS: anyone on the network path can read every token'],
    },
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
    is: listening('127.0.0.1', 8200, {
      switches: { ...NO_SWITCHES, tokenAskedFor: { generateRoot: true, rekey: false } },
    }),
  },
  {
    name: 'IPv6 in brackets, any free port',
    texts: ['listener "tcp" { address = "[::1]:0" }'],
    is: listening('::1', 0),
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
    is: listening('127.0.0.1', 8200, {
      limits: {
        ...DEFAULT_LIMITS,
        maxRequestBytes: 1_048_576,
        readHeaderTimeoutMs: 5_000,
        readTimeoutMs: 20_000,
        idleTimeoutMs: 90_000,
      },
    }),
  },
  {
    name: '0 stands for the default of a limit',
    texts: ['listener "tcp" {\n max_request_size = 0\n http_read_timeout = "0"\n}'],
    is: listening('127.0.0.1', 8200),
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
    name: 'the least that is useful of the log',
    texts: ['storage "sqlite" {\n path = "d"\n log_retention_bytes = 16384\n}'],
    is: { storage: { type: 'sqlite', directory: 'd', retention: { bytes: 16_384, ms: 86_400_000 } } },
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
       raw_storage_endpoint = false`,
      `{"api_addr": "https://keys.example:8200", "cluster_name": "north", "reported_version": "1.18.3",
        "default_lease_ttl": "12h", "max_lease_ttl": "2d", "permission_denied_hints": "false",
        "raw_storage_endpoint": "false"}`,
    ],
    is: {
      apiAddress: 'https://keys.example:8200',
      clusterAddress: 'https://keys.example:8201',
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
    for (const text of texts) assert.deepEqual(settled(text), { ...DEFAULT_CONFIG, ...is }, text)
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
  { name: 'another listener', text: 'listener "pipe" {}', says: /line 1: the listener "pipe".*use listener "tcp"/ },
  { name: 'another storage', text: 'storage "raft" { path = "x" }', says: /line 1: the storage "raft".*sqlite, inmem/ },
  { name: 'two listeners of one address', text: 'listener "tcp" {}\nlistener "tcp" {}', says: /Two listeners have/ },
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
    says: /"max_request_size" must be a number of bytes/,
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
      () => settled(text),
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

const TLS_FILES = 'tls_cert_file = "c.pem"\n tls_key_file = "k.pem"\n'

/** Returns the rules of a listener with these keys. */
function rulesOf(keys: string): ListenerRules {
  const { listeners } = settle(parseConfig(`listener "tcp" {\n ${keys}\n}`))
  assert.equal(listeners.length, 1)
  return (listeners[0] as { rules: ListenerRules }).rules
}

test('P-61: a listener has a certificate, or says that it speaks in clear', () => {
  for (const address of ['127.0.0.1:8200', '0.0.0.0:8200']) {
    for (const keys of ['', 'tls_disable = false', 'tls_cert_file = "c"', 'tls_key_file = "k"']) {
      assert.throws(
        () => parseConfig(`\nlistener "tcp" {\n address = "${address}"\n ${keys}\n}`),
        /line 2: .*tls_cert_file and tls_key_file; tls_disable = true/,
      )
    }
  }
  assert.equal(rulesOf('tls_disable = true').tls, undefined)
  assert.equal(rulesOf(`tls_disable = true\n ${TLS_FILES}`).tls, undefined)
})

test('config takes TLS with its versions, suites and authorities', () => {
  assert.deepEqual(rulesOf(TLS_FILES).tls, {
    certFile: 'c.pem',
    keyFile: 'k.pem',
    clientCaFile: undefined,
    minVersion: 'tls12',
    maxVersion: 'tls13',
    cipherSuites: [...CIPHER_SUITES.keys()],
  })
  const suite = 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'
  const { tls } = rulesOf(`${TLS_FILES} tls_min_version = "tls13"
    tls_require_and_verify_client_cert = true
    tls_client_ca_file = "ca.pem"
    tls_cipher_suites = "TLS_AES_128_GCM_SHA256, ${suite}"`)
  assert.deepEqual([tls?.minVersion, tls?.clientCaFile, tls?.cipherSuites], ['tls13', 'ca.pem', [suite]])
})

test('config gives what comes over TLS a header for browsers, and lets it be another', () => {
  const name = 'Strict-Transport-Security'
  assert.deepEqual(rulesOf('tls_disable = true').headers, {})
  assert.match(rulesOf(TLS_FILES).headers.default?.[name] ?? '', /^max-age=31536000/)
  const own = `custom_response_headers { "default" = { "${name}" = ["max-age=1"] } }`
  assert.equal(rulesOf(`${TLS_FILES} ${own}`).headers.default?.[name], 'max-age=1')
})

test('config takes listeners of several kinds, each with its own limits', () => {
  const { listeners } = settle(
    parseConfig(`
      default_max_request_duration = "20s"
      listener "tcp" {
        tls_disable = true
        max_request_size = 1000
        max_request_duration = "5s"
      }
      listener "tcp" {
        address = "127.0.0.1:8300"
        tls_disable = true
        max_request_size = -1
      }
      listener "unix" {
        address = "/run/keywright.sock"
        socket_mode = "660"
        socket_group = 7
        http_write_timeout = "1m"
      }`),
  )
  const unix: ListenerAddress = { kind: 'unix', path: '/run/keywright.sock', mode: 0o660, user: undefined, group: 7 }
  assert.deepEqual(
    listeners.map(({ address }) => address),
    [{ kind: 'tcp', host: '127.0.0.1', port: 8200 }, { kind: 'tcp', host: '127.0.0.1', port: 8300 }, unix],
  )
  const numbers = listeners.map(({ rules: { limits } }) => [
    limits.maxRequestBytes,
    limits.maxRequestMs,
    limits.writeTimeoutMs,
  ])
  // Without a limit of its own a body may have as much as all bodies together.
  assert.deepEqual(numbers, [
    [1_000, 5_000, 0],
    [268_435_456, 20_000, 0],
    [33_554_432, 20_000, 60_000],
  ])
})

test('config makes room for the largest body that a listener takes', () => {
  const large = 'listener "tcp" { max_request_size = 500000000 }'
  assert.equal(settled(large).limits.maxBodyBytes, 500_000_000)
  assert.equal(settled(`${large}\nmax_body_memory = 600000000`).limits.maxBodyBytes, 600_000_000)
  assert.throws(() => settled(`${large}\nmax_body_memory = 400000000`), /"max_body_memory" must not be less/)
})

test('A8: one address has half of the memory of bodies, and the largest body that a listener takes at least', () => {
  const share = (text: string): number => settled(text).limits.maxBodyBytesPerAddress
  assert.equal(share(''), 134_217_728)
  assert.equal(share('max_body_memory = 100000001'), 50_000_000)
  assert.equal(share('listener "tcp" { max_request_size = 200000000 }'), 200_000_000)
  assert.equal(share('listener "tcp" { max_request_size = -1 }'), 268_435_456)
  assert.equal(share('max_body_memory_per_address = 33554432'), 33_554_432)
  assert.throws(
    () => share('max_body_memory_per_address = 33554431'),
    /"max_body_memory_per_address" must not be less than the largest max_request_size, 33554432 bytes/,
  )
  const bounded = settled('max_body_memory_per_address = 40000000\nlistener "tcp" { max_request_size = -1 }')
  assert.equal(bounded.listeners[0]?.rules.limits.maxRequestBytes, 40_000_000, 'what no address may send is too large')
})

test('config takes rules for proxies', () => {
  const { forwarded, proxy } = rulesOf(`tls_disable = true
    x_forwarded_for_authorized_addrs = "10.0.0.0/8, 2001:DB8::/32"
    x_forwarded_for_hop_skips = "1"
    x_forwarded_for_reject_not_present = false
    proxy_protocol_behavior = "deny_unauthorized"
    proxy_protocol_authorized_addrs = ["10.0.0.1"]`)
  assert.deepEqual(forwarded, {
    authorized: ['10.0.0.0/8', '2001:db8::/32'],
    hopSkips: 1,
    rejectNotPresent: false,
    rejectNotAuthorized: true,
  })
  assert.deepEqual(proxy, { behavior: 'deny_unauthorized', authorized: ['10.0.0.1'] })
})

test('config takes headers and switches of a listener', () => {
  const { headers, switches } = rulesOf(`tls_disable = true
    custom_response_headers {
      "default" = { "X-One" = ["a", "b"] }
      "4xx" = { "X-One" = "c" }
    }
    redact_version = true
    disable_replication_status_endpoints = true
    telemetry { unauthenticated_metrics_access = true }
    profiling { unauthenticated_pprof_access = true }
    inflight_requests_logging { unauthenticated_in_flight_request_access = true }`)
  assert.deepEqual(headers, { default: { 'X-One': 'a, b' }, '4xx': { 'X-One': 'c' } })
  assert.deepEqual(switches, {
    ...NO_SWITCHES,
    unauthenticatedMetrics: true,
    unauthenticatedProfiling: true,
    unauthenticatedInFlight: true,
    redacts: { addresses: false, version: true, clusterName: false },
    hidesReplicationStatus: true,
  })
})

const REFUSED_LISTENERS: readonly (readonly [string, RegExp])[] = [
  ['tls_min_version = "tls11"', /"tls_min_version": tls11 is not offered/],
  ['tls_max_version = "TLS1.3"', /"tls_max_version" must be one of tls12, tls13/],
  ['tls_min_version = "tls13"\n tls_max_version = "tls12"', /must not be newer/],
  ['tls_cipher_suites = "TLS_RSA_WITH_AES_128_CBC_SHA"', /suite TLS_RSA_WITH_AES_128_CBC_SHA is not offered/],
  ['tls_cipher_suites = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA265"', /did you mean TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256/],
  ['tls_require_and_verify_client_cert = true', /needs tls_client_ca_file/],
  ['tls_client_ca_file = "ca"', /is for tls_require_and_verify_client_cert/],
  ['tls_require_and_verify_client_cert = true\n tls_disable_client_certs = true', /exclude each other/],
  ['tls_acme_domains = ["a"]', /"tls_acme_domains" in listener "tcp" is not offered: get the certificate/],
  ['max_json_depth = 10', /"max_json_depth".*is not offered: leave it out; JSON nesting is limited to 64 levels/],
  ['chroot_namespace = "a"', /callers name their namespace/],
  ['max_request_size = 2000000000', /must be at most 1073741824 bytes/],
  ['x_forwarded_for_hop_skips = 1', /"x_forwarded_for_hop_skips" needs x_forwarded_for_authorized_addrs/],
  ['x_forwarded_for_authorized_addrs = "10.0.0.1:80"', /"x_forwarded_for_authorized_addrs": expected addresses/],
  ['proxy_protocol_behavior = "use_sometimes"', /must be one of use_always/],
  ['proxy_protocol_behavior = "allow_authorized"', /needs proxy_protocol_authorized_addrs/],
  ['proxy_protocol_authorized_addrs = "10.0.0.1"', /needs proxy_protocol_behavior/],
  ['custom_response_headers { "all" = { "X-A" = "b" } }', /"all" is not a status/],
  ['custom_response_headers { "200" = { "Content-Length" = "1" } }', /"Content-Length" is the server's own/],
  ['custom_response_headers { "200" = { "X-Vault-Token" = "1" } }', /is the server's own/],
  ['custom_response_headers { "200" = { "X-A" = "b\\nc" } }', /must be visible ASCII/],
  ['telemetry { metrics = true }', /unknown key "metrics" in telemetry/],
]

for (const [keys, says] of REFUSED_LISTENERS) {
  test(`config refuses a listener with ${keys.replaceAll('\n', ',')}`, () => {
    assert.throws(() => rulesOf(`${TLS_FILES} ${keys}`), says)
  })
}

const REFUSED_SOCKETS: readonly (readonly [string, RegExp])[] = [
  ['', /needs address, a path/],
  [`address = "/${'a'.repeat(107)}"`, /at most 107 bytes/],
  ['address = "/s"\n socket_mode = "rw"', /three octal digits/],
  ['address = "/s"\n socket_user = "kim"', /must be the number of a user or group/],
  ['address = "/s"\n tls_cert_file = "c"', /unknown key "tls_cert_file" in listener "unix"/],
]

for (const [keys, says] of REFUSED_SOCKETS) {
  test(`config refuses a Unix socket with ${keys.slice(0, 40).replaceAll('\n', ',')}`, () => {
    assert.throws(() => parseConfig(`listener "unix" {\n ${keys}\n}`), says)
  })
}

test('E-14: config tells all that is wrong at once', () => {
  const text = 'lisener "tcp" {}\nmax_lease_ttl = "soon"\nlistener "tcp" {\n adress = "a"\n http_idle_timeout = "x"\n}'
  assert.throws(
    () => parseConfig(text),
    (cause) => {
      const sentences = cause instanceof ConfigError ? cause.message.split('\n') : []
      const wanted = [
        /"lisener"/,
        /line 4: .*"adress"/,
        /line 3: .*http_idle_timeout/,
        /line 3: .*tls_/,
        /max_lease_ttl/,
      ]
      for (const says of wanted)
        assert.ok(
          sentences.some((sentence) => says.test(sentence)),
          `${says} in ${sentences}`,
        )
      return sentences.length === wanted.length
    },
  )
})

test('config takes keys of the reference that do nothing here, and says so', () => {
  const { warnings } = settled('ui = true\ndisable_mlock = true\nlistener "tcp" { disable_request_limiter = true }')
  assert.equal(warnings.length, 3)
  for (const [index, key] of ['ui', 'disable_mlock', 'disable_request_limiter'].entries())
    assert.match(warnings[index] ?? '', RegExp(`^line ${index + 1}: "${key}" .* does nothing: `))
  assert.throws(() => settled('introspection_endpoint = true'), /"introspection_endpoint".* is not offered: /)
})

type Directory = { readonly path: string; write(name: string, text: string): string }

function temporary(context: { after(work: () => void): void }): Directory {
  const path = mkdtempSync(join(tmpdir(), 'config-'))
  context.after(() => rmSync(path, { recursive: true }))
  return {
    path,
    write: (name, text) => {
      writeFileSync(join(path, name), text)
      return join(path, name)
    },
  }
}

const read = (paths: readonly string[], env: NodeJS.ProcessEnv = {}): ConfigPart =>
  readConfig(paths, env, { isPlainAllowed: true })

test('config names the file in what it refuses', (context) => {
  const directory = temporary(context)
  const path = join(directory.path, 'server.hcl')
  const refuses = (pattern: RegExp) =>
    assert.throws(
      () => read([path]),
      (cause) => cause instanceof ConfigError && cause.message.includes(path) && pattern.test(cause.message),
    )
  refuses(/cannot be read \(ENOENT\)/)
  directory.write('server.hcl', 'storage "sqlite" {')
  refuses(/line 1/)
  directory.write('server.hcl', 'storag "sqlite" {}')
  refuses(/did you mean "storage"/)
  directory.write('server.hcl', 'ui = true')
  assert.match(read([path]).warnings?.[0] ?? '', /server\.hcl: line 1: "ui"/)
})

test('config in a directory is all of its files in the order of their names', (context) => {
  const directory = temporary(context)
  assert.throws(() => read([directory.path]), /has no configuration/)
  directory.write('b.json', '{"listener": {"tcp": {"address": "127.0.0.1:2"}}, "api_addr": "http://b:1"}')
  directory.write('a.hcl', 'listener "tcp" { address = "127.0.0.1:1" }\ncluster_name = "a"')
  directory.write('.hidden.hcl', 'nonsense')
  directory.write('notes.txt', 'nonsense')
  const { listeners = [], apiAddress, clusterName } = read([directory.path])
  assert.deepEqual(
    listeners.map(({ address }) => address.kind === 'tcp' && address.port),
    [1, 2],
  )
  assert.deepEqual([apiAddress, clusterName], ['http://b:1', 'a'])
})

test('E-14: a key that stands in two files is refused, with both', (context) => {
  const directory = temporary(context)
  const [a, b] = [directory.write('a.hcl', 'threads = 1'), directory.write('b.hcl', 'threads = 1')]
  assert.throws(() => read([a, b]), new RegExp(`"threads" stands in ${a} and in ${b}`))
  assert.throws(() => read([a, a]), /"threads" stands in/)
  assert.equal(read([a]).threads, 1)
})

test('config takes environment variables before files, by all three prefixes', (context) => {
  const file = temporary(context).write('a.hcl', 'api_addr = "http://file:1"\ncluster_name = "file"')
  const variables = { VAULT_API_ADDR: 'http://vault:1', BAO_CLUSTER_NAME: 'bao', VAULT_CLUSTER_ADDR: '' }
  const { apiAddress, clusterName, clusterAddress } = read([file], variables)
  assert.deepEqual([apiAddress, clusterName, clusterAddress], ['http://vault:1', 'bao', undefined])
  assert.equal(read([file], { ...variables, KEYWRIGHT_API_ADDR: 'http://own:1' }).apiAddress, 'http://own:1')
  assert.throws(() => read([file], { VAULT_API_ADDR: 'vault:1' }), /VAULT_API_ADDR: "api_addr" must be an address/)
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
  assert.deepEqual(config.hardening, { isStrict: true, inlineSecrets: ['seal.previous_key'] })
  assert.equal(parseConfig('require_audit = "true"').hardening?.isAuditRequired, true)
  assert.equal(parseConfig('require_audit = false').hardening, undefined)
  assert.throws(() => parseConfig('strict_hardening = "very"'), /"strict_hardening" must be true or false/)
  const json = parseConfig('{"seal": [{"static": {"current_key_id": "1", "current_key": "x"}}]}')
  assert.deepEqual(json.hardening?.inlineSecrets, ['seal.static.current_key'])
})

test('one core is left to what does not serve, where there is more than one', () => {
  assert.deepEqual([1, 2, 3, 16].map(servingThreadsFor), [1, 1, 2, 15])
})
