import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { DISRUPTIVE_ACTIONS } from '../../../src/system/seal/attempt-limits.ts'
import { processCpuMs } from '../../fixtures/measured.ts'
import { startMemoryServer, wireRequest } from '../../fixtures/memory-server.ts'

test('P-41, P-60: what is refused by the limit costs less than half a millisecond', async (context) => {
  const { node } = await startMemoryServer({ shares: 3, threshold: 2 })
  await node.operations.seal()
  const rounds = 2_000
  const refused = (i: number) => {
    const request = wireRequest('PUT', 'sys/unseal', { key: Buffer.alloc(33, i).toString('hex') }, '')
    return node.core.handle({ ...request, remoteAddress: '192.0.2.1' })
  }
  for (let i = 0; i < DISRUPTIVE_ACTIONS.burst * 2; i++) await refused(i)
  const cpuMs = await processCpuMs(async () => {
    for (let i = 0; i < rounds; i++) assert.equal((await refused(i & 255)).status, 429)
  })
  const microseconds = (cpuMs * 1_000) / rounds
  context.diagnostic(`${microseconds.toFixed(0)} µs of CPU each, without the socket`)
  assert.ok(microseconds < 500, `${microseconds} µs`)
})
