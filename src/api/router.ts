// Finds the endpoint of a path inside a mount, in a tree of segments that is built once when the program starts.
import { strict as assert } from 'node:assert'
import { own } from '../lib/own.ts'
import type { Endpoint, EndpointOperation } from './endpoint.ts'
import type { Segment } from './pattern.ts'
import { isName, routedForms } from './pattern.ts'
import type { Fold, PathShape, ShapeSegment } from './spelling.ts'

type Found = {
  readonly endpoint: Endpoint
  readonly parameters: readonly string[]
  readonly pattern: readonly Segment[]
  /** Set if names have several spellings; most paths have none, and pay nothing. */
  readonly shape: PathShape | undefined
  /**
   * Shapes by the fold that the engine returned for a name, so that each fold keeps one shape: others cache by its
   * identity.
   */
  readonly shapes: WeakMap<Fold, PathShape> | undefined
}
type Node = {
  readonly literals: Map<string, Node>
  name?: Node
  rest?: Node
  readonly endpoints: Map<EndpointOperation, Found>
}

/** The target of a path, for one operation. */
export type Route =
  | {
      readonly kind: 'found'
      readonly endpoint: Endpoint
      /** Names in the path, in canonical spelling. */
      readonly path: Readonly<Record<string, string>>
      /** The path with these names, and the names as they were sent; undefined if nothing differs. */
      readonly keptPath: string | undefined
      readonly given: Readonly<Record<string, string>> | undefined
      /** Set if names have several spellings. */
      readonly shape: PathShape | undefined
    }
  | { readonly kind: 'unsupported-operation' }
  | { readonly kind: 'unsupported-path' }

const UNSUPPORTED_PATH: Route = { kind: 'unsupported-path' }
const UNSUPPORTED_OPERATION: Route = { kind: 'unsupported-operation' }

const node = (): Node => ({ literals: new Map(), endpoints: new Map() })

/** The endpoints of an engine. `E` is the engine; endpoints that need more of it than it has do not compile. */
export class Router<E = never> {
  readonly endpoints: readonly Endpoint[]
  readonly #root = node()

  constructor(endpoints: readonly Endpoint<E>[]) {
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
    const isFolding = parameters.some((name) => own(endpoint.fields, name)?.canonical !== undefined)
    const isSpelled = endpoint.spelling !== undefined && parameters.includes(endpoint.spelling.field)
    const shape = isFolding || isSpelled ? shapeOf(endpoint, segments) : undefined
    const shapes = isSpelled ? new WeakMap<Fold, PathShape>() : undefined
    at.endpoints.set(endpoint.operation, { endpoint, parameters, pattern: segments, shape, shapes })
  }

  /**
   * Finds the endpoint. `path` has no leading '/'. A trailing '/' belongs to a list, and to an endpoint that says so.
   * `engine` is asked for spellings that it alone knows.
   */
  find(operation: EndpointOperation, path: string, engine?: unknown): Route {
    const segments = path === '' ? [] : path.split('/')
    if (segments.at(-1) !== '') return this.#find(operation, segments, engine, '')
    const named = segments.slice(0, -1)
    if (operation === 'list' || operation === 'scan') return this.#find(operation, named, engine, '/')
    const asFolder = this.#find(operation, named, engine, '/')
    if (asFolder.kind === 'found' && asFolder.endpoint.alsoAsFolder === true) return asFolder
    const found = this.#find('list', named, engine, '')
    return found.kind === 'found' ? UNSUPPORTED_OPERATION : UNSUPPORTED_PATH
  }

  #find(operation: EndpointOperation, segments: readonly string[], engine: unknown, end: string): Route {
    const values: string[] = []
    const at = walk(this.#root, segments, 0, values)
    if (at === undefined || at.endpoints.size === 0) return UNSUPPORTED_PATH
    const found = at.endpoints.get(operation)
    if (found === undefined) return UNSUPPORTED_OPERATION
    if (found.shape !== undefined) return folded(found, namesOf(found, values), engine, end)
    const { endpoint } = found
    const path = namesOf(found, values)
    return { kind: 'found', endpoint, path, keptPath: undefined, given: undefined, shape: undefined }
  }

