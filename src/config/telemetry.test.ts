import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { DEFAULT_CONFIG, parseConfig } from './config.ts'
import { logFromEnvironment } from './log.ts'
import { originsOf } from './telemetry.ts'

test('traces go where the configuration says, and nowhere else', () => {
  const { telemetry = assert.fail() } = parseConfig('telemetry { otlp_endpoint = "https://collector:4318/otel/" }')
  assert.deepEqual(telemetry.traces, { endpoint: 'https://collector:4318/otel', sampling: 1 })
  assert.deepEqual(originsOf(telemetry), ['https://collector:4318'])
  const sampled = parseConfig('telemetry { otlp_endpoint = "http://127.0.0.1:4318"\n otlp_sampling = 0.25 }')
  assert.equal(sampled.telemetry?.traces?.sampling, 0.25)
  assert.deepEqual(originsOf(DEFAULT_CONFIG.telemetry), [])
})

test('what the reference has for its own gathering is accepted', () => {
  const { telemetry } = parseConfig('telemetry { prometheus_retention_time = "24h"\n disable_hostname = true }')
  assert.deepEqual(telemetry, { traces: undefined })
})

const REFUSED: readonly [string, RegExp][] = [
  ['telemetry { statsd_address = "127.0.0.1:8125" }', /line 1: "statsd_address" is not offered: let Prometheus/],
  ['telemetry { dogstatsd_addr = "x" }', /"dogstatsd_addr" is not offered/],
  ['telemetry { circonus_api_token = "secret-of-mine" }', /"circonus_api_token" is not offered/],
  ['telemetry { prefix_filter = ["-a"] }', /"prefix_filter" is not offered/],
  ['telemetry { otlp_endpont = "x" }', /did you mean "otlp_endpoint"/],
  ['telemetry { otlp_endpoint = "collector:4318" }', /must be an address such as/],
  ['telemetry { otlp_endpoint = "http://kim:secret-of-mine@collector" }', /without a name or password/],
  ['telemetry { otlp_sampling = 0.5 }', /needs otlp_endpoint/],
  ['telemetry { otlp_endpoint = "http://c"\n otlp_sampling = 2 }', /a number from 0 to 1/],
  ['log_level = "loud"', /log_level must be one of trace, debug/],
  ['log_format = "xml"', /log_format must be one of standard, json/],
  ['listener "tcp" { telemetry { metrics = true } }'.replace('{ telemetry', '{\n telemetry'), /unknown key|expected/],
]
for (const [text, message] of REFUSED) {
  test(`U-06: refused by name, without its value: ${text.split('\n')[0]}`, () => {
    assert.throws(
      () => parseConfig(text),
      (cause) => cause instanceof Error && message.test(cause.message) && !cause.message.includes('secret-of-mine'),
    )
  })
}

test('the listener says whether metrics are open', () => {
  const open = 'listener "tcp" {\n tls_disable = true\n telemetry {\n unauthenticated_metrics_access = true\n }\n}'
  assert.equal(parseConfig(open).listeners?.[0]?.rules.switches?.unauthenticatedMetrics, true)
})

test('the environment counts before the file', () => {
  const { logging = assert.fail() } = parseConfig('log_level = "WARN"\nlog_format = "json"')
  assert.deepEqual(logging, { level: 'warn', format: 'json' })
  const read = (name: string) => ({ LOG_LEVEL: 'debug' })[name]
  assert.deepEqual(logFromEnvironment(logging, read), { level: 'debug', format: 'json' })
  assert.throws(() => logFromEnvironment(logging, () => 'loud'), /LOG_LEVEL must be one of/)
})
