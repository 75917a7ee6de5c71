import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { parseConfig, settle } from './config.ts'
import { DEFAULT_REPLICATION, type ReplicationConfig } from './replication.ts'
import { sanitizedConfig } from './state.ts'

const settled = (text: string) => settle(parseConfig(text, { isPlainAllowed: true }))
const read = (keys: string): ReplicationConfig => settled(`replication {\n ${keys}\n}`).replication

test('replication is on without a stanza, and with an empty one', () => {
  for (const text of ['', 'replication {}', '{"replication": {}}'])
    assert.deepEqual(settled(text).replication, DEFAULT_REPLICATION)
  assert.deepEqual(DEFAULT_REPLICATION, {
    isEnabled: true,
    allowedCaPaths: [],
    makesOperationTokensOpenly: true,
    consistency: { waitMs: 100, awaitStateMs: 2_000, heldMs: 2_000 },
    synchronous: { ids: [], timeoutMs: 10_000 },
  })
})

test('each setting of replication is read', () => {
  const keys = `enabled = false
    allowed_ca_paths = ["/etc/keywright/ca", "/etc/ssl/certs"]
    unauthenticated_operation_token = false
    best_effort_wal_wait_duration = "0s"
    consistency_wait = "250ms"
    await_state_limit = 60
    synchronous_secondaries = ["site-b", "site-c"]
    synchronous_timeout = "1500ms"`
  assert.deepEqual(read(keys), {
    isEnabled: false,
    allowedCaPaths: ['/etc/keywright/ca', '/etc/ssl/certs'],
    makesOperationTokensOpenly: false,
    consistency: { waitMs: 250, awaitStateMs: 60_000, heldMs: 0 },
    synchronous: { ids: ['site-b', 'site-c'], timeoutMs: 1_500 },
  })
  assert.equal(read('synchronous_timeout = "never"').synchronous.timeoutMs, undefined)
})

const REFUSED: readonly (readonly [string, RegExp])[] = [
  ['enable = false', /unknown key "enable" in replication, did you mean "enabled"\?/],
  ['enabled = "never"', /"enabled" must be true or false/],
  ['allowed_ca_paths = "ca"', /line 1: "allowed_ca_paths" must be a list of absolute paths/],
  ['consistency_wait = "soon"', /"consistency_wait" must be seconds or a duration such as 500ms, and 60s at most/],
  ['best_effort_wal_wait_duration = "-1s"', /"best_effort_wal_wait_duration" must be/],
  ['await_state_limit = "60001ms"', /"await_state_limit" must be/],
  ['consistency_waits = 1', /did you mean "consistency_wait"\?/],
  ['synchronous_secondaries = ["a", "b", "a"]', /line 1: "synchronous_secondaries" has the same id twice/],
  [`synchronous_secondaries = [${Array.from({ length: 9 }, (_, at) => `"${at}"`).join()}]`, /has more than 8 ids/],
  [`synchronous_secondaries = ["${'x'.repeat(257)}"]`, /an id in "synchronous_secondaries" has more than 256 bytes/],
  ['synchronous_timeout = "99ms"', /"synchronous_timeout" must be "never", or 100ms at least/],
  ['synchronous_timeout = "51s"', /"synchronous_timeout" must be seconds or a duration such as 500ms, and 50s at most/],
  ['synchronous_timeout = "ever"', /"synchronous_timeout" must be/],
  ['allowed_ca_paths = [1]', /"allowed_ca_paths" must be a list of texts/],
]

for (const [keys, says] of REFUSED) {
  test(`replication refuses ${keys}`, () => assert.throws(() => read(keys), says))
}

test('keys of the reference that do nothing for replication are taken, each with its reason', () => {
  const keys = [
    'replication_canary_write_interval_seconds = 5',
    'resolver_discover_servers = true',
    'logshipper_buffer_length = 16384',
    'logshipper_buffer_size = "1gb"',
    'allow_forwarding_via_header = true',
    'allow_forwarding_via_token = "new_token"',
  ]
  const { warnings, replication } = settled(`replication {\n${keys.join('\n')}\n}`)
  assert.deepEqual(replication, DEFAULT_REPLICATION)
  assert.equal(warnings.length, keys.length)
  for (const [index, warning] of warnings.entries())
    assert.match(warning, RegExp(`^line ${index + 2}: "${keys[index]?.split(' ')[0]}" in replication does nothing: ..`))
})

test('the settings of replication are shown by their names', () => {
  const shown = (text: string) =>
    sanitizedConfig(settled(text)) as {
      readonly cluster_addr: string
      readonly replication: object
      readonly listeners: readonly { readonly config: Readonly<Record<string, unknown>> }[]
    }
  const { cluster_addr, replication, listeners } = shown('')
  assert.equal(cluster_addr, 'https://127.0.0.1:8201')
  assert.deepEqual(replication, {
    enabled: true,
    allowed_ca_paths: [],
    unauthenticated_operation_token: true,
    best_effort_wal_wait_duration: 2,
    consistency_wait: 0.1,
    await_state_limit: 2,
    synchronous_secondaries: [],
    synchronous_timeout: 10,
  })
  assert.equal(listeners[0]?.config.cluster_address, '127.0.0.1:8201')
  assert.equal(listeners[0]?.config.disable_replication_status_endpoints, false)
  const other = shown('listener "unix" {\n address = "/s"\n disable_replication_status_endpoints = true\n}')
  assert.equal(other.cluster_addr, '')
  assert.equal(other.listeners[0]?.config.disable_replication_status_endpoints, true)
  assert.ok(!('cluster_address' in (other.listeners[0]?.config ?? {})))
})