  /**
   * Returns the path with its names in canonical spelling, for any operation. A path whose names have one spelling is
   * returned unchanged, without a shape.
   */
  spelled(path: string, engine?: unknown): { readonly path: string; readonly shape: PathShape | undefined } {
    const segments = path.split('/')
    const end = segments.at(-1) === '' ? '/' : ''
    if (end !== '') segments.pop()
    const values: string[] = []
    const at = walk(this.#root, segments, 0, values)
    for (const found of at?.endpoints.values() ?? []) {
      if (found.shape === undefined) continue
      const { keptPath = path, shape } = folded(found, namesOf(found, values), engine, end)
      return { path: keptPath, shape }
    }
    return { path, shape: undefined }
  }
}

function namesOf({ parameters }: Found, values: readonly string[]): Record<string, string> {
  const path: Record<string, string> = {}
  for (let i = 0; i < parameters.length; i++) path[parameters[i] as string] = values[i] as string
  return path
}

/** `end` is '/' if the path ended in one, else ''. */
function folded(found: Found, given: Record<string, string>, engine: unknown, end: string): Route & { kind: 'found' } {
  const { endpoint, pattern } = found
  const shape = shapeFor(found, given, engine)
  const path: Record<string, string> = {}
  let isOther = false
  const segments = pattern.map((segment, at) => {
    if (segment.kind === 'literal') return segment.text
    const name = own(given, segment.name) as string
    const fold = shape?.segments[at]
    const kept = typeof fold === 'function' ? fold(name) : name
    isOther ||= kept !== name
    path[segment.name] = kept
    return kept
  })
  if (!isOther) return { kind: 'found', endpoint, path, keptPath: undefined, given: undefined, shape }
  return { kind: 'found', endpoint, path, keptPath: segments.join('/') + end, given, shape }
}

/** True if `given` has exactly the names of `kept`, each as it may be written for what is kept. */
export function isSpellingOf(
  { fields, spelling }: Endpoint,
  engine: unknown,
  given: Readonly<Record<string, string>>,
  kept: Readonly<Record<string, string>>,
): boolean {
  const names = Object.keys(kept)
  if (Object.keys(given).length !== names.length) return false
  return names.every((name) => {
    const written = own(given, name)
    if (written === undefined) return false
    const isOfEngine = spelling?.field === name
    const fold = isOfEngine ? spelling.foldOf(engine as never, given) : own(fields, name)?.canonical
    return (fold === undefined ? written : fold(written)) === own(kept, name)
  })
}

function shapeFor(found: Found, names: Readonly<Record<string, string>>, engine: unknown): PathShape | undefined {
  const { endpoint, pattern, shape, shapes } = found
  const fold = engine === undefined ? undefined : endpoint.spelling?.foldOf(engine as never, names)
  if (fold === undefined || shapes === undefined) return shape
  const known = shapes.get(fold) ?? shapeOf(endpoint, pattern, fold)
  shapes.set(fold, known)
  return known
}

/** `fold` is the engine's fold for the name that it alone knows. */
function shapeOf({ fields, spelling }: Endpoint, pattern: readonly Segment[], fold?: Fold): PathShape {
  const segments = pattern.map((segment): ShapeSegment => {
    if (segment.kind === 'literal') return segment.text
    return segment.name === spelling?.field ? fold : own(fields, segment.name)?.canonical
  })
  const rest = pattern.findIndex(({ kind }) => kind === 'rest')
  assert(rest === -1 || rest === pattern.length - 1, 'a path with names of several spellings ends in its rest')
  return { segments, endsInRest: rest !== -1 }
}

/** A literal wins over a name, a name over the rest. `values` collects what the parameters stand for. */
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

/** Takes the rest of a path, or all but its last segment if that has an endpoint of its own: `mounts/:path.../tune`. */
function walkRest(rest: Node, segments: readonly string[], index: number, values: string[]): Node {
  const last = segments.length - 1
  const ending = index < last ? rest.literals.get(segments[last] as string) : undefined
  values.push(segments.slice(index, ending === undefined ? undefined : last).join('/'))
  return ending ?? rest
}
