import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ReadSet } from '../commit/read-set.ts'
import { REMEMBERED_MS, RecentChanges } from './recent-changes.ts'

const put = (key: string) => [{ key, appears: true }]
const reading = (key: string): ReadSet => {
  const reads = new ReadSet()
  reads.addKey(key)
  return reads
}

test('only what changed after the start counts', () => {
  const recent = new RecentChanges(10)
  recent.add(11, put('a'), 0)
  recent.add(12, put('b'), 0)
  assert.equal(recent.touchedSince(10, reading('a')), true)
  assert.equal(recent.touchedSince(11, reading('a')), false)
  assert.equal(recent.touchedSince(11, reading('b')), true)
  assert.equal(recent.touchedSince(12, reading('b')), false)
})

test('a transaction that began before what is remembered has lost', () => {
  const recent = new RecentChanges(0, 2)
  for (const index of [1, 2, 3]) recent.add(index, put(`k${index}`), 0)
  recent.trim(3, 0)
  assert.equal(recent.touchedSince(0, reading('other')), true)
  assert.equal(recent.touchedSince(1, reading('other')), false)
  assert.equal(recent.touchedSince(1, reading('k2')), true)
})

test('what is not yet committed is not forgotten, and can be taken back', () => {
  const recent = new RecentChanges(0, 1)
  recent.add(1, put('a'), 0)
  recent.add(2, put('b'), 0)
  recent.trim(0, 0)
  assert.equal(recent.touchedSince(0, reading('a')), true)
  assert.equal(recent.touchedSince(0, reading('other')), false)
  recent.takeBackAfter(0)
  assert.equal(recent.touchedSince(0, reading('a')), false)
})

test('only what was added behind an index is taken back', () => {
  const recent = new RecentChanges(0)
  for (const index of [1, 2, 3]) recent.add(index, put(`k${index}`), 0)
  recent.takeBackAfter(2)
  assert.equal(recent.touchedSince(0, reading('k2')), true)
  assert.equal(recent.touchedSince(0, reading('k3')), false)
})

test('a long series of changes is remembered in bounded memory', () => {
  const recent = new RecentChanges(0, 100)
  for (let index = 1; index <= 10_000; index++) {
    recent.add(index, put(`k${index}`), 0)
    recent.trim(index, 0)
  }
  assert.equal(recent.touchedSince(9_899, reading('none')), true)
  assert.equal(recent.touchedSince(9_900, reading('none')), false)
  assert.equal(recent.touchedSince(9_900, reading('k9901')), true)
})

test('what is older than a transaction runs is forgotten, though there is room for it', () => {
  const recent = new RecentChanges(0)
  for (const [index, atMs] of [
    [1, 0],
    [2, 1],
    [3, REMEMBERED_MS],
  ] as const)
    recent.add(index, put(`k${index}`), atMs)
  recent.trim(2, REMEMBERED_MS)
  assert.equal(recent.touchedSince(0, reading('none')), false)
  recent.trim(2, REMEMBERED_MS + 1)
  assert.equal(recent.touchedSince(0, reading('none')), true)
  assert.equal(recent.touchedSince(1, reading('k1')), false)
  assert.equal(recent.touchedSince(1, reading('k2')), true)
  // The third may be taken back.
  recent.trim(2, 10 * REMEMBERED_MS)
  assert.equal(recent.touchedSince(2, reading('k3')), true)
  recent.takeBackAfter(2)
  assert.equal(recent.touchedSince(2, reading('k3')), false)
})

test('a list is touched by what comes and goes, a scan by every change in its range', () => {
  const names = new ReadSet()
  names.addNames('p/')
  assert.equal(names.isTouchedBy({ key: 'p/a/b', appears: true }), true)
  assert.equal(names.isTouchedBy({ key: 'p/a/b', appears: false }), false)
  assert.equal(names.isTouchedBy({ key: 'q/a', appears: true }), false)
  const entries = new ReadSet()
  entries.addEntries('p/', 'p/c', 'p/f')
  for (const [key, expected] of [
    ['p/c', false],
    ['p/c!', true],
    ['p/f', true],
    ['p/g', false],
    ['q/d', false],
  ] as const) {
    assert.equal(entries.isTouchedBy({ key, appears: false }), expected, key)
  }
})
