import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import type { BucketStep } from '../backend.ts'
import type { BucketRow } from '../contract.ts'
import { BucketIndex } from './bucket-index.ts'

/** Rows as a backend keeps them. `entries` are the keys that are there. */
class Rows {
  readonly entries = new Set<string>()
  rows: BucketRow[] = []
  most = 0

  async clearBuckets(): Promise<void> {
    this.rows = []
  }

  async addBuckets({ rows, swept }: BucketStep): Promise<void> {
    const old = this.rows.splice(0, swept).filter(({ key }) => this.entries.has(key))
    this.rows.push(...new Map([...old, ...rows].map((row) => [row.key, row])).values())
    this.most = Math.max(this.most, this.rows.length)
  }
}

/** Keys come and go as `step` says, each made a row of at once. */
async function after(steps: number, step: (at: number) => { readonly comes: string; readonly goes?: string }) {
  const rows = new Rows()
  const index = new BucketIndex(rows)
  for (let at = 0; at < steps; at++) {
    const { comes, goes } = step(at)
    if (goes !== undefined) {
      rows.entries.delete(goes)
      index.remove(goes)
    }
    rows.entries.add(comes)
    index.add({ key: comes, bucket: at })
    await index.store()
  }
  return rows
}

test('rows of keys that are gone melt away, so there are never twice as many as keys', async () => {
  const rows = await after(3_000, (at) => ({ comes: `k${at}`, ...(at < 500 ? {} : { goes: `k${at - 500}` }) }))
  assert.equal(rows.entries.size, 500)
  assert.ok(rows.most <= 1_000, `${rows.most}`)
  assert.deepEqual(new Set(rows.rows.map(({ key }) => key)).intersection(rows.entries), rows.entries)
})

test('a key that goes and returns for ever has few rows', async () => {
  const rows = await after(3_000, () => ({ comes: 'k', goes: 'k' }))
  assert.ok(rows.most <= 2, `${rows.most}`)
})

test('keys in memory become rows in steps, and those that go before never do', () => {
  const index = new BucketIndex(new Rows())
  for (let at = 0; at < 199; at++) index.add({ key: `k${at}`, bucket: at })
  index.remove('k0')
  index.add({ key: 'more', bucket: 7 })
  assert.equal(index.due(), undefined)
  index.add({ key: 'last', bucket: 8 })
  const step = index.due()
  assert.ok(step !== undefined)
  assert.deepEqual([step.rows.length, step.swept], [200, 0])
  index.add({ key: 'later', bucket: 9 })
  index.stored(step)
  assert.deepEqual([...index.recent().keys()], ['later'])
})

test('keys that went are swept for in steps, too', () => {
  const index = new BucketIndex(new Rows())
  for (let at = 0; at < 199; at++) index.remove(`k${at}`)
  assert.equal(index.due(), undefined)
  index.remove('last')
  const step = index.due()
  assert.deepEqual(step, { rows: [], swept: 400 })
  if (step !== undefined) index.stored(step)
  assert.equal(index.due(), undefined)
})
