// Finds the one wildcard rule that applies to a path, at a cost that grows with the path and not with the number of
// rules. It is a tree of the literal texts with which patterns begin, up to their first wildcard.
//
//   transit/*             ''
//   transit/keys/+/x      └─ transit/  [transit/*]
//   transit/keys/ab*          └─ keys/  [transit/keys/+/x]
//                                 └─ ab  [transit/keys/ab*]
//
// The deeper the node, the later the first wildcard, which is the first thing that decides between rules. So the
// deepest node with a rule that matches holds the winner.

import type { PathKind } from './policy-path.ts'

/** A rule that ends in `*` or has `+` segments, and the value found by it. */
export type WildcardRule<T> = { readonly pattern: string; readonly isSegmented: boolean; readonly value: T }

type CompiledRule<T> = {
  readonly endsInStar: boolean
  /** Undefined if the literal text before the star is the whole pattern: then reaching the node is a match. */
  readonly segments: readonly (string | undefined)[] | undefined
  readonly freeSegments: number
  /** The pattern without its final star. */
  readonly literal: string
  readonly value: T
}

class Node<T> {
  /** Text between the parent's position and this one; empty for the root only. */
  edge: string
  /** The nearest node towards the root that has rules, where the search goes on if none here matches. */
  outer: Node<T> | undefined
  readonly rules: CompiledRule<T>[] = []
  /** Children by the first UTF-16 unit of their edges. */
  children = new Map<number, Node<T>>()
  constructor(edge: string) {
    this.edge = edge
  }
}

/** An immutable index of wildcard rules. Built when policies are joined, searched for every request. */
export class PathTree<T> {
  readonly #root = new Node<T>('')

  /** `rules` must hold each pattern at most once: of two, only the first would ever be found. */
  constructor(rules: Iterable<WildcardRule<T>>) {
    for (const rule of rules) {
      const compiled = compile(rule)
      insertNode(this.#root, literalHead(rule)).rules.push(compiled)
    }
    finish(this.#root)
  }

  /** Returns the value of the best matching rule, or undefined if none matches. */
  find(path: string): T | undefined {
    let node: Node<T> | undefined = this.#root
    let at = 0
    for (;;) {
      const child: Node<T> | undefined = node.children.get(path.charCodeAt(at))
      if (child === undefined || !path.startsWith(child.edge, at)) break
      at += child.edge.length
      node = child
    }
    for (; node !== undefined; node = node.outer) {
      for (const rule of node.rules) {
        if (rule.segments === undefined || matchesSegments(rule.segments, rule.endsInStar, path)) return rule.value
      }
    }
    return undefined
  }
}

/** True if a rule of this kind and pattern matches the path. */
export function isAbout(
  { kind, pattern }: { readonly kind: PathKind; readonly pattern: string },
  path: string,
): boolean {
  if (kind === 'exact') return pattern === path
  if (kind === 'prefix') return path.startsWith(pattern.slice(0, -1))
  return new PathTree([{ pattern, isSegmented: true, value: true }]).find(path) === true
}

/** Returns the text before the first `+`, or before the final star. */
function literalHead<T>({ pattern, isSegmented }: WildcardRule<T>): string {
  return isSegmented ? pattern.slice(0, pattern.indexOf('+')) : pattern.slice(0, -1)
}

function compile<T>({ pattern, isSegmented, value }: WildcardRule<T>): CompiledRule<T> {
  const endsInStar = pattern.endsWith('*')
  const literal = endsInStar ? pattern.slice(0, -1) : pattern
  const segments = isSegmented ? literal.split('/').map((part) => (part === '+' ? undefined : part)) : undefined
  const freeSegments = segments?.filter((part) => part === undefined).length ?? 0
  return { endsInStar, segments, freeSegments, literal, value }
}

/** Returns the node for `head` below `root`, making it if it is missing. */
function insertNode<T>(root: Node<T>, head: string): Node<T> {
  let node = root
  let at = 0
  while (at < head.length) {
    const first = head.charCodeAt(at)
    const child = node.children.get(first)
    if (child === undefined) {
      const leaf = new Node<T>(head.slice(at))
      node.children.set(first, leaf)
      return leaf
    }
    const shared = sharedLength(child.edge, head, at)
    node = shared === child.edge.length ? child : split(node, child, shared)
    at += shared
  }
  return node
}

/** Inserts a node into the edge that leads to `child`, after `length` characters of it. */
function split<T>(parent: Node<T>, child: Node<T>, length: number): Node<T> {
  const middle = new Node<T>(child.edge.slice(0, length))
  parent.children.set(middle.edge.charCodeAt(0), middle)
  child.edge = child.edge.slice(length)
  middle.children.set(child.edge.charCodeAt(0), child)
  return middle
}

function sharedLength(edge: string, head: string, from: number): number {
  const most = Math.min(edge.length, head.length - from)
  let length = 0
  while (length < most && edge.charCodeAt(length) === head.charCodeAt(from + length)) length += 1
  return length
}

/**
 * Sorts the rules of each node and links it to the next outer node that has any. A list replaces recursion, so depth
 * costs no stack.
 */
function finish<T>(root: Node<T>): void {
  const nodes = [root]
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    node.rules.sort(byPriority)
    const outer = node.rules.length > 0 ? node : node.outer
    for (const child of node.children.values()) {
      child.outer = outer
      nodes.push(child)
    }
  }
}

/** Orders rules whose first wildcard stands at the same position, the more specific one first. */
function byPriority<T>(a: CompiledRule<T>, b: CompiledRule<T>): number {
  if (a.endsInStar !== b.endsInStar) return a.endsInStar ? 1 : -1
  if (a.freeSegments !== b.freeSegments) return a.freeSegments - b.freeSegments
  const [aBytes, bBytes] = [Buffer.from(a.literal), Buffer.from(b.literal)]
  return bBytes.length - aBytes.length || bBytes.compare(aBytes)
}

/** Compares path and segments side by side. A `+` stands for one segment that is not empty (threats A-05). */
function matchesSegments(segments: readonly (string | undefined)[], endsInStar: boolean, path: string): boolean {
  const last = segments.length - 1
  let from = 0
  for (let index = 0; index <= last; index++) {
    const wanted = segments[index]
    // The segment before a star is never a `+`. The path's segment need only begin with it, and anything may follow.
    if (index === last && endsInStar) return path.startsWith(wanted ?? '', from)
    const slash = path.indexOf('/', from)
    const end = slash === -1 ? path.length : slash
    const fits = wanted === undefined ? end > from : end - from === wanted.length && path.startsWith(wanted, from)
    if (!fits || (slash === -1) !== (index === last)) return false
    from = end + 1
  }
  return true
}
