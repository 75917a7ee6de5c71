import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runSelfTests } from '../../../src/crypto/self-test.ts'
import { threadCpuMs } from '../../fixtures/measured.ts'

test('P-16 the known answers of every primitive delay a start by less than 20 ms', () => {
  const cpuMs = threadCpuMs(runSelfTests)
  assert.ok(cpuMs < 20, `${cpuMs} ms`)
})
