import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runSelfTests, SelfTestFailed } from './self-test.ts'

test('P-16 the known answers of every primitive come out', () => {
  runSelfTests()
})

test('P-16 a wrong answer and an exception both name the primitive', () => {
  const cause = new Error('digest method not supported')
  const broken = () => {
    throw cause
  }
  const right = { primitive: 'right', passes: () => true }
  assert.throws(
    () => runSelfTests([right, { primitive: 'AES-256-GCM', passes: () => false }]),
    (error) =>
      error instanceof SelfTestFailed && error.primitive === 'AES-256-GCM' && /AES-256-GCM/.test(error.message),
  )
  assert.throws(
    () => runSelfTests([right, { primitive: 'SHA-256', passes: broken }]),
    (error) => error instanceof SelfTestFailed && error.primitive === 'SHA-256' && error.cause === cause,
  )
})
