// Which quota counts a request: the most specific one alone. A role of a login comes before a path, a path before the
// longest beginning of one, that before the mount, and the mount before what is for all.
import { foldedPattern, type PathShape, type PlacedShape } from '../api/spelling.ts'
import { asciiLowerCase } from '../lib/ascii.ts'
import type { QuotaConfig, RateQuota } from './quota.ts'

type OfMount = {
  /** By their names in lower case: no login method tells roles apart by the case of their letters. */
  readonly roles: Map<string, RateQuota>
  /** Those of its paths, in the order of their names. */
  readonly ofPaths: RateQuota[]
  /** The same, once a request came that they may count: by its path's names that go by several spellings. */
  readonly paths: ByShape<Paths>
  whole: RateQuota | undefined
}
type Paths = {
  readonly exact: ReadonlyMap<string, RateQuota>
  /** The longest first. */
  readonly beginnings: readonly Beginning[]
}
type Beginning = { readonly text: string; readonly quota: RateQuota }
/** Paths that no quota counts. */
type Exempt = { readonly paths: ReadonlySet<string>; readonly beginnings: readonly string[] }

/** What a request is counted by. */
export type CountedAs = {
  /** '' where none serves it. */
  readonly mount: string
  /** Of that mount, ending in '/'. */
  readonly mountPath: string
  /** Behind the mount's, with its names as they are kept. */
  readonly path: string
  /** Where some of those go by several spellings: the paths of quotas are read so too. */
  readonly spelling: PlacedShape | undefined
  readonly role: string | undefined
}

const QUOTAS = 'sys/quotas/'

const nothing = (): OfMount => ({ roles: new Map(), ofPaths: [], paths: new ByShape(), whole: undefined })

/** What operators wrote of paths, read once for each kind of path whose names go by several spellings. */
class ByShape<T> {
  #plain: T | undefined
  readonly #read = new WeakMap<PathShape, Map<string, T>>()

  /** `read` gets how a path, with a star at its end or without, is to be read; undefined: it is about other paths. */
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

export class QuotaRules {
  readonly config: QuotaConfig
  readonly #mounts = new Map<string, OfMount>()
  readonly #exempt = new ByShape<Exempt>()
  #global: RateQuota | undefined

  constructor(quotas: readonly RateQuota[], config: QuotaConfig) {
    this.config = config
    for (const quota of quotas) this.#add(quota)
  }

  #add(quota: RateQuota): void {
    if (quota.mount === '') {
      this.#global = quota
      return
    }
    const of = this.#mounts.get(quota.mount) ?? nothing()
    this.#mounts.set(quota.mount, of)
    if (quota.role !== '') of.roles.set(asciiLowerCase(quota.role), quota)
    else if (quota.path === '') of.whole = quota
    else of.ofPaths.push(quota)
  }

  get isEmpty(): boolean {
    return this.#global === undefined && this.#mounts.size === 0
  }

  /**
   * `path` is the whole one, behind /v1/, with its names as they are kept. Who set a quota too low can always lift it.
   */
  isExempt(path: string, spelling: PlacedShape | undefined): boolean {
    if (path.startsWith(QUOTAS)) return true
    const { exemptPaths } = this.config
    const { paths, beginnings } = this.#exempt.of(spelling, (kept) => exemptOf(exemptPaths, kept))
    return paths.has(path) || beginnings.some((text) => path.startsWith(text))
  }

  hasRoles(mount: string): boolean {
    return (this.#mounts.get(mount)?.roles.size ?? 0) > 0
  }

  find(counted: CountedAs): RateQuota | undefined {
    const { mount, role } = counted
    const of = this.#mounts.get(mount)
    if (of === undefined) return this.#global
    const ofRole = role === undefined ? undefined : of.roles.get(asciiLowerCase(role))
    return ofRole ?? ofPath(of, counted) ?? of.whole ?? this.#global
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
    // Of several spellings the one that is kept counts.
    else if (!exact.has(text) || quota.path === text) exact.set(text, quota)
  }
  beginnings.sort((a, b) => b.text.length - a.text.length)
  return { exact, beginnings }
}
