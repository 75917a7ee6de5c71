// A write of which only parts were kept. No disk may do that to a commit; tests do it, to see that it is noticed.
import { isDeepStrictEqual } from 'node:util'
import type { MemoryTables } from '../../src/storage/memory-tables.ts'
import type { PseudoRandom } from '../fixtures/pseudo-random.ts'

/** What lies in one place of the disk, and differs before and behind the write. */
type Part = (torn: MemoryTables) => void

/** The tables with some of what the write changed, and not all. A write of one part alone cannot be torn. */
export function tornTables(before: MemoryTables, after: MemoryTables, random: PseudoRandom): MemoryTables {
  const parts = partsOf(before, after)
  const torn = before.copy()
  if (parts.length < 2) return after
  const kept = parts.filter(() => random.chance(0.5))
  if (kept.length === 0) kept.push(random.pick(parts))
  if (kept.length === parts.length) kept.splice(random.int(kept.length), 1)
  for (const keep of kept) keep(torn)
  return torn
}

function partsOf(before: MemoryTables, after: MemoryTables): Part[] {
  return [
    ...entryParts(before, after),
    ...recordParts(before, after),
    ...treeParts(before, after),
    ...rowParts(before, after),
  ]
}

function entryParts(before: MemoryTables, after: MemoryTables): Part[] {
  const keys = new Set([...before.entries.keys, ...after.entries.keys])
  const changed = [...keys].filter((key) => before.entries.byKey.get(key) !== after.entries.byKey.get(key))
  return changed.map((key) => ({ entries }) => {
    const entry = after.entries.byKey.get(key)
    if (entry === undefined) entries.remove(key)
    else entries.set(key, entry)
  })
}

function recordParts(before: MemoryTables, after: MemoryTables): Part[] {
  const old = new Set(before.log)
  const kept = new Set(after.log)
  const added = after.log.filter((record) => !old.has(record))
  const gone = before.log.filter((record) => !kept.has(record))
  return [
    ...added.map(
      (record): Part =>
        (torn) => {
          torn.log = [...torn.log, record].sort((a, b) => a.index - b.index)
        },
    ),
    ...gone.map(
      (record): Part =>
        (torn) => {
          torn.log = torn.log.filter((each) => each !== record)
        },
    ),
  ]
}

function treeParts(before: MemoryTables, after: MemoryTables): Part[] {
  const { tree } = after
  if (tree === undefined || before.tree === tree) return []
  const addresses = new Set([...(before.tree?.pages.keys() ?? []), ...tree.pages.keys()])
  const changed = [...addresses].filter((address) => before.tree?.pages.get(address) !== tree.pages.get(address))
  const withPages = (torn: MemoryTables, head: Omit<typeof tree, 'pages'>, pages: typeof tree.pages) => {
    torn.tree = { ...head, pages }
  }
  return [
    (torn) => {
      withPages(torn, tree, torn.tree?.pages ?? new Map())
      torn.checkpoints = after.checkpoints.slice()
    },
    ...changed.map(
      (address): Part =>
        (torn) => {
          const pages = new Map(torn.tree?.pages)
          const page = tree.pages.get(address)
          if (page === undefined) pages.delete(address)
          else pages.set(address, page)
          // Pages without a checkpoint stand for no tree.
          if (torn.tree !== undefined) withPages(torn, torn.tree, pages)
        },
    ),
  ]
}

function rowParts(before: MemoryTables, after: MemoryTables): Part[] {
  const parts: [unknown, unknown, Part][] = [
    [before.position, after.position, (torn) => (torn.position = after.position)],
    [before.histories, after.histories, (torn) => (torn.histories = after.histories)],
    [before.holds, after.holds, (torn) => (torn.holds = after.holds)],
    [before.buckets, after.buckets, (torn) => (torn.buckets = after.buckets)],
  ]
  return parts.filter(([old, next]) => !isDeepStrictEqual(old, next)).map(([, , part]) => part)
}
