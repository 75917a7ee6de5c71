// Judges a run of the tests. An exact test is right or wrong. A proof that fails is run once more by itself. If it
// fails again it is broken. If it passes it is unsteady, which is reported, and tolerated for two files.
import type { Failure, FileResult } from './test-results.ts'
import { isProof } from './tree.ts'

/** With more unsteady files a run proves too little. */
export const MOST_UNSTEADY = 2

/** A row of test/proofs/unsteady.json. */
export type KnownUnsteady = {
  readonly file: string
  /** The last day on which it may be unsteady, as `2026-12-31`. */
  readonly until: string
  readonly reason: string
}
/** The results of both runs, by file. */
export type Runs = {
  readonly first: ReadonlyMap<string, FileResult>
  /** Results of proofs that were run again. A failed proof that is missing was not. */
  readonly second: ReadonlyMap<string, FileResult>
}
/** A proof that failed, and then passed. */
export type Unsteady = {
  readonly file: string
  /** Failures of the first run. */
  readonly failures: readonly Failure[]
  readonly seeds: readonly string[]
  readonly known: KnownUnsteady | undefined
}
/** The judgement of a run. */
export type Verdict = {
  /** Results by file, of its last run. */
  readonly files: ReadonlyMap<string, FileResult>
  readonly failures: readonly Failure[]
  readonly unsteady: readonly Unsteady[]
  /** Faults of the run beside failed tests, a sentence each. */
  readonly faults: string[]
}

/** Returns the proofs to be run once more, in the order in which they ended. */
export function failedProofs(first: ReadonlyMap<string, FileResult>): string[] {
  return [...first].filter(([file, { failures }]) => isProof(file) && failures.length > 0).map(([file]) => file)
}

/** Judges both runs. `today` has the form `2026-12-31`. */
export function judge({ first, second }: Runs, known: readonly KnownUnsteady[], today: string): Verdict {
  const files = new Map([...first, ...second])
  const unsteady = [...second]
    .filter(([, { failures }]) => failures.length === 0)
    .map(([file]) => {
      const { failures = [], seeds = [] } = first.get(file) ?? {}
      return { file, failures, seeds, known: known.find((row) => row.file === file) }
    })
  const faults = unsteady.flatMap(({ file, known: row }) =>
    row !== undefined && row.until < today ? [`${file} is unsteady for longer than ${row.until}: mend it`] : [],
  )
  for (const { file } of unsteady) {
    const before = new Set(first.get(file)?.skipped.map(({ title }) => title))
    const left = second.get(file)?.skipped.filter(({ title }) => !before.has(title)) ?? []
    faults.push(...left.map(({ title }) => `${title} was skipped when its file was run once more, which shows nothing`))
  }
  if (unsteady.length > MOST_UNSTEADY)
    faults.push(`${unsteady.length} proofs are unsteady, at most ${MOST_UNSTEADY} may be`)
  return { files, failures: [...files.values()].flatMap(({ failures }) => failures), unsteady, faults }
}
