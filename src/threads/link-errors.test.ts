import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fail } from '../api/errors.ts'
import { ProtocolFault } from '../replication/protocol/frames.ts'
import { CertificateRefused } from '../replication/set/certificates.ts'
import { HistoryGone, Sealed, StorageClosed, StorageFailed, StorageFull, StorageRefused } from '../storage/errors.ts'
import { outcomeOf, replyOf } from './link-errors.ts'

const thrower = (cause: unknown) => async (): Promise<never> => {
  throw cause
}

for (const Class of [
  HistoryGone,
  Sealed,
  StorageClosed,
  StorageFailed,
  StorageFull,
  StorageRefused,
  CertificateRefused,
]) {
  test(`${Class.name} is thrown anew, with its class and sentence`, async () => {
    const reply = structuredClone(await replyOf(thrower(new Class('a sentence'))))
    await assert.rejects(outcomeOf(reply), (cause) => cause instanceof Class && cause.message === 'a sentence')
  })
}

test('a fault of the protocol keeps its reason', async () => {
  const reply = structuredClone(await replyOf(thrower(new ProtocolFault('version', 'from the future'))))
  await assert.rejects(outcomeOf(reply), { name: 'ProtocolFault', reason: 'version', message: 'from the future' })
})

test('an answer is an answer, undefined too', async () => {
  assert.equal(await outcomeOf(await replyOf(async () => 'x')), 'x')
  assert.equal(await outcomeOf(structuredClone(await replyOf(async () => undefined))), undefined)
})

test('refusals and defects are left to rpc', async () => {
  for (const cause of [fail('changed_meanwhile', ['x']), new RangeError('a defect'), 'no error'])
    await assert.rejects(replyOf(thrower(cause)), (thrown) => thrown === cause)
})

test('a verb that throws before it returns a promise is like one that rejects', async () => {
  const reply = await replyOf(() => {
    throw new StorageFull('full')
  })
  await assert.rejects(outcomeOf(reply), StorageFull)
})
