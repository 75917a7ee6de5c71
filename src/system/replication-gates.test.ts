import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { startMemoryServer } from '../../test/fixtures/memory-server.ts'
import { requireReplicationOn } from './replication-gates.ts'
import type { ServerFacts } from './system.ts'

const PATHS = ['', 'dr/', 'performance/'].map((family) => `sys/replication/${family}status`)

test('a listener that does not show the status of replication answers 403, whoever asks', async () => {
  const hiding = await startMemoryServer({ listener: { hidesReplicationStatus: true } })
  const showing = await startMemoryServer()
  for (const path of PATHS) {
    for (const token of ['', 'root']) {
      const { status, body } = await hiding.call('GET', path, undefined, token)
      assert.equal(status, 403, path)
      assert.deepEqual(body.errors, ['permission denied: this listener does not show the status of replication'])
    }
    assert.equal((await showing.call('GET', path, undefined, '')).status, 200, path)
  }
  assert.equal((await hiding.call('GET', 'sys/health', undefined, '')).status, 200)
})

test('operations of replication are refused by the setting that switches them off', () => {
  const facts: ServerFacts = { reportedVersion: '1.21.0', storageType: 'inmem', apiAddress: '', clusterName: '' }
  requireReplicationOn({ edition: 'enterprise', facts }, 'dr')
  requireReplicationOn({ edition: 'enterprise', facts: { ...facts, replicationEnabled: true } }, 'performance')
  assert.throws(
    () => requireReplicationOn({ edition: 'plus', facts: { ...facts, replicationEnabled: false } }, 'performance'),
    { status: 400, message: /"enabled" of the stanza "replication"/ },
  )
  assert.throws(() => requireReplicationOn({ edition: 'plus', facts }, 'dr'), { status: 400, message: /edition/ })
})
