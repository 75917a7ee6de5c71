// The outcome of each fault, in a file from which a run can go on, and the figures of all.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { RuleName } from './faults.ts'

/** A fault and its outcome. */
export type Planted = {
  readonly path: string
  readonly line: number
  readonly rule: RuleName
  /** The text that was there; `to` is the one that replaced it. */
  readonly from: string
  readonly to: string
  /** The line and the place in it: they find the fault again after other lines have moved. */
  readonly source: string
  readonly column: number
  /** `unplanted`: the fault gives wrong types. */
  readonly verdict: 'noticed' | 'survived' | 'unplanted'
  /** The test file and the test that noticed it; or the number of test files that did not. */
  readonly by: string
  /** The reason why no test can notice a survivor, written in by a person. */
  readonly equivalent?: string
}

const IDENTITY = ['path', 'rule', 'source', 'column', 'from', 'to'] as const

/** The outcomes of all runs with one seed. */
export type Record = { seed: number; planted: Planted[] }

/** Reads the file; an empty record if there is none. */
export function readRecord(path: string, seed: number): Record {
  if (!existsSync(path)) return { seed, planted: [] }
  return JSON.parse(readFileSync(path, 'utf8')) as Record
}

/** Writes the file whole or not at all: a run may be ended at any time. */
export function writeRecord(path: string, record: Record): void {
  writeFileSync(`${path}.new`, `${JSON.stringify(record, null, 1)}\n`)
  renameSync(`${path}.new`, path)
}

/** True for the same fault, wherever its line is now. */
export function isSame(a: Pick<Planted, (typeof IDENTITY)[number]>, b: typeof a): boolean {
  return IDENTITY.every((name) => a[name] === b[name])
}

/** Returns the figures, and every survivor. */
export function summary({ seed, planted }: Record): string[] {
  const count = (verdict: Planted['verdict']): number => planted.filter((each) => each.verdict === verdict).length
  const survivors = planted.filter(({ verdict }) => verdict === 'survived')
  const real = survivors.filter(({ equivalent }) => equivalent === undefined)
  const meant = count('noticed') + real.length
  const percent = meant === 0 ? 100 : (count('noticed') / meant) * 100
  const figures = [
    `${count('noticed') + survivors.length} planted`,
    `${count('noticed')} noticed`,
    `${survivors.length} survived`,
    `${survivors.length - real.length} of them equivalent: ${percent.toFixed(1)} % noticed`,
  ]
  return [
    ...survivors.map(({ equivalent, ...each }) => `survived: ${describe(each)}${equivalent ? ` (${equivalent})` : ''}`),
    `seed ${seed}: ${figures.join(', ')}; ${count('unplanted')} had wrong types`,
  ]
}

/** Returns a fault as one line for a person. */
export function describe({ path, line, rule, from, to }: Omit<Planted, 'equivalent'>): string {
  return `${path}:${line} ${rule}: ${short(from)} -> ${short(to)}`
}

function short(text: string): string {
  const flat = text.trim().replace(/\s+/g, ' ')
  return flat.length > 100 ? `${flat.slice(0, 97)}...` : flat || 'nothing'
}
