import assert from 'node:assert/strict'
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { SeededRandom } from '../../../test/conformance/seeded-random.ts'
import { testSeed } from '../../../test/fixtures/seed.ts'
import { openStore } from '../commit/transactional-store.ts'
import { type Store, systemScope } from '../contract.ts'
import { StorageCorrupt, StorageFull } from '../errors.ts'
import { SqliteBackend } from './sqlite-backend.ts'
import { openSqliteStore } from './sqlite-store.ts'

const random = new SeededRandom(1)
const clock = { nowMs: () => 1_700_000_000_000, monotonicMs: () => 0 }
const COMMITS = 12
/** Flips tried in one run; each opens a store. */
const FLIPS = Number(process.env.JOURNAL_FLIPS ?? 40)

const directory = mkdtempSync(join(tmpdir(), 'keywright-journal-'))
test.after(() => rmSync(directory, { recursive: true }))
const live = join(directory, 'live')
const copy = join(directory, 'copy')
const file = join(copy, 'keywright.db')
const journal = `${file}-wal`

function open(place: string): Promise<Store> {
  return openSqliteStore({ directory: place, clock, random })
}

// A store as a killed process leaves it: twelve commits in the journal, none of them in the file.
const store = await open(live)
store.setLeafKey(Buffer.alloc(32, 1))
for (let number = 1; number <= COMMITS; number++) {
  await store.transaction(async (tx) => tx.put(systemScope, `root/sys/policy/p${number}`, random.bytes(100)))
}
await (await open(copy)).close()
const soundFile = join(directory, 'sound')
const soundJournal = join(directory, 'sound-wal')
copyFileSync(join(live, 'keywright.db'), soundFile)
copyFileSync(join(live, 'keywright.db-wal'), soundJournal)
await store.close()
const soundBytes = readFileSync(soundJournal)
const frameBytes = 24 + soundBytes.readUInt32BE(8)
const frames = (soundBytes.length - 32) / frameBytes

/** Index that a store shows after `change` has altered its journal; `change` returns the bytes that are left. */
async function reopenWith(change: (bytes: Buffer) => Buffer): Promise<number | 'refused'> {
  const bytes = Buffer.from(soundBytes)
  copyFileSync(soundFile, file)
  writeFileSync(journal, change(bytes))
  for (const path of [file, journal]) chmodSync(path, 0o600)
  rmSync(`${file}-shm`, { force: true })
  try {
    const reopened = await open(copy)
    const index = await reopened.lastIndex()
    assert.equal((await reopened.scan('', '', 100)).length, index, 'entries and log agree')
    await reopened.close()
    return index
  } catch (error) {
    assert.ok(error instanceof StorageCorrupt, String(error))
    return 'refused'
  }
}

function flip(bytes: Buffer, at: number, bit = at % 8): Buffer {
  bytes[at] = (bytes[at] ?? 0) ^ (1 << bit)
  return bytes
}

test('a sound journal is read to its end', async () => {
  assert.equal(await reopenWith((bytes) => bytes), COMMITS)
})

test('a journal that is cut anywhere shows whole commits up to there', async () => {
  for (let kept = 0; kept <= frames; kept++) {
    const index = await reopenWith((bytes) => bytes.fill(0, 32 + kept * frameBytes))
    assert.ok(typeof index === 'number' && index <= COMMITS)
    if (kept === frames) assert.equal(index, COMMITS)
  }
  for (const length of [0, 1, 31, 32, 33, 32 + frameBytes - 1]) {
    assert.equal(await reopenWith((bytes) => bytes.subarray(0, length)), 0, `cut at ${length}`)
  }
})

test('P-04: a bit that flips in the header is noticed', async () => {
  for (let at = 0; at < 32; at++) assert.equal(await reopenWith((bytes) => flip(bytes, at)), 'refused', `byte ${at}`)
})

test('P-04: no flipped bit makes more vanish than the last commit', async (t) => {
  const flips = new SeededRandom(testSeed(t))
  let refused = 0
  for (let round = 0; round < FLIPS; round++) {
    const at = 32 + flips.below(soundBytes.length - 32)
    const index = await reopenWith((bytes) => flip(bytes, at, flips.below(8)))
    if (index === 'refused') refused++
    else assert.ok(index >= COMMITS - 1, `a flip in byte ${at} left ${index} of ${COMMITS} commits`)
  }
  assert.ok(refused > FLIPS / 2, `${refused} of ${FLIPS} flips were refused`)
})

test('P-04: a last commit that was torn is cut off', async () => {
  let first = frames - 1
  while (soundBytes.readUInt32BE(32 + (first - 1) * frameBytes + 4) === 0) first--
  assert.ok(first < frames - 1, 'the last commit has several frames')
  const index = await reopenWith((bytes) => flip(bytes, 32 + first * frameBytes + 100))
  assert.equal(index, COMMITS - 1)
})

test('P-04: two frames that changed places are noticed', async () => {
  const swapped = await reopenWith((bytes) => {
    const first = Buffer.from(bytes.subarray(32, 32 + frameBytes))
    bytes.copyWithin(32, 32 + frameBytes, 32 + 2 * frameBytes)
    first.copy(bytes, 32 + frameBytes)
    return bytes
  })
  assert.equal(swapped, 'refused')
})

test('what a failed append left in the journal is no damage', async (t) => {
  const place = mkdtempSync(join(directory, 'full-'))
  await (await open(place)).close()
  const path = join(place, 'keywright.db')
  const connection = new DatabaseSync(path)
  // So few pages in memory that a large transaction is written to the journal before its end.
  connection.exec('PRAGMA cache_size = 5; PRAGMA wal_autocheckpoint = 0')
  const full = await openStore(new SqliteBackend(path, connection), { clock })
  t.after(() => full.close())
  full.setLeafKey(Buffer.alloc(32, 1))
  const put = (name: string, bytes: number) =>
    full.transaction(async (tx) => {
      for (let part = 0; part < 10; part++) tx.put(systemScope, `root/sys/policy/${name}-${part}`, random.bytes(bytes))
    })
  await put('a', 10)
  const before = statSync(`${path}-wal`).size
  connection.exec('PRAGMA max_page_count = 100')
  await assert.rejects(put('b', 50_000), StorageFull)
  assert.ok(statSync(`${path}-wal`).size > before + 10 * frameBytes, 'nothing was left in the journal')
  await put('c', 10)
  for (const end of ['', '-wal']) copyFileSync(path + end, file + end)
  rmSync(`${file}-shm`, { force: true })
  const reopened = await open(copy)
  assert.equal(await reopened.lastIndex(), 2)
  await reopened.close()
})
