// A log of RECORDS records with jumps and restores: verified, read raw, followed whole, pruned, saved and restored.
// `npm run torture:log` is the long form, with a million. What each step took is printed.
import { strict as assert } from 'node:assert'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ReadStore, Snapshot, Store, StoredEntry } from '../../../src/storage/contract.ts'
import { HistoryGone } from '../../../src/storage/errors.ts'
import { continues, decodeRun } from '../../../src/storage/log/change-record.ts'
import { MIN_RECORDS } from '../../../src/storage/log/retention.ts'
import { RECORDS_PER_CHECKPOINT } from '../../../src/storage/log/tree-keeper.ts'
import { followLog } from '../../fixtures/followed-log.ts'
import { pseudoRandom } from '../../fixtures/pseudo-random.ts'
import { testSeed } from '../../fixtures/seed.ts'
import { temporaryDirectory } from '../../fixtures/server-process.ts'
import { LongLog, Steps } from './long-log.ts'

/** What is pruned must lie before the newest MIN_RECORDS, and the holds are in it. */
const LEAST_RECORDS = 12_000
/** Of the log behind the second restore. */
const RECORDS = Math.max(LEAST_RECORDS, Number(process.env.RECORDS ?? '0'))
/** Records before each restore. */
const BEFORE = Math.ceil(RECORDS / 20)
/** Parts of the log behind the last restore; each but the first begins with a promotion. */
const PARTS = [0.03, 0.05, 0.42, 0.5]
const MANY = 1e15
const RUN_BYTES = 4 * 1024 * 1024

/** Two clusters: one writes, one follows. */
type Two = { readonly writer: LongLog; readonly follower: LongLog; readonly folder: string; readonly steps: Steps }

const sizeOf = ({ directory }: LongLog): string =>
  `${Math.round(statSync(join(directory, 'keywright.db')).size / 2 ** 20)} MiB`

/** The snapshot is older than the store that it replaces, and the follower stands where it was taken. */
async function restoreOnce({ writer, follower, folder, steps }: Two, number: number): Promise<void> {
  const file = join(folder, `${number}.snapshot`)
  await steps.take(`followed to snapshot ${number}`, () => followLog(follower.store, writer.store))
  await steps.take(`saved snapshot ${number}`, () => writer.save(file))
  await writer.write(Math.ceil(BEFORE / 10))
  await steps.take(`restored snapshot ${number}`, () => writer.restore(file))
}

/** Writes the log, and returns the indexes behind which its histories begin. */
async function build(two: Two): Promise<readonly number[]> {
  const { writer, steps } = two
  await writer.begin()
  for (const number of [1, 2]) {
    await writer.write(BEFORE)
    await writer.promote()
    await restoreOnce(two, number)
  }
  const parents: number[] = []
  await steps.take(`wrote ${RECORDS} records`, async () => {
    for (const [number, part] of PARTS.entries()) {
      if (number > 0) {
        parents.push(await writer.store.lastIndex())
        await writer.promote()
      }
      await writer.write(Math.round(RECORDS * part) - (number > 0 ? 1 : 0))
    }
  })
  return parents
}

/** Without a fault, the end of the log and the roots as the store knows them; and so many records, if it is said. */
async function requireSound(one: LongLog, expected?: number): Promise<void> {
  const report = one.verify()
  const records = expected ?? report.records
  const { index, ...roots } = await one.store.roots()
  assert.deepEqual([report.faults, report.findings], [[], 0])
  assert.deepEqual([report.index, report.records, report.roots], [index, records, roots])
}

/** Reads all records in their bytes; returns how many there are, and how often their indexes jump. */
async function readRaw(store: ReadStore, from: number): Promise<{ readonly records: number; readonly jumps: number }> {
  let [records, jumps, at] = [0, 0, from]
  let last: ReturnType<typeof decodeRun>[number] | undefined
  for (;;) {
    const run = await store.records(at, 2_000)
    const [first] = run
    if (first === undefined) return { records, jumps }
    for (const change of decodeRun(run)) {
      if (change.index === first.index && last !== undefined) assert.ok(continues(last, change, first.record))
      if (change.index !== at + 1) jumps++
      at = change.index
      last = change
    }
    records += run.length
  }
}

/** Entries that are sent, one after the other. */
async function* sentEntries(snapshot: Snapshot): AsyncGenerator<StoredEntry> {
  for (let after = ''; ; ) {
    const run = await snapshot.stored(after, RUN_BYTES)
    if (run.length === 0) return
    yield* run.filter((entry) => entry.class !== 'ignored')
    after = run.at(-1)?.key ?? ''
  }
}

/** Compares entry by entry, and the roots. */
async function requireEqual(store: Store, peer: Store): Promise<number> {
  const views = [await store.snapshot(), await peer.snapshot()] as const
  const theirs = sentEntries(views[1])
  let count = 0
  for await (const entry of sentEntries(views[0])) {
    const { value: other } = await theirs.next()
    if (other === undefined || !isSame(entry, other)) assert.deepEqual(entry, other)
    count++
  }
  assert.equal((await theirs.next()).done, true, 'the peer has no entry more')
  for (const view of views) await view.close()
  assert.deepEqual((await store.roots()).all, (await peer.roots()).all)
  return count
}

