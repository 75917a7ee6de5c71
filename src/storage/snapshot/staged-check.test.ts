import assert from 'node:assert/strict'
import { test } from 'node:test'
import { realWorld } from '../../lib/world.ts'
import type { StoredEntry } from '../contract.ts'
import type { Staging } from '../driver.ts'
import { SnapshotDamaged } from './snapshot-format.ts'
import { checkStaged, EntriesDigest } from './staged-check.ts'

const ROOT = Buffer.alloc(32, 1)
const LEAF = Buffer.alloc(16, 1)
const A: StoredEntry = { key: 'a', class: 'replicated', leaf: LEAF, value: Buffer.from('a') }
const B: StoredEntry = { key: 'b', class: 'ignored', leaf: Buffer.alloc(0), value: Buffer.from('b') }
const ADDED: StoredEntry = { ...B, key: 'ab' }
const CHECK = { index: 7, histories: [], entries: 3, taken: digestOf(A, B), added: [ADDED.key], keys: undefined }

function digestOf(...entries: readonly StoredEntry[]): Buffer {
  const digest = new EntriesDigest()
  digest.take(entries)
  return digest.end()
}

/** A staged store that was verified with these findings. */
function staged(findings: readonly string[], entries = [A, ADDED, B]): Pick<Staging, 'settle' | 'verify'> {
  return {
    settle: async () => {},
    verify: async ({ onEntry, onFinding }) => {
      for (const entry of entries) onEntry?.(entry)
      for (const finding of findings) {
        try {
          onFinding(finding)
        } catch (cause) {
          // As the check of a store does: whatever fails in a part of it is one more finding.
          onFinding((cause as Error).message)
        }
      }
      return {
        index: 7,
        entries: entries.length,
        records: 0,
        unchecked: [],
        findings: findings.length,
        roots: { all: ROOT, replicated: ROOT, local: ROOT },
      }
    },
  }
}
const check = (store: Pick<Staging, 'settle' | 'verify'>): Promise<void> =>
  checkStaged(store as Staging, CHECK, realWorld().random)

test('a staged store that is sound and whole passes', async () => {
  await check(staged([]))
})

test('the first finding is the reason, said once', async () => {
  const message = 'What was restored is not sound: an entry is torn'
  await assert.rejects(check(staged(['an entry is torn', 'a root differs'])), { name: 'SnapshotDamaged', message })
})

test('a store with another number of entries, or another entry, is not that of the snapshot', async () => {
  await assert.rejects(check(staged([], [A, B])), /Of 3 entries 2 were restored/)
  for (const other of [
    { ...A, key: 'aa' },
    { ...A, class: 'local' as const },
    { ...A, leaf: Buffer.alloc(16, 2) },
    { ...A, value: Buffer.from('b') },
    { ...A, leaf: LEAF.subarray(1), value: Buffer.from('\x01a') },
  ]) {
    await assert.rejects(check(staged([], [other, ADDED, B])), SnapshotDamaged)
  }
})

test('entries give one digest, however many come at once', () => {
  const digest = new EntriesDigest()
  for (const entry of [A, B]) digest.take([entry])
  assert.deepEqual(digest.end(), digestOf(A, B))
  assert.notDeepEqual(digestOf(B, A), digestOf(A, B))
})
