// The checks of a start over days: what is not well is said again.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { fakeMachine, LOCAL, setting } from '../../test/fixtures/machine.ts'
import { until } from '../../test/fixtures/until.ts'
import { DEFAULT_CONFIG } from '../config/config.ts'
import { runChecks } from '../hardening/report.ts'
import type { HardeningSetting } from '../hardening/setting.ts'
import { realWorld } from '../lib/world.ts'
import { logHardening } from './hardened-start.ts'

async function loggedOver(days: number, given: Partial<HardeningSetting>): Promise<string[]> {
  const lines: string[] = []
  const waiting: { readonly delayMs: number; readonly work: () => void }[] = []
  const world = {
    ...realWorld(),
    timers: {
      sleep: async () => {},
      after: (delayMs: number, work: () => void) => {
        waiting.push({ delayMs, work })
        return { cancel: () => {} }
      },
    },
  }
  const found = { setting: setting(given), results: await runChecks(fakeMachine(), setting(given)), startedAtMs: 0 }
  logHardening({ ...DEFAULT_CONFIG, hardeningFound: found }, world, (level, message) => {
    lines.push(`${level} ${message}`)
  })
  for (let day = 0; day < days; day++) {
    const next = waiting.shift()
    if (next === undefined) break
    assert.equal(next.delayMs, 86_400_000)
    next.work()
    // Its checks look at this machine.
    await until(() => waiting.length > 0, 'the check of the next day')
  }
  return lines
}

const OPEN = { ...LOCAL, address: '0.0.0.0:8200', isLocal: false, isTlsDisabled: true }

test('P-61: that a server speaks in clear is in its log at the start and every day', async () => {
  const lines = await loggedOver(2, { listeners: [OPEN] })
  assert.equal(lines.filter((line) => /^warn Hardening check "TLS on every.*has no TLS/.test(line)).length, 3)
  assert.equal(lines.filter((line) => line.startsWith('info Hardening checks')).length, 3)
})

test('B-07: what requests made since the start is not denied in the log of a running server', async () => {
  const lines = await loggedOver(2, { auditDevices: [], isAuditDeclared: false })
  assert.equal(lines.filter((line) => line.includes('No audit device is enabled')).length, 1)
  assert.equal(lines.filter((line) => line.startsWith('info Hardening checks')).length, 3)
})

test('a development server says its numbers once', async () => {
  assert.deepEqual((await loggedOver(2, { isDevelopment: true })).length, 1)
})
