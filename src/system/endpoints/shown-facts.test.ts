import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startMemoryServer } from '../../../test/fixtures/memory-server.ts'

const FACTS = { apiAddress: 'https://keys.example:8200', clusterAddress: 'https://keys.example:8201' }

test('H-05: a listener that redacts shows no addresses, version and cluster name, another one does', async () => {
  for (const is of [true, false]) {
    const redacts = { addresses: is, version: is, clusterName: is }
    const { call } = await startMemoryServer({ facts: FACTS, listener: { redacts } })
    const shown = async (path: string, names: readonly string[]) => {
      const { body } = await call('GET', path, undefined, '')
      return names.map((name) => body[name])
    }
    const version = is ? '' : '1.21.0'
    const cluster = is ? '' : 'test'
    assert.deepEqual(await shown('sys/health', ['version', 'cluster_name']), [version, cluster])
    assert.deepEqual(await shown('sys/seal-status', ['version', 'cluster_name']), [version, cluster])
    const addresses = is ? ['', ''] : [FACTS.apiAddress, FACTS.clusterAddress]
    assert.deepEqual(await shown('sys/leader', ['leader_address', 'leader_cluster_address']), addresses)
    // The issuer of identity tokens. No mount has asked for one yet, so the listener may withhold it.
    const { body } = await call('GET', 'identity/oidc/plugins/.well-known/openid-configuration', undefined, '')
    assert.equal(JSON.stringify(body).includes('keys.example'), !is)
  }
})
