// Selects the quota that counts a request: only the most specific one. A login role comes before a path, and an exact
// path before the longest matching prefix. Paths come before the mount, and the mount before the namespace that it lies
// in. Behind that come those around it, the nearest first, if their quotas are inheritable.
import { type Namespace, ROOT_ID } from '../api/namespace.ts'
import { foldedPattern, type PathShape, type PlacedShape } from '../api/spelling.ts'
import { asciiLowerCase } from '../lib/ascii.ts'
import type { QuotaConfig, RateQuota } from './quota.ts'

type OfMount = {
  /** By role name in lower case: no login method distinguishes roles by the case of their letters. */
  readonly roles: Map<string, RateQuota>
  /** Quotas for paths of the mount, in the order of quota names. */
  readonly ofPaths: RateQuota[]
  /** These quotas, indexed on the first request that they may count, once for each way in which names are spelled. */
  readonly paths: ByShape<Paths>
  whole: RateQuota | undefined
}
type Paths = {
  readonly exact: ReadonlyMap<string, RateQuota>
  /** Prefixes, the longest first. */
  readonly beginnings: readonly Beginning[]
}
type Beginning = { readonly text: string; readonly quota: RateQuota }
/** Paths that no quota counts, from the configuration of quotas. */
type Exempt = { readonly paths: ReadonlySet<string>; readonly beginnings: readonly string[] }

/** The facts about a request by which the rules select a quota. The pipeline makes them (`src/core/rate-steps.ts`). */
export type CountedAs = {
  readonly namespace: Namespace
  /** UUID of the mount; '' if no mount serves the request. */
  readonly mount: string
  /** Path of that mount, ending in '/'. */
  readonly mountPath: string
  /** Path below the mount, with its names in their canonical form. */
  readonly path: string
  /** Set if some of these names have several spellings; paths of quotas are then folded in the same way. */
  readonly spelling: PlacedShape | undefined
  /** Role of a login; undefined for all other requests. */
  readonly role: string | undefined
}

const QUOTAS = 'sys/quotas/'

const nothing = (): OfMount => ({ roles: new Map(), ofPaths: [], paths: new ByShape(), whole: undefined })

/** Paths as operators wrote them, indexed once for each path shape whose names have several spellings. */
class ByShape<T> {
  #plain: T | undefined
  readonly #read = new WeakMap<PathShape, Map<string, T>>()

  /**
   * Returns what `read` made for the shape. `read` is given a function that folds a path, with or without a star at its
   * end; that function returns undefined for a path that belongs to another mount.
   */
  of(spelling: PlacedShape | undefined, read: (kept: (path: string) => string | undefined) => T): T {
    if (spelling === undefined) {
      this.#plain ??= read((path) => path)
      return this.#plain
    }
    const byMount = this.#read.get(spelling.shape) ?? new Map<string, T>()
    this.#read.set(spelling.shape, byMount)
    const known = byMount.get(spelling.mountPath)
    if (known !== undefined) return known
    const made = read((path) => foldedPattern(spelling, path, !path.endsWith('*')))
    byMount.set(spelling.mountPath, made)
    return made
  }
}

/** All quotas of the server, indexed for lookup. Immutable: QuotaStore makes a new one after a change. */
export class QuotaRules {
  readonly config: QuotaConfig
  readonly #mounts = new Map<string, OfMount>()
  readonly #exempt = new ByShape<Exempt>()
  /** Quotas for whole namespaces, by their ids. */
  readonly #namespaces = new Map<string, RateQuota>()

  constructor(quotas: readonly RateQuota[], config: QuotaConfig) {
    this.config = config
    for (const quota of quotas) this.#add(quota)
  }

  #add(quota: RateQuota): void {
    if (quota.mount === '') {
      this.#namespaces.set(quota.namespace ?? ROOT_ID, quota)
      return
    }
    const of = this.#mounts.get(quota.mount) ?? nothing()
    this.#mounts.set(quota.mount, of)
    if (quota.role !== '') of.roles.set(asciiLowerCase(quota.role), quota)
    else if (quota.path === '') of.whole = quota
    else of.ofPaths.push(quota)
  }

  get isEmpty(): boolean {
    return this.#namespaces.size === 0 && this.#mounts.size === 0
  }

  /**
   * True if no quota counts requests to `path`: the whole canonical path below /v1/. Paths of quotas themselves are
   * always exempt, so an operator who set a quota too low can still lift it.
   */
  isExempt(path: string, spelling: PlacedShape | undefined): boolean {
    if (path.startsWith(QUOTAS)) return true
    const { exemptPaths } = this.config
    const { paths, beginnings } = this.#exempt.of(spelling, (kept) => exemptOf(exemptPaths, kept))
    return paths.has(path) || beginnings.some((text) => path.startsWith(text))
  }

  /** True if a quota of the mount names a role. Only then is the role of a login worth finding out. */
  hasRoles(mount: string): boolean {
    return (this.#mounts.get(mount)?.roles.size ?? 0) > 0
  }

  /** Returns the quota that counts the request, or undefined if none does. */
  find(counted: CountedAs): RateQuota | undefined {
    const { mount, role } = counted
    const of = this.#mounts.get(mount)
    if (of === undefined) return this.#ofNamespace(counted)
    const ofRole = role === undefined ? undefined : of.roles.get(asciiLowerCase(role))
    return ofRole ?? ofPath(of, counted) ?? of.whole ?? this.#ofNamespace(counted)
  }

  #ofNamespace({ namespace }: CountedAs): RateQuota | undefined {
    for (let at: Namespace | undefined = namespace; at !== undefined; at = at.parent) {
      const quota = this.#namespaces.get(at.id)
      if (quota !== undefined && (at === namespace || quota.inheritable)) return quota
    }
    return undefined
  }
}

function ofPath(of: OfMount, { path, mountPath, spelling }: CountedAs): RateQuota | undefined {
  if (of.ofPaths.length === 0) return undefined
  const { exact, beginnings } = of.paths.of(spelling, (kept) => pathsOf(of.ofPaths, mountPath, kept))
  return exact.get(path) ?? beginnings.find(({ text }) => path.startsWith(text))?.quota
}

type Kept = (path: string) => string | undefined

function exemptOf(exemptPaths: readonly string[], kept: Kept): Exempt {
  const texts = exemptPaths.flatMap((path) => kept(path) ?? [])
  const paths = new Set(texts.filter((text) => !text.endsWith('*')))
  return { paths, beginnings: texts.filter((text) => text.endsWith('*')).map((text) => text.slice(0, -1)) }
}

function pathsOf(quotas: readonly RateQuota[], mountPath: string, kept: Kept): Paths {
  const exact = new Map<string, RateQuota>()
  const beginnings: Beginning[] = []
  for (const quota of quotas) {
    const text = kept(mountPath + quota.path)?.slice(mountPath.length)
    if (text === undefined) continue
    if (text.endsWith('*')) beginnings.push({ text: text.slice(0, -1), quota })
    // If quotas name several spellings of one path, the canonical spelling wins.
    else if (!exact.has(text) || quota.path === text) exact.set(text, quota)
  }
  beginnings.sort((a, b) => b.text.length - a.text.length)
  return { exact, beginnings }
}
