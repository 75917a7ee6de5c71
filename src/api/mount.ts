// A mount: an engine at a path. Its data is stored under its UUID, never under its path, so that it can be moved.
import {
  count,
  flag,
  type GroupOf,
  group,
  mapOf,
  nullable,
  oneOf,
  optional,
  text,
  texts,
  type ValueOf,
} from '../lib/member-kinds.ts'
import type { Endpoint, EndpointOperation } from './endpoint.ts'
import { LOCKOUT_SETTINGS, type Lockout } from './lockout.ts'
import type { Namespace } from './namespace.ts'
import type { Sight } from './node-role.ts'
import type { Router } from './router.ts'
import type { PlacedShape } from './spelling.ts'

const MOUNT_KIND = oneOf('secret', 'auth')
/** The kind of a mount: it holds secrets, or logs callers in. */
export type MountKind = ValueOf<typeof MOUNT_KIND>

const MOUNT_CONFIG = group({
  /** Seconds; 0: the default of the system. */
  defaultLeaseTtlSeconds: count,
  maxLeaseTtlSeconds: count,
  forceNoCache: flag,
  /** '' | 'unauth' | 'hidden': whether callers without a token see it in lists. */
  listingVisibility: text,
  /** Members of data that audit logs show in clear; absent: none. */
  auditNonHmacRequestKeys: optional(texts),
  auditNonHmacResponseKeys: optional(texts),
  /** Headers of a request that the engine sees, and headers of an answer that it may set; absent: none. */
  passthroughRequestHeaders: optional(texts),
  allowedResponseHeaders: optional(texts),
  /** Names of managed keys that the engine may use; absent: only those that every mount may. */
  allowedManagedKeys: optional(texts),
  /** On a login mount: 'service' | 'batch' | 'default-service' | 'default-batch'; absent: 'default-service'. */
  tokenType: optional(text),
  /** On a login mount: how guessing is slowed; absent: DEFAULT_LOCKOUT. */
  lockout: optional(LOCKOUT_SETTINGS),
})
/** The settings that can be tuned while the mount exists. */
export type MountConfig = ValueOf<typeof MOUNT_CONFIG>

/** The stored form of a mount. */
export const MOUNT_MEMBERS = {
  format: oneOf(1),
  uuid: text,
  /** Id of the namespace that it is mounted in; its data stay in `home` when it moves to another. */
  namespace: text,
  /** Id of the namespace below which its data are stored; absent: `namespace`. */
  home: optional(text),
  /** Ids of other namespaces that it was mounted in before: aliases of its logins may be of these. */
  formerNamespaces: optional(texts),
  kind: MOUNT_KIND,
  /** Path in the namespace; it ends in '/' and does not begin with one; that of a login mount begins with 'auth/'. */
  path: text,
  /** Former paths of a mount that was moved: tokens that it gave out before bear them, or wrap its answers. */
  formerPaths: optional(texts),
  type: text,
  description: text,
  accessor: text,
  options: nullable(mapOf(text)),
  local: flag,
  sealWrap: flag,
  externalEntropyAccess: flag,
  config: MOUNT_CONFIG,
}
/** A mount as the program has it. */
export type MountEntry = GroupOf<typeof MOUNT_MEMBERS>
/** A mount as one namespace has it: it may move to another, and is then gone from the first. */
export type MountInNamespace = Pick<MountEntry, 'namespace' | 'uuid'>

/** What a promoted cluster is to a mount. */
export type PromotedAs = {
  /** What is local to the cluster is that of the one whose place it took, as it was a while ago. */
  readonly takesPlace: boolean
  /** The one whose place it took handed over: all that it granted is known here, and it grants no more. */
  readonly isHandedOver: boolean
  /** It changes what the mount has: not, if it follows a performance primary and the mount is shared. */
  readonly isOwner: boolean
}

