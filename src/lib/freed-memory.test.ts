import assert from 'node:assert/strict'
import { test } from 'node:test'
import { overwriteFreed } from './freed-memory.ts'

const { header } = process.report.getReport() as { readonly header: { readonly glibcVersionRuntime?: string } }
const skip = header.glibcVersionRuntime === undefined && 'another allocator than that of glibc'

/** Behind the first bytes of a piece, where the allocator keeps its own. */
const BEHIND = 32
const MARK = 0xa7
/** One such byte stands in any memory by chance. */
const RUN = Buffer.alloc(16, MARK)

const marked = (pieces: readonly Buffer[]): number => pieces.filter((piece) => piece.includes(RUN, BEHIND)).length
const take = (bytes: number): Buffer[] => Array.from({ length: 7 }, () => Buffer.allocUnsafeSlow(bytes))
const free = (pieces: readonly Buffer[]): void => {
  for (const piece of pieces) (piece.buffer as ArrayBuffer).transfer(0)
}

/** How many of the pieces that come next still have the mark. */
function leftAfter(bytes: number, work: () => void): number {
  const secrets = take(bytes)
  for (const each of secrets) each.fill(MARK)
  free(secrets)
  work()
  return marked(take(bytes))
}

// The runtime may let go of some a moment later, while it collects garbage: the best of five looks counts.
const LOOKS = [1, 2, 3, 4, 5]
for (const bytes of [96, 256, 1_000, 1_216]) {
  test(`what this thread freed last is overwritten: pieces of ${bytes} bytes`, { skip }, () => {
    const left = LOOKS.map(() => leftAfter(bytes, () => overwriteFreed(1 << 20)))
    assert.equal(Math.min(...left), 0, String(left))
  })
}

test('what nobody overwrites is found by the same look', { skip }, () => {
  assert.ok(Math.max(...LOOKS.map(() => leftAfter(96, () => {}))) > 0)
})
