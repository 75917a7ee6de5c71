import assert from 'node:assert/strict'
import { test } from 'node:test'
import { wireRequest } from '../../test/fixtures/memory-server.ts'
import { Refusal } from '../api/errors.ts'
import { PeerGone, TooManyCalls, Unreachable } from '../rpc/errors.ts'
import { callOrRefuse, forwardOrRefuse } from './writer-refusals.ts'

const failing = (cause: Error) => async (): Promise<never> => {
  throw cause
}

test('that the writing thread is gone is a refusal, and nothing else is', async () => {
  const isRefusal = (cause: unknown): boolean => cause instanceof Refusal && cause.code === 'writer_gone'
  for (const gone of [new PeerGone('gone'), new TooManyCalls('busy'), new Unreachable('no answer')]) {
    await assert.rejects(forwardOrRefuse(failing(gone))(wireRequest('POST', 'a')), isRefusal)
    await assert.rejects(callOrRefuse(failing(gone))('mount', {}), isRefusal)
  }
  const other = new TypeError('a defect')
  await assert.rejects(forwardOrRefuse(failing(other))(wireRequest('POST', 'a')), (cause) => cause === other)
  await assert.rejects(callOrRefuse(failing(other))('mount', {}), (cause) => cause === other)
})
