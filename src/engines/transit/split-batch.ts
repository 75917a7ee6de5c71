// Large batches on all cores: threads of the pool that have nothing to do take a part each, and this thread does the
// first one. What can be refused is refused here; what travels is bytes and the key. Very large ones go to the pool
// whole, in slices: between two of them this thread answers others, who would wait for seconds.
import type { Item } from '../../api/fields.ts'
import type { ManyInput } from '../../crypto/batch-cipher.ts'
import { type Packed, pack, unpack, wipePacked } from '../../crypto/encoding/packed.ts'
import type { SlowWork, Split } from '../../lib/slow-work.ts'
import { type BatchRun, type Failed, requireItems, runBatch, Tally, type Work } from './batch.ts'
import type { Prepared } from './crypt.ts'
import type { LoadedRing } from './ring/loaded-ring.ts'
import { type Timed, TimeSlice } from './time-slice.ts'

/** What an endpoint does with an item, in one go and in steps. */
export type ItemWork<R> = {
  /** All of it. @throws Refusal */
  readonly whole: Work<R>
  /** What comes before the cipher. @throws Refusal */
  readonly prepare: (item: Item) => Prepared
  /** The cipher, for the prepared messages of many items. */
  readonly elsewhere: (input: ManyInput, moved: ArrayBuffer[]) => Promise<Packed>
  /** What comes after it; undefined: the message did not open. @throws Refusal */
  readonly finish: (prepared: Prepared, result: Buffer | undefined, reference: string) => R
  readonly failed: Failed<R>
}

/** Items of 128 bytes from which splitting in two saves time: 2 ms of work (docs/performance.md). */
const LEAST_ITEMS = 512
/** As many bytes take as long as an item itself. */
const BYTES_PER_ITEM = 3_000
/** From here on in slices of SLICE_ITEMS: what is left to do here for one of them takes some 5 ms. */
const MANY_ITEMS = 8_192
const SLICE_ITEMS = 1_024
/** Slices of one batch under way at once: enough for a pool of many threads, and never all that it takes. */
const SLICES_AT_ONCE = 8

export type SplitParts = { readonly slow: SlowWork } & Timed

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
  // Requests that are recorded together go on one behind the other: first each says that it is there, then each asks
  // whether others are, and only then the first is done. Where they wait for this thread in any case, to split them
  // makes more work and gains no time.
  await Promise.resolve()
  const count = split.parts()
  await Promise.resolve()
  return count > 1 ? runSplit(ring, items, work, count) : runBatch(items, work.whole, work.failed)
}

/** In items of 128 bytes. */
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
  // Where every item of a slice is refused nothing of it goes elsewhere, and nobody else would have a turn.
  const turns = new TimeSlice(world)
  for (const [at, slice] of slicesOf(items).entries()) {
    if (underWay.size >= SLICES_AT_ONCE) await Promise.race(underWay)
    await turns.pause()
    const done = runElsewhere(ring, slice, work).then((run) => {
      runs[at] = run
      underWay.delete(done)
    })
    underWay.add(done)
    // One that fails stays under way, and is found there.
    done.catch(() => {})
  }
  await Promise.all(underWay)
  return together(runs)
}

/** In order; each of one item at least. */
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
  // Where this thread's own part fails, nobody asks how the others ended.
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
    // One key a job: items of another version, or with another padding, are rare.
    else if (isLike(prepared.value, sent[0]?.prepared ?? prepared.value)) sent.push({ index, prepared: prepared.value })
    else results[index] = tally.result(item, (reference) => work.whole(item, reference))
  })
  const done = await cipherOf(ring, sent, work)
  sent.forEach(({ index, prepared }, place) => {
    const item = items[index] ?? {}
    results[index] = tally.result(item, (reference) => work.finish(prepared, done.pieces[place], reference))
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