function isSame(one: StoredEntry, other: StoredEntry): boolean {
  const isOfOneKind = one.key === other.key && one.class === other.class
  return isOfOneKind && one.leaf.equals(other.leaf) && one.value.equals(other.value)
}

/** Lets the log be shortened as far as it may: a step follows each commit. */
async function prune(writer: LongLog, copy: number, secondary: number): Promise<number> {
  const store = await writer.open({ retention: { bytes: 1, ms: MANY }, holdCaps: { copy, secondary } })
  await store.roots()
  const steps = Math.ceil(RECORDS / 1_000) + 2
  for (let step = 0; step < steps; step++) await writer.write(1)
  return (await store.retained()).firstIndex
}

/** What is held stays, and the caps win: first that of the copy, then that of the secondary. */
async function requirePruned({ writer, follower, steps }: Two, parents: readonly number[]): Promise<void> {
  const [copyAt = 0, secondaryAt = 0] = parents
  await writer.store.hold({ name: 'copy', kind: 'copy', from: copyAt })
  await writer.store.hold({ name: 'secondary', kind: 'secondary', from: secondaryAt })
  const broken = async () => (await writer.store.retained()).holds.flatMap((hold) => (hold.isBroken ? [hold.name] : []))
  const { firstIndex: first } = await writer.store.retained()
  // The record that follows: indexes jump there.
  const behind = async (at: number) =>
    (await writer.store.records(at, 1))[0]?.index ?? assert.fail(`nothing behind ${at}`)
  const [behindCopy, behindSecondary] = [await behind(copyAt), await behind(secondaryAt)]
  const held = await steps.take('pruned up to the hold of a copy', () => prune(writer, MANY, MANY))
  assert.ok(first < held && held <= behindCopy, `${first} < ${held} <= ${behindCopy}`)
  assert.deepEqual([await broken(), await behind(copyAt)], [[], behindCopy])
  const next = await steps.take('pruned up to the hold of a secondary', () => prune(writer, 1, MANY))
  assert.ok(behindCopy < next && next <= behindSecondary, `${behindCopy} < ${next} <= ${behindSecondary}`)
  assert.deepEqual([await broken(), await behind(secondaryAt)], [['copy'], behindSecondary])
  await assert.rejects(writer.store.records(copyAt, 1), HistoryGone)
  const last = await steps.take('pruned as far as can be', () => prune(writer, 1, 1))
  assert.deepEqual(await broken(), ['copy', 'secondary'])
  await assert.rejects(writer.store.records(secondaryAt, 1), HistoryGone)
  const { records } = await readRaw(writer.store, last - 1)
  const span = Math.min(RECORDS_PER_CHECKPOINT + 512, Math.ceil(RECORDS / 2))
  assert.ok(MIN_RECORDS <= records && records <= MIN_RECORDS + span, `${records} records are kept`)
  await steps.take('verified the pruned store', () => requireSound(writer, records))
  await steps.take('followed the pruned log', () => followLog(follower.store, writer.store))
  await requireEqual(writer.store, follower.store)
}

test(`a log of ${RECORDS} records with jumps and restores is verified, followed, pruned and restored`, async (t) => {
  const random = pseudoRandom(testSeed(t))
  const temporary = temporaryDirectory(process.env.DIRECTORY)
  t.after(() => temporary.cleanUp())
  const folder = temporary.path
  const names = Math.ceil(RECORDS / 20)
  const [writer, follower] = ['writer', 'follower'].map(
    (name) => new LongLog({ directory: join(folder, name), random, names }),
  ) as [LongLog, LongLog]
  t.after(() => Promise.all([writer.close(), follower.close()]))
  const two: Two = { writer, follower, folder, steps: new Steps(t) }
  const { steps } = two
  await Promise.all([writer.open(), follower.open()])
  const parents = await build(two)
  assert.equal((await writer.store.histories()).length, 1 + 2 * 2 + parents.length)
  await steps.take('verified', () => requireSound(writer, RECORDS))
  const { firstIndex } = await writer.store.retained()
  const raw = await steps.take('read raw and decoded', () => readRaw(writer.store, firstIndex - 1))
  assert.deepEqual(raw, { records: RECORDS, jumps: parents.length })
  const followed = await steps.take('followed', () => followLog(follower.store, writer.store))
  assert.equal(followed, RECORDS)
  const entries = await steps.take('compared', () => requireEqual(writer.store, follower.store))
  t.diagnostic(`${entries} entries; ${sizeOf(writer)} and ${sizeOf(follower)}`)
  assert.ok(entries > names)
  await steps.take('opened again', async () => (await writer.open()).roots())
  await requirePruned(two, parents)
  await restoreOnce(two, 3)
  await writer.write(BEFORE)
  await followLog(follower.store, writer.store)
  await requireEqual(writer.store, follower.store)
  await steps.take('verified the follower', () => requireSound(follower))
})
