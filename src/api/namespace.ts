// A namespace: a part of the server with mounts, policies, tokens and identities of its own. Namespaces form a tree.
// What is stored of one lies under its id, never under its path.
/** A namespace as requests and engines see it. Immutable: a change makes another one with the same id. */
export type Namespace = {
  /** Begins stored keys, and ends ids that clients see (`idEnding`). Six letters and digits, or ROOT_ID. */
  readonly id: string
  readonly uuid: string
  /** The names from the root on, each with a '/' behind it; '' for the root. */
  readonly path: string
  /** The last name of the path, without '/'; '' for the root. */
  readonly name: string
  /** Undefined for the root. */
  readonly parent: Namespace | undefined
  readonly customMetadata: Readonly<Record<string, string>>
  /** True while an administrator keeps all requests out of it and of what is below. */
  readonly isLocked: boolean
  /** True from the moment of its deletion: what is left of it is being removed. */
  readonly isGoing: boolean
}

/** The id of the root; the same as ROOT_NAMESPACE of the storage. */
export const ROOT_ID = 'root'

/** The namespace that every server has. It holds all others. */
export const ROOT: Namespace = {
  id: ROOT_ID,
  uuid: '',
  path: '',
  name: '',
  parent: undefined,
  customMetadata: {},
  isLocked: false,
  isGoing: false,
}

/** The namespaces as one thread knows them. All of it answers from memory; while sealed only the root is known. */
export interface Namespaces {
  /** True while the store may have newer ones: call `refresh` before anything else. */
  readonly stale: boolean
  refresh(): Promise<void>
  /** Grows whenever one comes, changes or goes. */
  readonly generation: number
  /** How many there are besides the root. */
  readonly count: number
  /** The namespace with this id; undefined if there is none. */
  byId(id: string): Namespace | undefined
  /** The namespace with exactly this path, which ends in '/' or is ''. */
  byPath(path: string): Namespace | undefined
  /** The deepest namespace within which the full path lies: the root if no other does. */
  around(fullPath: string): Namespace
  /** The namespaces directly below, in the order of their names. */
  children(of: Namespace): readonly Namespace[]
  /** All namespaces below, in the order of their paths. */
  below(of: Namespace): readonly Namespace[]
}

/** True if `inner` is `outer`, or lies below it. */
export const isInside = (inner: Namespace, outer: Namespace): boolean => inner.path.startsWith(outer.path)

/** The end of ids that are handed out in a namespace: '' in the root, else '.' and the namespace's id. */
export const idEnding = (namespaceId: string): string => (namespaceId === ROOT_ID ? '' : `.${namespaceId}`)

/**
 * The id of the namespace that an id of a lease, an accessor, an entity or a group names at its end, and what stands
 * before it. A dot counts only behind the last slash. It is for ids that have no other dot there; the text may name a
 * namespace that does not exist.
 */
export function splitId(text: string): { readonly own: string; readonly namespaceId: string } {
  const dot = text.lastIndexOf('.')
  if (dot <= text.lastIndexOf('/')) return { own: text, namespaceId: ROOT_ID }
  return { own: text.slice(0, dot), namespaceId: text.slice(dot + 1) }
}

/** A full path as it reads inside the namespace, in which it lies. */
export const pathWithin = ({ path }: Namespace, fullPath: string): string => fullPath.slice(path.length)
