// Which quota counts a request: the most specific one alone. A role of a login comes before a path, a path before the
// longest beginning of one, that before the mount, and the mount before what is for all.
import type { Router } from '../api/router.ts'
import { asciiLowerCase } from '../lib/ascii.ts'
import type { QuotaConfig, RateQuota } from './quota.ts'

type OfMount = {
  /** By their names in lower case: no login method tells roles apart by the case of their letters. */
  readonly roles: Map<string, RateQuota>
  /** Those of its paths, in the order of their names. */
  readonly ofPaths: RateQuota[]
  /** The same, once a request came that they may count. */
  paths: Paths | undefined
  whole: RateQuota | undefined
}
type Paths = {
  readonly exact: ReadonlyMap<string, RateQuota>
  /** The longest first. */
  readonly beginnings: readonly Beginning[]
}
/** `text` as it was written, `kept` with its names as they are kept. */
type Beginning = { readonly text: string; readonly kept: string; readonly quota: RateQuota }
/** Knows how names in paths are kept. */
type Spelling = Pick<Router, 'keptPath'>

/** What a request is counted by. `mount` is '' where none serves it, `path` is what is behind the mount's. */
export type CountedAs = { readonly mount: string; readonly path: string; readonly role: string | undefined }

const QUOTAS = 'sys/quotas/'

const nothing = (): OfMount => ({ roles: new Map(), ofPaths: [], paths: undefined, whole: undefined })

export class QuotaRules {
  readonly config: QuotaConfig
  readonly #mounts = new Map<string, OfMount>()
  readonly #exempt = new Set<string>()
  readonly #exemptBeginnings: string[] = []
  #global: RateQuota | undefined

  constructor(quotas: readonly RateQuota[], config: QuotaConfig) {
    this.config = config
    for (const path of config.exemptPaths) {
      if (path.endsWith('*')) this.#exemptBeginnings.push(path.slice(0, -1))
      else this.#exempt.add(path)
    }
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

  /** `path` is the whole one, behind /v1/. Who set a quota too low can always lift it. */
  isExempt(path: string): boolean {
    return (
      path.startsWith(QUOTAS) || this.#exempt.has(path) || this.#exemptBeginnings.some((text) => path.startsWith(text))
    )
  }

  hasRoles(mount: string): boolean {
    return (this.#mounts.get(mount)?.roles.size ?? 0) > 0
  }

  /** Paths are compared with their names as they are kept: another spelling of one is counted with it. */
  find({ mount, path, role }: CountedAs, spelling: Spelling | undefined): RateQuota | undefined {
    const of = this.#mounts.get(mount)
    if (of === undefined) return this.#global
    const ofRole = role === undefined ? undefined : of.roles.get(asciiLowerCase(role))
    return ofRole ?? ofPath(of, path, spelling) ?? of.whole ?? this.#global
  }
}

function ofPath(of: OfMount, path: string, spelling: Spelling | undefined): RateQuota | undefined {
  if (of.ofPaths.length === 0 || spelling === undefined) return undefined
  of.paths ??= pathsOf(of.ofPaths, spelling)
  const kept = spelling.keptPath(path)
  // A beginning that ends behind a name, within the path of an endpoint, leads to none: it holds as it was written.
  const begins = (one: Beginning) => kept.startsWith(one.kept) || path.startsWith(one.text)
  return of.paths.exact.get(kept) ?? of.paths.beginnings.find(begins)?.quota
}

function pathsOf(quotas: readonly RateQuota[], spelling: Spelling): Paths {
  const exact = new Map<string, RateQuota>()
  const beginnings: Beginning[] = []
  for (const quota of quotas) {
    if (quota.path.endsWith('*')) {
      const text = quota.path.slice(0, -1)
      beginnings.push({ text, kept: keptBeginning(text, spelling), quota })
      continue
    }
    const kept = spelling.keptPath(quota.path)
    // Of several spellings the one that is kept counts.
    if (!exact.has(kept) || quota.path === kept) exact.set(kept, quota)
  }
  beginnings.sort((a, b) => b.text.length - a.text.length)
  return { exact, beginnings }
}

/** `users/SVC-` leads nowhere, since no name ends so: with a letter more it does. */
function keptBeginning(text: string, spelling: Spelling): string {
  const longer = spelling.keptPath(`${text}x`).slice(0, -1)
  return longer === text ? spelling.keptPath(text) : longer
}
