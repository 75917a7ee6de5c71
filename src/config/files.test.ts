// A configuration in several files means the same as in one.
import { strict as assert } from 'node:assert'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { DEFAULT_CONFIG, type ServerConfig, settle } from './config.ts'
import { readConfig } from './files.ts'
import { TOP_STANZA } from './top.ts'
import { ConfigError } from './values.ts'

/** Each key with a value that is not the default. */
const KEYS: Readonly<Record<string, string>> = {
  threads: 'threads = 7',
  listener: 'listener "tcp" { address = "127.0.0.1:8300" }',
  storage: 'storage "sqlite" { path = "elsewhere" }',
  seal: 'seal "static" {\n current_key_id = "a"\n current_key = "clear"\n}',
  api_addr: 'api_addr = "http://a:1"',
  cluster_addr: 'cluster_addr = "https://c:1"',
  replication: 'replication { enabled = false }',
  cluster_name: 'cluster_name = "north"',
  reported_version: 'reported_version = "1.18.3"',
  default_lease_ttl: 'default_lease_ttl = "1h"',
  max_lease_ttl: 'max_lease_ttl = "800h"',
  edition: 'edition = "plus"',
  permission_denied_hints: 'permission_denied_hints = false',
  raw_storage_endpoint: 'raw_storage_endpoint = true',
  log_level: 'log_level = "debug"',
  log_format: 'log_format = "json"',
  telemetry: 'telemetry { otlp_endpoint = "http://127.0.0.1:4318" }',
  audit: 'audit "file" "log" {\n options { file_path = "/var/log/a.log" }\n}',
  cloud:
    'cloud "Test" {\n authority = "https://a"\n resource_manager = "https://b"\n ' +
    'resource_manager_audience = "https://b/"\n graph = "https://c"\n}',
  kms_library: 'kms_library "pkcs11" {\n name = "hsm"\n library = "/usr/lib/hsm.so"\n}',
  unsafe_allow_api_audit_creation: 'unsafe_allow_api_audit_creation = false',
  strict_hardening: 'strict_hardening = true',
  require_audit: 'require_audit = true',
  pid_file: 'pid_file = "/run/keywright.pid"',
  max_connections: 'max_connections = 77',
  max_connections_per_address: 'max_connections_per_address = 7',
  max_body_memory: 'max_body_memory = 99999999',
  max_body_memory_per_address: 'max_body_memory_per_address = 88888888',
  default_max_request_duration: 'default_max_request_duration = "7s"',
  max_cubbyhole_entry_size: 'max_cubbyhole_entry_size = 7777',
  max_cubbyhole_entries: 'max_cubbyhole_entries = 77',
  max_cubbyhole_size: 'max_cubbyhole_size = 77777',
}

function settled(texts: readonly string[], env: NodeJS.ProcessEnv = {}): ServerConfig {
  const folder = mkdtempSync(join(tmpdir(), 'keywright-config-'))
  try {
    texts.forEach((text, index) => {
      writeFileSync(join(folder, `${index}.hcl`), text)
    })
    return { ...settle(readConfig([folder], env, { isPlainAllowed: true })), warnings: [] }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('E-14: any two keys say the same in two files, in either order, as in one', () => {
  const offered = Object.entries(TOP_STANZA.settings).filter(([, { kind }]) => kind === 'offered')
  assert.deepEqual(Object.keys(KEYS).toSorted(), offered.map(([key]) => key).toSorted())
  const lines = Object.values(KEYS)
  for (const [at, line] of lines.entries()) {
    assert.notDeepEqual(settled([line]), DEFAULT_CONFIG, line)
    for (const other of lines.slice(at + 1)) {
      const whole = settled([`${line}\n${other}`])
      assert.deepEqual(settled([line, other]), whole, `${line}\n${other}`)
      assert.deepEqual(settled([other, line]), whole, `${other}\n${line}`)
    }
  }
})

test('E-14: all keys say the same in a file of each, and variables take nothing from files', () => {
  const lines = Object.values(KEYS)
  const whole = settled([lines.join('\n')])
  assert.deepEqual(settled(lines), whole)
  const env = { KEYWRIGHT_CLUSTER_NAME: 'south' }
  assert.deepEqual(settled(lines, env), { ...whole, clusterName: 'south' })
})

test('config takes numbers in decimal digits only, also as text', () => {
  assert.equal(settled(['threads = "2"']).threads, 2)
  assert.equal(settled(['max_connections = "10"']).limits.maxConnections, 10)
  for (const value of ['1e3', ' 0x10 ', '0x10', ' 10', '+1', '1.0', '', '99999999999999999']) {
    assert.throws(() => settled([`threads = "${value}"`]), /"threads" must be a number from 1 to/, value)
    assert.throws(() => settled([`max_connections = "${value}"`]), /"max_connections" must be a whole number/, value)
  }
})

test('config refuses a password in the addresses of the server, and what no path can be put behind', () => {
  for (const url of [
    'https://u:p@x',
    'https://:p@x',
    'https://u@x',
    'https://x?',
    'https://x#',
    'https://x#y',
    ' https://x ',
  ]) {
    assert.throws(() => settled([`api_addr = "${url}"`]), /"api_addr" must be an address/, url)
    assert.throws(() => settled([`cluster_addr = "${url}"`]), /"cluster_addr" must be an address/, url)
  }
})

test('config refuses keys of stanzas that take none', () => {
  const refuses = (text: string, says: RegExp) =>
    assert.throws(
      () => settled([text]),
      (cause) => cause instanceof ConfigError && says.test(cause.message),
    )
  refuses('seal "shamir" { bogus = 1 }', /0\.hcl: line 1: unknown key "bogus" in seal "shamir", it takes none/)
  refuses('storage "inmem" { path = "x" }', /unknown key "path" in storage "inmem", it takes none/)
})
