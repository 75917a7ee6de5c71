import assert from 'node:assert/strict'
import { test } from 'node:test'
import { wireRequest } from '../../test/fixtures/memory-server.ts'
import { Refusal } from '../api/errors.ts'
import { PeerGone, TooManyCalls, Unreachable } from '../rpc/errors.ts'
import { DataKeyUsedUp, StorageFull, WriteNotAllowed } from '../storage/errors.ts'
import { callOrRefuse, forwardOrRefuse, writeOrRefuse } from './writer-refusals.ts'

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

test('S1: what storage refuses to an asking thread is a refusal, and a defect stays one', async () => {
  const asked = (cause: Error): Promise<unknown> => writeOrRefuse(failing(cause), () => 'https://p:8200')
  for (const [cause, code] of [
    [new WriteNotAllowed('local'), 'not_primary'],
    [new DataKeyUsedUp('used up'), 'data_key_used_up'],
    [new StorageFull('full'), 'storage_full'],
  ] as const)
    await assert.rejects(asked(cause), (thrown) => thrown instanceof Refusal && thrown.code === code)
  const defect = new TypeError('a defect')
  await assert.rejects(asked(defect), (thrown) => thrown === defect)
})
