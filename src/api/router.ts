// From a path inside a mount to its endpoint: a tree of segments, built once when the program starts.
import { strict as assert } from 'node:assert'
import { dictionary, own } from '../lib/own.ts'
import type { Endpoint, EndpointOperation } from './endpoint.ts'
import type { Segment } from './pattern.ts'
import { isName, routedForms } from './pattern.ts'

type Found = {
  readonly endpoint: Endpoint
  readonly parameters: readonly string[]
  /** Where a name can be spelled in several ways: the path, to be spelled in one. Most have none, and pay nothing. */
  readonly pattern: readonly Segment[] | undefined
}
type Node = {
  readonly literals: Map<string, Node>
  name?: Node
  rest?: Node
  readonly endpoints: Map<EndpointOperation, Found>
}

export type Route =
  | {
      readonly kind: 'found'
      readonly endpoint: Endpoint
      readonly path: Readonly<Record<string, string>>
      /** The path with its names as they are kept; undefined where it was asked for so. */
      readonly keptPath: string | undefined
    }
  | { readonly kind: 'unsupported-operation' }
  | { readonly kind: 'unsupported-path' }

const UNSUPPORTED_PATH: Route = { kind: 'unsupported-path' }
const UNSUPPORTED_OPERATION: Route = { kind: 'unsupported-operation' }

const node = (): Node => ({ literals: new Map(), endpoints: new Map() })

export class Router {
  readonly endpoints: readonly Endpoint[]
  readonly #root = node()

  constructor(endpoints: readonly Endpoint[]) {
    this.endpoints = endpoints
    for (const endpoint of endpoints) for (const segments of routedForms(endpoint.path)) this.#add(endpoint, segments)
  }

  #add(endpoint: Endpoint, segments: readonly Segment[]): void {
    let at = this.#root
    const parameters: string[] = []
    for (const segment of segments) {
      if (segment.kind === 'literal') {
        const next = at.literals.get(segment.text) ?? node()
        at.literals.set(segment.text, next)
        at = next
      } else {
        parameters.push(segment.name)
        at[segment.kind] ??= node()
        at = at[segment.kind] as Node
      }
    }
    assert(
      !at.endpoints.has(endpoint.operation),
      `${endpoint.id}: ${endpoint.operation} ${endpoint.path} is defined twice`,
    )
    const isSpelled = parameters.some((name) => own(endpoint.fields, name)?.canonical !== undefined)
    at.endpoints.set(endpoint.operation, { endpoint, parameters, pattern: isSpelled ? segments : undefined })
  }

  /** `path` has no leading '/'. A trailing '/' is part of a list and a mistake for all else. */
  find(operation: EndpointOperation, path: string): Route {
    const segments = path === '' ? [] : path.split('/')
    if (segments.at(-1) === '') {
      if (operation !== 'list')
        return this.#find('list', segments.slice(0, -1)).kind === 'found' ? UNSUPPORTED_OPERATION : UNSUPPORTED_PATH
      segments.pop()
    }
    return this.#find(operation, segments)
  }

  #find(operation: EndpointOperation, segments: readonly string[]): Route {
    const values: string[] = []
    const at = walk(this.#root, segments, 0, values)
    if (at === undefined || at.endpoints.size === 0) return UNSUPPORTED_PATH
    const found = at.endpoints.get(operation)
    if (found === undefined) return UNSUPPORTED_OPERATION
    const path = dictionary<string>()
    for (let i = 0; i < found.parameters.length; i++) path[found.parameters[i] as string] = values[i] as string
    const keptPath = found.pattern === undefined ? undefined : spelled(found.pattern, found.endpoint, values)
    return { kind: 'found', endpoint: found.endpoint, path, keptPath }
  }

  /** The path with its names as they are kept, whatever is done there; itself where it has none. */
  keptPath(path: string): string {
    const segments = path.split('/')
    const isFolder = segments.at(-1) === ''
    if (isFolder) segments.pop()
    const values: string[] = []
    const at = walk(this.#root, segments, 0, values)
    for (const { endpoint, pattern } of at?.endpoints.values() ?? []) {
      const kept = pattern === undefined ? undefined : spelled(pattern, endpoint, values)
      if (kept !== undefined) return isFolder ? `${kept}/` : kept
    }
    return path
  }
}

/** `values` are the names in the order of the path. Undefined where they are spelled so already. */
function spelled(pattern: readonly Segment[], { fields }: Endpoint, values: readonly string[]): string | undefined {
  let index = 0
  let isOther = false
  const segments = pattern.map((segment) => {
    if (segment.kind === 'literal') return segment.text
    const value = values[index++] as string
    const kept = own(fields, segment.name)?.canonical?.(value) ?? value
    isOther ||= kept !== value
    return kept
  })
  return isOther ? segments.join('/') : undefined
}

/** A literal beats a name, a name beats the rest; `values` gets what the parameters stand for. */
function walk(at: Node, segments: readonly string[], index: number, values: string[]): Node | undefined {
  if (index === segments.length) return at
  const segment = segments[index] as string
  const literal = at.literals.get(segment)
  if (literal !== undefined) {
    const found = walk(literal, segments, index + 1, values)
    if (found !== undefined && found.endpoints.size > 0) return found
  }
  if (at.name !== undefined && isName(segment)) {
    const depth = values.push(segment)
    const found = walk(at.name, segments, index + 1, values)
    if (found !== undefined && found.endpoints.size > 0) return found
    values.length = depth - 1
  }
  return at.rest === undefined ? undefined : walkRest(at.rest, segments, index, values)
}

/** The rest of a path, or all of it but a last segment that has an endpoint of its own: `mounts/:path.../tune`. */
function walkRest(rest: Node, segments: readonly string[], index: number, values: string[]): Node {
  const last = segments.length - 1
  const ending = index < last ? rest.literals.get(segments[last] as string) : undefined
  values.push(segments.slice(index, ending === undefined ? undefined : last).join('/'))
  return ending ?? rest
}
