// Which quota counts a request: the most specific one alone. A role of a login comes before a path, a path before the
// longest beginning of one, that before the mount, and the mount before what is for all.
import type { QuotaConfig, RateQuota } from './quota.ts'

type OfMount = {
  readonly roles: Map<string, RateQuota>
  readonly paths: Map<string, RateQuota>
  /** The longest first. */
  readonly beginnings: { readonly text: string; readonly quota: RateQuota }[]
  whole: RateQuota | undefined
}

const QUOTAS = 'sys/quotas/'

const nothing = (): OfMount => ({ roles: new Map(), paths: new Map(), beginnings: [], whole: undefined })

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
    for (const { beginnings } of this.#mounts.values()) beginnings.sort((a, b) => b.text.length - a.text.length)
  }

  #add(quota: RateQuota): void {
    if (quota.mount === '') {
      this.#global = quota
      return
    }
    const of = this.#mounts.get(quota.mount) ?? nothing()
    this.#mounts.set(quota.mount, of)
    if (quota.role !== '') of.roles.set(quota.role, quota)
    else if (quota.path === '') of.whole = quota
    else if (quota.path.endsWith('*')) of.beginnings.push({ text: quota.path.slice(0, -1), quota })
    else of.paths.set(quota.path, quota)
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

  /** `mount` is '' where no mount serves the request, `path` is what is behind the mount's. */
  find(mount: string, path: string, role: string | undefined): RateQuota | undefined {
    const of = this.#mounts.get(mount)
    if (of === undefined) return this.#global
    const ofRole = role === undefined ? undefined : of.roles.get(role)
    return (
      ofRole ??
      of.paths.get(path) ??
      of.beginnings.find(({ text }) => path.startsWith(text))?.quota ??
      of.whole ??
      this.#global
    )
  }
}
