// Large batches on all cores. Idle threads of the pool take a part each, and this thread does the first one. Items are
// checked and refused here; only bytes and the key travel. Very large batches go to the pool whole, in slices: between
// two slices this thread answers other requests, which would otherwise wait for seconds.
import type { Item } from '../../api/fields.ts'
import type { ManyInput } from '../../crypto/batch-cipher.ts'
import { type Packed, pack, unpack, wipePacked } from '../../crypto/encoding/packed.ts'
import type { SlowWork, Split } from '../../lib/slow-work.ts'
import { type BatchRun, type Failed, requireItems, runBatch, Tally, type Work } from './batch.ts'
import type { Prepared } from './crypt.ts'
import type { LoadedRing } from './ring/loaded-ring.ts'
import { type Timed, TimeSlice } from './time-slice.ts'

/** The work of an endpoint on one item, as a whole and in steps. Both must give the same result. */
export type ItemWork<R> = {
  /** All of it, on this thread. @throws Refusal */
  readonly whole: Work<R>
  /** The part before the cipher, on this thread. @throws Refusal */
  readonly prepare: (item: Item) => Prepared
  /** The cipher for the messages of many items, in the pool. Memory in `moved` is handed over, not copied. */
  readonly elsewhere: (input: ManyInput, moved: ArrayBuffer[]) => Promise<Packed>
  /** The part after the cipher; `result` is undefined if the message did not open. @throws Refusal */
  readonly finish: (prepared: Prepared, result: Buffer | undefined, reference: string) => R
  readonly failed: Failed<R>
}

/** Items of 128 bytes from which splitting in two saves time: 2 ms of work (docs/performance.md). */
const LEAST_ITEMS = 512
/** Characters of text that take as long as the item around them. */
const BYTES_PER_ITEM = 3_000
/** Weight from which a batch goes in slices of SLICE_ITEMS; this thread's own part of a slice takes some 5 ms. */
const MANY_ITEMS = 8_192
const SLICE_ITEMS = 1_024
/** Slices of one batch under way at once: enough for a pool of many threads, and never all that the pool accepts. */
const SLICES_AT_ONCE = 8

/** The parts of a mount that split a batch. */
export type SplitParts = { readonly slow: SlowWork } & Timed

/**
 * Runs a batch in the way that fits its size: a small one at once on this thread, a larger one in parts, a very large
 * one in slices.
 * @throws Refusal as `runBatch` does
 */
export function runLargeBatch<R>(
  parts: SplitParts,
  ring: LoadedRing,
  items: readonly Item[],
  work: ItemWork<R>,
): BatchRun<R> | Promise<BatchRun<R>> {
  const weight = items.length < 2 ? 0 : items.reduce((sum, item) => sum + weightOf(item), 0)
  if (weight < LEAST_ITEMS) return runBatch(items, work.whole, work.failed)
  if (weight >= MANY_ITEMS) return runInSlices(parts, ring, items, work)
  const split = parts.slow.split()
  return runInParts(split, ring, items, work).finally(split.end)
}

async function runInParts<R>(
  split: Split,
  ring: LoadedRing,
  items: readonly Item[],
  work: ItemWork<R>,
): Promise<BatchRun<R>> {
  // Requests that were recorded together resume one after the other. After the first await all of them have announced
  // their batches (`split`); after the second all have asked how many there are. Only then does the first batch run. If
  // others wait for this thread anyway, splitting makes more work and saves no time.
  await Promise.resolve()
  const count = split.parts()
  await Promise.resolve()
  return count > 1 ? runSplit(ring, items, work, count) : runBatch(items, work.whole, work.failed)
}

/** Returns the work of an item, in items of 128 bytes. */
function weightOf({ plaintext, ciphertext }: Item): number {
  const text = plaintext ?? ciphertext
  return 1 + (typeof text === 'string' ? text.length / BYTES_PER_ITEM : 0)
}

async function runInSlices<R>(
  { world }: SplitParts,
  ring: LoadedRing,
  items: readonly Item[],
  work: ItemWork<R>,
): Promise<BatchRun<R>> {
  requireItems(items)
  const runs: BatchRun<R>[] = []
  const underWay = new Set<Promise<void>>()
  // If every item of a slice is refused, nothing of it is awaited elsewhere: only this pause lets other requests in.
  const timeSlice = new TimeSlice(world)
  for (const [at, slice] of slicesOf(items).entries()) {
    if (underWay.size >= SLICES_AT_ONCE) await Promise.race(underWay)
    await timeSlice.pause()
    const done = runElsewhere(ring, slice, work).then((run) => {
      runs[at] = run
      underWay.delete(done)
    })
    underWay.add(done)
    // A slice that fails stays in `underWay`, where the next await throws its error.
    done.catch(() => {})
  }
  await Promise.all(underWay)
  return together(runs)
}

