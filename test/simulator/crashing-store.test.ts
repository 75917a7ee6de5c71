// F12, I1, I2, I4, I5, I6: whenever the power goes, a start finds every acknowledged change, and position, log, entries
// and tree of one moment. RUNS: how many stores live and crash; `npm run torture:disk` is the long form.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testSeed } from '../fixtures/seed.ts'
import { CrashingStore } from './crashing-store.ts'

const RUNS = Number(process.env.RUNS ?? '8')
const LIVES = 6

async function run(seed: number): Promise<readonly string[]> {
  const store = new CrashingStore(seed)
  for (let life = 0; life < LIVES; life++) {
    store.check()
    await store.live()
  }
  store.check()
  return store.starts
}

test('F12 T20 T45: a store that crashes at any moment holds what it acknowledged, and is of one moment', async (t) => {
  const first = testSeed(t)
  for (let seed = first; seed < first + RUNS; seed++) {
    await run(seed).catch((cause: unknown) => {
      throw new Error(`SEED=${seed} RUNS=1 repeats it`, { cause })
    })
  }
})

test('F12: a seed repeats what happened to a store, to the last byte', async (t) => {
  const seed = testSeed(t)
  assert.deepEqual(await run(seed), await run(seed))
})
