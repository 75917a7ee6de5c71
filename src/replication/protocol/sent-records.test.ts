import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom } from '../../../test/conformance/seeded-random.ts'
import { clock, LEAF_KEY } from '../../../test/conformance/storage-clause.ts'
import { type AdoptedChange, type Store, systemScope } from '../../storage/contract.ts'
import { createMemoryStore } from '../../storage/memory-store.ts'
import { ProtocolFault } from './frames.ts'
import { receivedChange, sentRecord } from './sent-records.ts'

const KEYS = {
  replicated: 'root/core/rotation',
  local: 'root/core/former-keys',
  ignored: 'root/core/reload/x',
} as const

/** A store with one record for each list of classes. */
async function logOf(...records: readonly (readonly (keyof typeof KEYS)[])[]): Promise<Store> {
  const store = createMemoryStore({ random: new SeededRandom(3), clock })
  store.setLeafKey(LEAF_KEY)
  for (const [at, classes] of records.entries()) {
    await store.transaction(async (tx) => {
      for (const each of classes) tx.put(systemScope, KEYS[each], Buffer.from(`${each} ${at}`))
    })
  }
  return store
}

test('a secondary gets the operations that are for its family, and no byte of the others', async () => {
  const store = await logOf(['replicated', 'local', 'ignored'], ['ignored'], ['local'], ['replicated'])
  const { historyId } = await store.position()
  const records = await store.records(0, 10)
  const changes = await store.changesSince(0, 10)
  for (const family of ['dr', 'performance'] as const) {
    const allowed = family === 'dr' ? ['replicated', 'local'] : ['replicated']
    for (const [at, record] of records.entries()) {
      const sent = sentRecord(record, family)
      const change = changes[at] ?? assert.fail('there are as many')
      const operations = change.operations.filter((operation) => allowed.includes(operation.class))
      assert.equal(sent === undefined, operations.length === 0, `${family} ${at}`)
      if (sent === undefined) continue
      for (const each of Object.keys(KEYS)) {
        if (!allowed.includes(each)) assert.ok(!sent.includes(`${each} ${at}`), `${family} ${at}: ${each}`)
      }
      const { index, chain, committedAtMs } = change
      assert.deepEqual(receivedChange(sent, family, historyId), {
        origins: [{ family, historyId, index, chain }],
        committedAtMs,
        operations,
      })
    }
  }
})

test('a record of which all is sent is sent as it is stored', async () => {
  const [record] = await (await logOf(['replicated', 'local'])).records(0, 1)
  assert.ok(record !== undefined)
  assert.equal(sentRecord(record, 'dr'), record.record)
})

// With PERFORMANCE=1 SEED=810000601 the simulator found a performance secondary with a place in the log of a DR primary
// that its own primary had followed once.
test('a DR secondary is handed the place in the log for performance on, and no other place of the sender', async () => {
  const peer = await logOf(['replicated'])
  const store = await logOf()
  const [change] = await peer.changesSince(0, 1)
  assert.ok(change !== undefined)
  for (const followed of ['dr', 'performance'] as const) {
    const origin = { family: followed, historyId: Buffer.alloc(16, 7), index: 40, chain: Buffer.alloc(16, 8) }
    const from = await store.lastIndex()
    const adopted: AdoptedChange = { origins: [origin], committedAtMs: 0, operations: change.operations }
    const options = { mode: 'anew', after: { ...origin, index: 0 } } as const
    assert.equal((await store.adopt([adopted], options)).kind, 'adopted')
    const [record] = await store.records(from, 1)
    const { historyId, index, chain } = await store.position()
    for (const family of ['dr', 'performance'] as const) {
      const sent = record && sentRecord(record, family)
      assert.ok(sent !== undefined)
      const isHandedOn = family === 'dr' && followed === 'performance'
      const expected = [{ family, historyId, index, chain }, ...(isHandedOn ? [origin] : [])]
      assert.deepEqual(receivedChange(sent, family, historyId).origins, expected)
    }
    await store.transaction(async (tx) => tx.delete(systemScope, KEYS.replicated))
  }
})

test('T26: a sent record that is damaged, or of a newer format or history, is a fault of the sender', async () => {
  const store = await logOf(['replicated', 'ignored'])
  const { historyId } = await store.position()
  const [record] = await store.records(0, 1)
  const sent = (record && sentRecord(record, 'dr')) ?? assert.fail('it has something to send')
  const changed = Buffer.from(sent)
  changed.writeUInt8(changed.readUInt8(40) ^ 1, 40)
  assert.throws(() => receivedChange(changed, 'dr', historyId), isFault('damaged'))
  assert.throws(() => receivedChange(sent.subarray(0, -1), 'dr', historyId), isFault('damaged'))
  assert.throws(() => receivedChange(sent, 'dr', Buffer.alloc(16, 9)), isFault('damaged'))
})

function isFault(reason: ProtocolFault['reason']): (cause: unknown) => boolean {
  return (cause) => cause instanceof ProtocolFault && cause.reason === reason
}
