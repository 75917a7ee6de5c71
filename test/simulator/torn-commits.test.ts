// F12: what no disk may do is noticed. The last write that a crash keeps is torn. Then the start refuses the store, or
// the verifier finds it; else nothing that is served may be wrong.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StorageCorrupt } from '../../src/storage/errors.ts'
import { testSeed } from '../fixtures/seed.ts'
import { CrashingStore } from './crashing-store.ts'
import { requireSoundImage } from './disk-image.ts'

const RUNS = Number(process.env.RUNS ?? '12')
const SOUND_LIVES = 1

type Notice = 'start' | 'verifier' | 'harmless' | 'nothing torn'

async function noticeOf(seed: number): Promise<Notice> {
  const store = new CrashingStore(seed)
  for (let life = 0; life < SOUND_LIVES; life++) {
    store.check()
    await store.live()
  }
  store.check()
  await store.live('torn')
  if (!store.isTorn) return 'nothing torn'
  try {
    requireSoundImage(store.left)
  } catch (cause) {
    assert.ok(cause instanceof StorageCorrupt)
    // The verifier does not depend on a start that looks first.
    assert.notDeepEqual(store.faults(), [])
    return 'start'
  }
  if (store.faults().length > 0) return 'verifier'
  store.check()
  await store.live()
  store.check()
  return 'harmless'
}

test('F12 T45: a torn commit is refused by the start, found by the verifier, or nothing of it is served', async (t) => {
  const first = testSeed(t)
  const found = new Map<Notice, number>()
  for (let seed = first; seed < first + RUNS; seed++) {
    const notice = await noticeOf(seed).catch((cause: unknown) => {
      throw new Error(`SEED=${seed} RUNS=1 repeats it`, { cause })
    })
    found.set(notice, (found.get(notice) ?? 0) + 1)
  }
  t.diagnostic(JSON.stringify(Object.fromEntries(found)))
  if (RUNS > 1) for (const notice of ['start', 'verifier'] as const) assert.ok((found.get(notice) ?? 0) > 0, notice)
})
