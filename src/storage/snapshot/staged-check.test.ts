import assert from 'node:assert/strict'
import { test } from 'node:test'
import { realWorld } from '../../lib/world.ts'
import type { Staging } from '../driver.ts'
import { SnapshotDamaged } from './snapshot-format.ts'
import { checkStaged } from './staged-check.ts'

const ROOT = Buffer.alloc(32, 1)
const CHECK = { index: 7, histories: [], entries: 3, replicated: ROOT, local: ROOT, leftOut: [], keys: undefined }

/** A staged store that was verified with these findings. */
function staged(findings: readonly string[], { entries = 3, local = ROOT } = {}): Pick<Staging, 'settle' | 'verify'> {
  return {
    settle: async () => {},
    verify: async ({ onFinding }) => {
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
        entries,
        records: 0,
        unchecked: [],
        findings: findings.length,
        roots: { all: ROOT, replicated: ROOT, local },
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

test('a store with another number of entries, or another root, is not that of the snapshot', async () => {
  await assert.rejects(check(staged([], { entries: 2 })), /Of 3 entries 2 were restored/)
  await assert.rejects(check(staged([], { local: Buffer.alloc(32, 2) })), SnapshotDamaged)
})
