// What logins compute that are refused: what is long is cheap, and the time does not tell who exists.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { SAMPLE } from '../../../emulator/sample-plan.ts'
import { inlineWork } from '../../../src/lib/slow-work.ts'
import { realWorld } from '../../../src/lib/world.ts'
import { startCloudServer } from '../../fixtures/cloud-server.ts'
import { processCpuMs } from '../../fixtures/measured.ts'
import { startMemoryServer } from '../../fixtures/memory-server.ts'

const COSTLY = [
  '.'.repeat(30_000),
  '.'.repeat(100_000),
  'a'.repeat(32_769),
  'a'.repeat(40_000),
  `${'a'.repeat(20_000)}.b.c`,
  `${'a.'.repeat(16_000)}a`,
  'a.b.c.d.e',
  'x.y.z',
]

test('F13, L-09, L-10: tokens of clouds that only cost time are refused soon', async (context) => {
  const server = await startCloudServer()
  context.after(() => server.stop())
  await server.role('r', { bound_service_principal_ids: '*', bound_subscription_ids: [SAMPLE.subscription] })
  const place = { role: 'r', subscription_id: SAMPLE.subscription, resource_group_name: 'rg-app', vm_name: 'vm1' }
  for (const jwt of COSTLY) {
    const cpuMs = await processCpuMs(async () => assert.equal((await server.login({ ...place, jwt })).status, 400))
    assert.ok(cpuMs < 2_000, `${cpuMs} ms`)
  }
})

test('M-01: a wrong name takes as long as a wrong password', async () => {
  const server = await startMemoryServer({ slow: inlineWork(realWorld()) })
  await server.call('POST', 'sys/auth/people', { type: 'userpass' })
  await server.call('POST', 'auth/people/users/known', { password: 'secret' })
  await server.call('POST', 'sys/auth/people/tune', { user_lockout_config: { lockout_disable: true } })
  const times: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] }
  for (let i = 0; i < 15; i++) {
    for (const name of ['known', 'unknown'] as const) {
      const logIn = async () =>
        assert.equal((await server.call('POST', `auth/people/login/${name}`, { password: 'no' }, '')).status, 400)
      times[name].push(await processCpuMs(logIn))
    }
  }
  const [known, unknown] = [Math.min(...times.known), Math.min(...times.unknown)]
  // Of the processor. A look-up without the hash would be a hundred times faster.
  assert.ok(unknown > known / 2 && unknown < known * 2, `${known} ms, ${unknown} ms`)
})
