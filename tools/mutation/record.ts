// What became of the faults, in a file that a run can be continued from, and the figures of it.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { RuleName } from './faults.ts'

export type Planted = {
  readonly path: string
  readonly line: number
  readonly rule: RuleName
  /** The text that was there and what stood in its place. */
  readonly from: string
  readonly to: string
  /** The line around it and the place in it, which find it again where other lines have moved. */
  readonly source: string
  readonly column: number
  /** `unplanted`: it has wrong types. */
  readonly verdict: 'noticed' | 'survived' | 'unplanted'
  /** What noticed it: a test file, and the test in it; or after how many test files nothing had. */
  readonly by: string
  /** Written in by hand, for a survivor that no test can notice: why. */
  readonly equivalent?: string
}

const IDENTITY = ['path', 'rule', 'source', 'column', 'from', 'to'] as const

export type Record = { seed: number; planted: Planted[] }

export function readRecord(path: string, seed: number): Record {
  if (!existsSync(path)) return { seed, planted: [] }
  return JSON.parse(readFileSync(path, 'utf8')) as Record
}

/** Whole or not at all: a run may be ended at any time. */
export function writeRecord(path: string, record: Record): void {
  writeFileSync(`${path}.new`, `${JSON.stringify(record, null, 1)}\n`)
  renameSync(`${path}.new`, path)
}

export function isSame(a: Pick<Planted, (typeof IDENTITY)[number]>, b: typeof a): boolean {
  return IDENTITY.every((name) => a[name] === b[name])
}

/** The figures, and every survivor. */
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

export function describe({ path, line, rule, from, to }: Omit<Planted, 'equivalent'>): string {
  return `${path}:${line} ${rule}: ${short(from)} -> ${short(to)}`
}

function short(text: string): string {
  const flat = text.trim().replace(/\s+/g, ' ')
  return flat.length > 100 ? `${flat.slice(0, 97)}...` : flat || 'nothing'
}
