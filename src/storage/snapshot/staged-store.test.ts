import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventLoop } from '../../lib/world.ts'
import { MAX_VALUE_BYTES, type StoredEntry } from '../contract.ts'
import type { Staging } from '../driver.ts'
import { LEAF_BYTES } from '../log/leaf.ts'
import { SnapshotDamaged, type SnapshotHeader } from './snapshot-format.ts'
import { stageSnapshot } from './staged-store.ts'

const KEY = 'root/sys/policy/b'
const GOOD: StoredEntry = { key: KEY, class: 'replicated', leaf: Buffer.alloc(LEAF_BYTES, 1), value: Buffer.from('b') }
const SEAL_CONFIG: StoredEntry = {
  key: 'root/core/seal-config',
  class: 'ignored',
  leaf: Buffer.alloc(0),
  value: GOOD.value,
}

/** Stages entries that an attacker chose; what was written, and whether it was dropped. */
async function staged(entries: readonly StoredEntry[]) {
  const written: string[] = []
  let isDropped = false
  const staging: Pick<Staging, 'begin' | 'drop'> = {
    begin: async () => ({
      write: async (taken) => void written.push(...taken.map(({ key }) => key)),
      close: async () => {},
    }),
    drop: async () => {
      isDropped = true
    },
  }
  const chunks = (async function* () {
    yield { kind: 'entries' as const, entries }
  })()
  const read = { header: {} as SnapshotHeader, chunks }
  const options = {
    staging: staging as Staging,
    position: { index: 0, epoch: 1 },
    openKeyring: () => undefined,
    historyId: Buffer.alloc(16),
    nowMs: 0,
    ticks: eventLoop,
    inspect: () => {},
    isLeftOut: () => false,
    added: async () => [],
    check: async () => {},
  }
  const cause: unknown = await stageSnapshot(read as Parameters<typeof stageSnapshot>[0], options).then(
    () => undefined,
    (error: unknown) => error,
  )
  return { cause, written, isDropped }
}

const REFUSED: readonly { readonly name: string; readonly entry: Partial<StoredEntry>; readonly says: RegExp }[] = [
  { name: 'a key that no store has', entry: { key: 'nowhere' }, says: /cannot be stored as replicated/ },
  { name: 'a class that its key does not have', entry: { class: 'ignored' }, says: /cannot be stored as ignored/ },
  { name: 'the key before it', entry: { key: 'root/sys/policy/a' }, says: /root\/sys\/policy\/a out of order/ },
  { name: 'a key that was there', entry: {}, says: /root\/sys\/policy\/b out of order/ },
  {
    name: 'a leaf that is short',
    entry: { key: `${KEY}c`, leaf: Buffer.alloc(LEAF_BYTES - 1) },
    says: /leaf or value of a wrong/,
  },
  { name: 'no leaf', entry: { key: `${KEY}c`, leaf: Buffer.alloc(0) }, says: /leaf or value of a wrong/ },
  {
    name: 'a value that is too long',
    entry: { key: `${KEY}c`, value: Buffer.alloc(MAX_VALUE_BYTES + 1) },
    says: /leaf or value of a wrong/,
  },
]
for (const { name, entry, says } of REFUSED) {
  test(`D-06: an entry with ${name} ends the staging, and nothing of it is left`, async () => {
    const { cause, isDropped, written } = await staged([GOOD, { ...GOOD, ...entry }])
    assert.ok(cause instanceof SnapshotDamaged, String(cause))
    assert.match(cause.message, says)
    assert.deepEqual([isDropped, written], [true, []])
  })
}

test('D-06: an entry that is not replicated has no leaf', async () => {
  const { cause } = await staged([{ ...SEAL_CONFIG, leaf: Buffer.alloc(LEAF_BYTES) }])
  assert.match(String(cause), /leaf or value of a wrong length/)
})

test('the longest value is taken, and a snapshot without an end is none', async () => {
  const longest = { ...GOOD, key: `${KEY}c`, value: Buffer.alloc(MAX_VALUE_BYTES) }
  const { cause, isDropped, written } = await staged([SEAL_CONFIG, GOOD, longest])
  assert.deepEqual(written, [SEAL_CONFIG.key, GOOD.key, longest.key])
  assert.match(String(cause), /The snapshot has no end/)
  assert.equal(isDropped, true)
})