/** Cuts the items into slices of about SLICE_ITEMS by weight, in order; each has at least one item. */
function slicesOf(items: readonly Item[]): readonly (readonly Item[])[] {
  const slices: Item[][] = []
  let weight = SLICE_ITEMS
  for (const item of items) {
    if (weight >= SLICE_ITEMS) {
      slices.push([])
      weight = 0
    }
    slices.at(-1)?.push(item)
    weight += weightOf(item)
  }
  return slices
}

async function runSplit<R>(
  ring: LoadedRing,
  items: readonly Item[],
  work: ItemWork<R>,
  parts: number,
): Promise<BatchRun<R>> {
  requireItems(items)
  const size = Math.ceil(items.length / parts)
  const others: Promise<BatchRun<R>>[] = []
  for (let at = size; at < items.length; at += size) others.push(runElsewhere(ring, items.slice(at, at + size), work))
  const rest = Promise.all(others)
  // If this thread's own part throws, the others are not awaited, and their errors must not count as unhandled.
  rest.catch(() => {})
  return together([runBatch(items.slice(0, size), work.whole, work.failed), ...(await rest)])
}

function together<R>(runs: readonly BatchRun<R>[]): BatchRun<R> {
  return {
    results: runs.flatMap(({ results }) => results),
    succeeded: runs.reduce((sum, { succeeded }) => sum + succeeded, 0),
    warnings: [...new Set(runs.flatMap(({ warnings }) => warnings))],
  }
}

async function runElsewhere<R>(ring: LoadedRing, items: readonly Item[], work: ItemWork<R>): Promise<BatchRun<R>> {
  const tally = new Tally(work.failed)
  const results: R[] = []
  const sent: { readonly index: number; readonly prepared: Prepared }[] = []
  items.forEach((item, index) => {
    const prepared = tally.attempt(item, () => work.prepare(item))
    if (prepared.isRefused) results[index] = prepared.result
    // A job has one key and one padding. Items with another version or padding are rare, and are done here.
    else if (isLike(prepared.value, sent[0]?.prepared ?? prepared.value)) sent.push({ index, prepared: prepared.value })
    else results[index] = tally.result(item, (reference) => work.whole(item, reference))
  })
  const done = await cipherOf(ring, sent, work)
  sent.forEach(({ index, prepared }, position) => {
    const item = items[index] ?? {}
    results[index] = tally.result(item, (reference) => work.finish(prepared, done.pieces[position], reference))
  })
  if (done.packed !== undefined) wipePacked(done.packed)
  return tally.run(results)
}

const isLike = (one: Prepared, other: Prepared): boolean =>
  one.version === other.version && one.padding === other.padding

async function cipherOf<R>(
  { type }: LoadedRing,
  sent: readonly { readonly prepared: Prepared }[],
  work: ItemWork<R>,
): Promise<{ readonly pieces: readonly (Buffer | undefined)[]; readonly packed: Packed | undefined }> {
  const first = sent[0]?.prepared
  if (first === undefined) return { pieces: [], packed: undefined }
  const packed = (part: (prepared: Prepared) => Buffer | undefined) => pack(sent.map(({ prepared }) => part(prepared)))
  const { key, use } = first.version
  const messages = packed(({ message }) => message)
  const contexts = use === 'plain' ? undefined : packed(({ context }) => context)
  const nonces = use === 'convergent-1' ? packed(({ nonce }) => nonce) : undefined
  const hasData = sent.some(({ prepared }) => prepared.associatedData !== undefined)
  const associatedData = hasData ? packed((prepared) => prepared.associatedData) : undefined
  const moved = [messages, contexts, nonces, associatedData].flatMap((one) =>
    one === undefined ? [] : [one.bytes, one.lengths],
  )
  const input: ManyInput = {
    type: type.name,
    key,
    use,
    padding: first.padding,
    contexts,
    nonces,
    associatedData,
    messages,
  }
  const result = await work.elsewhere(input, moved)
  return { pieces: unpack(result), packed: result }
}
