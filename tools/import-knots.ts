// Finds circles of imports that types close. None is left at run time, yet its files cannot be understood, moved or
// tested one by one. A knot is a group of files in which each reaches every other.
import type { Finding } from './tree.ts'

/** The imports of each file, types included. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>

/** Returns the knots of two files or more. */
export function knotsOf(graph: ImportGraph): readonly (readonly string[])[] {
  // Tarjan 1972, strongly connected components: one walk. A file that reaches no open file but itself closes a group.
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const open: string[] = []
  const isOpen = new Set<string>()
  const knots: string[][] = []
  const lower = (path: string, to: number): void => {
    lowest.set(path, Math.min(lowest.get(path) ?? to, to))
  }
  const visit = (path: string): void => {
    const number = order.size
    order.set(path, number)
    lower(path, number)
    open.push(path)
    isOpen.add(path)
    for (const to of graph.get(path) ?? []) {
      if (!graph.has(to)) continue
      if (!order.has(to)) visit(to)
      if (isOpen.has(to)) lower(path, lowest.get(to) ?? number)
    }
    if (lowest.get(path) !== number) return
    const group = open.splice(open.indexOf(path))
    for (const one of group) isOpen.delete(one)
    if (group.length > 1) knots.push(group.sort())
  }
  for (const path of graph.keys()) if (!order.has(path)) visit(path)
  return knots
}

/** Refuses knots that are not `known`, or larger than their bound there. A bound that is too high must fall. */
export function knotFindings(graph: ImportGraph, known: ReadonlyMap<string, number>): Finding[] {
  const knots = knotsOf(graph)
  const findings: Finding[] = []
  const bounded = new Set<readonly string[]>()
  for (const [path, most] of known) {
    if (!graph.has(path)) continue
    const knot = knots.find((one) => one.includes(path))
    if (knot !== undefined) bounded.add(knot)
    const count = knot?.length ?? 0
    const at = (message: string) => findings.push({ path, line: 1, message })
    if (count > most)
      at(`its circle of types has ${count} files, at most ${most} may be in it: ${circleOf(graph, knot)}`)
    else if (count === 0) at('is in no circle of types any longer: take it out of KNOTS')
    else if (count < most) at(`its circle of types has ${count} files: lower the bound to ${count}`)
  }
  for (const knot of knots) {
    const [path = ''] = knot
    const message = `is in a circle of types, of ${knot.length} files: ${circleOf(graph, knot)}`
    if (!bounded.has(knot)) findings.push({ path, line: 1, message })
  }
  return findings
}

/** Returns a shortest way from the first file of a knot back to it. */
function circleOf(graph: ImportGraph, knot: readonly string[] = []): string {
  const [start = ''] = knot
  const ways: (readonly string[])[] = [[start]]
  const seen = new Set<string>()
  for (const way of ways) {
    for (const to of graph.get(way.at(-1) ?? '') ?? []) {
      if (to === start) return [...way, to].join(' > ')
      if (seen.has(to) || !knot.includes(to)) continue
      seen.add(to)
      ways.push([...way, to])
    }
  }
  return start
}
