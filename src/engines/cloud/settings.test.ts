import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NEW_CONFIG } from './config.ts'
import { cloudEnvironment, NO_CLOUD_ENVIRONMENT, settingsOf } from './settings.ts'

const BASE = { ...NEW_CONFIG, tenantId: 'example.org', resource: 'https://keys.example.org' }

const RETRIES = [
  { name: 'nothing said', given: {}, retries: { most: 3, delayMs: 4_000, maxDelayMs: 60_000 } },
  {
    name: 'zero for each: the defaults of the clients',
    given: { maxRetries: 0, retryDelaySeconds: 0, maxRetryDelaySeconds: 0 },
    retries: { most: 3, delayMs: 800, maxDelayMs: 60_000 },
  },
  {
    name: 'negative for each: once, at once, without bound',
    given: { maxRetries: -1, retryDelaySeconds: -1, maxRetryDelaySeconds: -1 },
    retries: { most: 0, delayMs: 0, maxDelayMs: Infinity },
  },
  {
    name: 'one for each',
    given: { maxRetries: 1, retryDelaySeconds: 1, maxRetryDelaySeconds: 1 },
    retries: { most: 1, delayMs: 1_000, maxDelayMs: 1_000 },
  },
  { name: 'as many as may be', given: { maxRetries: 10 }, retries: { most: 10, delayMs: 4_000, maxDelayMs: 60_000 } },
  { name: 'one more', given: { maxRetries: 11 }, retries: { most: 10, delayMs: 4_000, maxDelayMs: 60_000 } },
]
for (const { name, given, retries } of RETRIES) {
  test(`attempts at a cloud: ${name}`, () => {
    assert.deepEqual(settingsOf({ ...BASE, ...given }, NO_CLOUD_ENVIRONMENT).retries, retries)
  })
}

test('the neutral variable comes before that of the vendor, and an empty one is none', () => {
  const env = { CLOUD_TENANT_ID: 'a', AZURE_TENANT_ID: 'b', CLOUD_CLIENT_ID: '', AZURE_CLIENT_ID: 'c', OTHER: 'd' }
  assert.deepEqual(cloudEnvironment(env), { TENANT_ID: 'a', CLIENT_ID: 'c' })
})

test('the configuration of the mount comes before the environment', () => {
  const environment = { TENANT_ID: 'environment.org', AD_RESOURCE: 'of-the-environment', CLIENT_ID: 'there' }
  const by = (given: object) => {
    const { tenant, resource, clientId } = settingsOf({ ...NEW_CONFIG, ...given }, { environment, clouds: [] })
    return [tenant, resource, clientId]
  }
  assert.deepEqual(by({}), ['environment.org', 'of-the-environment', 'there'])
  assert.deepEqual(by({ tenantId: 'mount.org', resource: 'r', clientId: 'c' }), ['mount.org', 'r', 'c'])
})