/** The methods of a mounted engine besides its endpoints; above all, to forget data that changed. */
export interface Engine {
  /** The entry at `path`, relative to the mount's data, has changed: drop what is cached of it. */
  changed(path: string): void
  /** Anything may have changed: drop all that is cached. */
  reset(): void
  /** Does what is due without a request. Called periodically, only on the thread that writes. */
  upkeep?(): Promise<void>
  /**
   * Of a mount that a set shares, on a cluster that follows a primary: has the primary know what it must of this
   * cluster, so that requests do without it. Called periodically, only on the thread that writes.
   */
  joinPrimary?(): Promise<void>
  /**
   * Answers a call from the same mount on a serving thread; runs on the thread that writes. Input and result are plain
   * data.
   */
  handleWriterCall?(question: unknown): Promise<unknown>
  /**
   * Answers a call from the same mount on another cluster of the set; runs on the thread that writes of the primary.
   * Input and result are plain data, and the input is checked as that of any caller. `secondary`: the id under which
   * the other cluster is registered.
   */
  handleClusterCall?(question: unknown, secondary: string): Promise<unknown>
  /**
   * This cluster was promoted, and may lack some of the last changes of the one that was the primary: stores whatever
   * must count for them. Called on the thread that writes, before it serves; with the same name again after a crash or
   * a failure. All threads `reset` afterwards.
   */
  promoted?(promotion: string, as: PromotedAs): Promise<void>
  /** Begins periodic work, on the thread that writes, once the server is unsealed. */
  start?(): void
  /** Ends that work: the server is being sealed, or the mount is removed. */
  stop?(): void
  /** Lookups in its cache since the engine was made; missing if it has none. */
  readonly lookups?: { readonly hits: number; readonly misses: number }
}

/** A kind of engine. `C` is what it is given for one mount. */
export type EngineType<C> = {
  readonly type: string
  readonly kind: MountKind
  readonly summary: string
  readonly router: Router
  readonly create: (context: C) => Engine
}

/** A kind that requests can mount; it has a page in docs/api. */
export type MountableType<C> = EngineType<C> & {
  readonly page: {
    readonly title: string
    /** Sentences that follow the summary. */
    readonly note?: string
  }
}

/** The endpoint that a path leads to, and the names in the path. */
export type Routed = {
  readonly endpoint: Endpoint
  /** The full path of the mount. */
  readonly mountPath: string
  readonly pathParameters: Readonly<Record<string, string>>
}

/** A path of a mount, within a namespace. */
export type NamespacedPath = { readonly namespace: Namespace; readonly path: string }

/** The mounts, as the endpoints under `sys/` use them. A `sight` that is not given is 'all'. */
export interface Mounts {
  /** Types that can be mounted. */
  typesOf(kind: MountKind): readonly string[]
  /** All mounts of a namespace, those that it always has included; not those of namespaces below. */
  list(of: Namespace, sight?: Sight): readonly MountEntry[]
  /** The mounts of all namespaces; those that are found by their path come behind those that others hide. */
  all(): readonly MountEntry[]
  /** The mount at exactly this path of the namespace. */
  find(within: Namespace, path: string, sight?: Sight): MountEntry | undefined
  /**
   * Full paths of local mounts that are in conflict with what the primary of a set made: a namespace lies there, or a
   * shared mount lies there, within or around. In order.
   */
  conflicting(): readonly string[]
  /** The lockout of a login mount by UUID; undefined if it locks no names. */
  lockoutOf(uuid: string): Lockout | undefined
  /** The mount that serves requests to the full path. */
  serving(fullPath: string, sight?: Sight): MountEntry | undefined
  /** The full path of a mount: that of its namespace, and its own. */
  fullPathOf(entry: MountEntry): string
  /**
   * The path with its names in canonical spelling, and the shape that says which these are. A path that no mount
   * serves is returned unchanged.
   */
  spelled(fullPath: string): { readonly path: string; readonly spelling: PlacedShape | undefined }
  /** The endpoint at the full path, and the names in the path. */
  routed(fullPath: string, operation: EndpointOperation): Routed | undefined
  /** The engine of the mount with this UUID. */
  engineOf(uuid: string): Engine | undefined
  /**
   * Mounts an engine.
   * @throws Refusal if the path is taken, reserved, or inside or around another mount; or if the type is unknown
   */
  mount(entry: MountEntry): Promise<void>
  /** Replaces the settings of a mount; `change` must leave everything else. @throws Refusal if there is none */
  tune(within: Namespace, path: string, change: (entry: MountEntry) => MountEntry, sight?: Sight): Promise<void>
  /**
   * Moves a mount to another place, which may be in another namespace; its data stay where they are.
   * @throws Refusal as `mount`, and if there is none
   */
  move(from: NamespacedPath, to: NamespacedPath, sight?: Sight): Promise<void>
  /** Removes the mount and all its data; does nothing if there is none. */
  unmount(within: Namespace, path: string, sight?: Sight): Promise<void>
}
