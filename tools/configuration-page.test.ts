// docs/configuration.md names every key because it is made from the tables that the parser reads. These tests check
// against the parser what the page says of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_CONFIG, parseConfig, type ServerConfig, settle } from '../src/config/config.ts'
import { INNER_STANZA } from '../src/config/switches.ts'
import { parseDurationSeconds } from '../src/lib/duration.ts'
import { DEFAULT_RETENTION } from '../src/storage/log/retention.ts'
import { fencedBlocks } from '../test/pages/fenced-blocks.ts'
import { configurationPage, STANZAS } from './configuration-page.ts'

const PAGE = configurationPage()

test('the page shows configurations that are taken', () => {
  const blocks = fencedBlocks(PAGE).filter(({ language }) => language === 'hcl')
  assert.ok(blocks.length >= 2)
  for (const { text } of blocks) settle(parseConfig(text))
})

/** A configuration with this in the stanza. */
function within(title: string, line: string): string {
  if (title === 'Top-level keys') return `listener "tcp" { tls_disable = true }\n${line}\n`
  if (title.startsWith('listener'))
    return `${title} {\n tls_disable = true\n${title.includes('unix') ? 'address = "/s"\n' : ''}${line}\n}`
  return `listener "tcp" { tls_disable = true }\n${title} {\n${line}\n}`
}

for (const { title, settings } of STANZAS) {
  for (const [key, setting] of Object.entries(settings)) {
    if (setting.kind === 'offered') {
      if (title === INNER_STANZA.title) continue
      test(`${title}: a misspelt ${key} is refused, and ${key} is what it hints at`, () => {
        assert.throws(() => parseConfig(within(title, `${key}x = "1"`)), new RegExp(`did you mean "${key}"`))
      })
    } else if (setting.kind === 'refused') {
      test(`${title}: ${key} is refused with what the page says`, () => {
        assert.throws(
          () => parseConfig(within(title, `${key} = "1"`)),
          (cause) => cause instanceof Error && cause.message.includes(setting.remedy),
        )
      })
    } else if (key !== 'tls_disable') {
      test(`${title}: ${key} does nothing, and the log says why`, () => {
        const warnings = settle(parseConfig(within(title, `${key} = "1"`))).warnings.join('\n')
        assert.ok(warnings.includes(setting.why), warnings)
      })
    }
  }
}

const LISTENER = (DEFAULT_CONFIG.listeners[0] as ServerConfig['listeners'][number]).rules.limits
/** Values in bytes, numbers or milliseconds. */
const DEFAULTS: Readonly<Record<string, number>> = {
  max_request_size: LISTENER.maxRequestBytes,
  max_request_duration: LISTENER.maxRequestMs,
  default_max_request_duration: LISTENER.maxRequestMs,
  http_read_header_timeout: LISTENER.readHeaderTimeoutMs,
  http_read_timeout: LISTENER.readTimeoutMs,
  http_idle_timeout: LISTENER.idleTimeoutMs,
  max_token_header_size: LISTENER.maxTokenBytes,
  max_connections: DEFAULT_CONFIG.limits.maxConnections,
  max_connections_per_address: DEFAULT_CONFIG.limits.maxConnectionsPerAddress,
  default_lease_ttl: DEFAULT_CONFIG.defaultTtlSeconds * 1000,
  max_lease_ttl: DEFAULT_CONFIG.maxTtlSeconds * 1000,
  log_retention_bytes: DEFAULT_RETENTION.bytes,
  log_retention_time: DEFAULT_RETENTION.ms,
}

test('the defaults on the page are those that count', () => {
  const shown = new Map(STANZAS.flatMap(({ settings }) => Object.entries(settings)))
  for (const [key, value] of Object.entries(DEFAULTS)) {
    const setting = shown.get(key)
    assert.ok(setting?.kind === 'offered', key)
    const isDuration = setting.type === 'duration'
    const number = isDuration ? parseDurationSeconds(setting.default) * 1000 : Number(setting.default)
    assert.equal(number, value, key)
  }
  const told = Object.values(STANZAS[0]?.settings ?? {}).some(
    (setting) => setting.kind === 'offered' && setting.default.startsWith(String(DEFAULT_CONFIG.limits.maxBodyBytes)),
  )
  assert.ok(told, 'max_body_memory')
})
