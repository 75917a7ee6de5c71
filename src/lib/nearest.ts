// Finds the known word that was meant by an unknown one, for the hint of an error message.
import { asciiLowerCase } from './ascii.ts'

/** Longer words are not compared: this bounds the size of the table. */
const MAX_WORD_LENGTH = 64

/**
 * Returns the candidate with the fewest mistakes (a letter too many, missing, wrong, or two swapped), the first of
 * equals. Undefined if none is near: one mistake is allowed for up to five letters, two for up to eight, otherwise
 * three.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > MAX_WORD_LENGTH) return undefined
  const meant = asciiLowerCase(word)
  let best: string | undefined
  let fewest = tolerance(word.length) + 1
  for (const candidate of candidates) {
    // The difference of the lengths is a lower bound of the mistakes.
    if (Math.abs(candidate.length - word.length) >= fewest) continue
    const mistakes = editDistance(meant, asciiLowerCase(candidate))
    if (mistakes >= fewest) continue
    best = candidate
    fewest = mistakes
  }
  return best
}

function tolerance(length: number): number {
  if (length <= 5) return 1
  return length <= 8 ? 2 : 3
}

/** Optimal string alignment: row `i` holds the distances of the first `i` letters of `a` to every start of `b`. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = cell(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      let best = Math.min(cell(last, j) + 1, cell(row, j - 1) + 1, replaced)
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (swapped) best = Math.min(best, cell(beforeLast, j - 2) + 1)
      row.push(best)
    }
    beforeLast = last
    last = row
  }
  return cell(last, b.length)
}

function cell(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY
}
