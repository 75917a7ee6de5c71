// A mount: an engine at a path. Its data live under its UUID, never under its path, so that it can move.
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
import type { Router } from './router.ts'
import type { PlacedShape } from './spelling.ts'

const MOUNT_KIND = oneOf('secret', 'auth')
export type MountKind = ValueOf<typeof MOUNT_KIND>

const MOUNT_CONFIG = group({
  /** Seconds; 0: as the system has it. */
  defaultLeaseTtlSeconds: count,
  maxLeaseTtlSeconds: count,
  forceNoCache: flag,
  /** '' | 'unauth' | 'hidden': whether it is listed to callers without a token. */
  listingVisibility: text,
  /** Members of data that audit shows in clear; absent: none. */
  auditNonHmacRequestKeys: optional(texts),
  auditNonHmacResponseKeys: optional(texts),
  /** Of headers: those of a request that the engine sees, and those of an answer that it may set; absent: none. */
  passthroughRequestHeaders: optional(texts),
  allowedResponseHeaders: optional(texts),
  /** Names of managed keys that the engine may use; absent: none but those that any mount may. */
  allowedManagedKeys: optional(texts),
  /** Of a login mount: 'service' | 'batch' | 'default-service' | 'default-batch'; absent: 'default-service'. */
  tokenType: optional(text),
  /** Of a login mount: what guessing at it leads to; absent: DEFAULT_LOCKOUT. */
  lockout: optional(LOCKOUT_SETTINGS),
})
export type MountConfig = ValueOf<typeof MOUNT_CONFIG>

/** What is stored of a mount. */
export const MOUNT_MEMBERS = {
  format: oneOf(1),
  uuid: text,
  namespace: text,
  kind: MOUNT_KIND,
  /** Ends in '/', without a leading one; a login mount begins with 'auth/'. */
  path: text,
  /** Of a login mount that was moved: what it gave before is named by these. */
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
export type MountEntry = GroupOf<typeof MOUNT_MEMBERS>

/** What a mounted engine must offer besides its endpoints: to forget what changed below it. */
export interface Engine {
  /** `path` is relative to the mount's data. */
  changed(path: string): void
  /** Everything may have changed. */
  reset(): void
  /** What is due without a request: called again and again where writes are made. */
  upkeep?(): Promise<void>
  /** Where writes are made: what the same mount asks on a thread that serves. Both are plain data. */
  handleWriterCall?(question: unknown): Promise<unknown>
  /** Begins what it does by itself: on the thread that writes, once the server is open. Missing: nothing. */
  start?(): void
  /** Ends that: the server is being sealed, or the mount is gone. */
  stop?(): void
  /** Look-ups in its cache since it was made; missing where it has none. */
  readonly lookups?: { readonly hits: number; readonly misses: number }
}

/** A kind of engine that can be mounted; `C` is what it is given for one mount. */
export type EngineType<C> = {
  readonly type: string
  readonly kind: MountKind
  readonly summary: string
  readonly router: Router
  readonly create: (context: C) => Engine
}

/** One that a request can mount: there is a page about it. */
export type MountableType<C> = EngineType<C> & {
  readonly page: {
    readonly title: string
    /** Sentences behind its summary. */
    readonly note?: string
  }
}

/** What a path leads to. */
export type Routed = {
  readonly endpoint: Endpoint
  readonly mountPath: string
  readonly pathParameters: Readonly<Record<string, string>>
}

/** The mounts as the endpoints under sys/ see them. */
export interface Mounts {
  /** What can be mounted. */
  typesOf(kind: MountKind): readonly string[]
  list(): readonly MountEntry[]
  find(path: string): MountEntry | undefined
  /** Of a login mount at which guessing locks names, by its UUID. */
  lockoutOf(uuid: string): Lockout | undefined
  /** The mount that would serve the path. */
  serving(path: string): MountEntry | undefined
  /** The path with its names as they are kept, where a mount serves it, and which those are; else itself. */
  spelled(path: string): { readonly path: string; readonly spelling: PlacedShape | undefined }
  /** The endpoint there, and the names in the path. */
  routed(path: string, operation: EndpointOperation): Routed | undefined
  /** What is behind the mount with this UUID. */
  engineOf(uuid: string): Engine | undefined
  /** @throws Refusal where the path is taken, inside or around another, or reserved; or the type is unknown */
  mount(entry: MountEntry): Promise<void>
  /** Replaces what can be tuned of a mount; nothing else may differ. @throws Refusal where there is none */
  tune(path: string, change: (entry: MountEntry) => MountEntry): Promise<void>
  /** Gives a mount another path: its data stay where they are. @throws Refusal as `mount`, and where there is none */
  move(from: string, to: string): Promise<void>
  /** Removes the mount and all its data; nothing happens where there is none. */
  unmount(path: string): Promise<void>
}
