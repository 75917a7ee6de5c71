// The quotas as they are stored, and the rules made of them, kept until one changes:
//
//   root/sys/quota/rate-limit/NAME    a quota
//   root/sys/quota/config             what counts for all
import { fail } from '../api/errors.ts'
import { ROOT_NAMESPACE, systemScope } from '../storage/contract.ts'
import type { Invalidation } from '../storage/invalidation.ts'
import type { SealedStorage, View, ViewTransaction } from '../storage/sealed-storage.ts'
import { DEFAULT_QUOTA_CONFIG, QUOTA_CONFIG, type QuotaConfig, RATE_QUOTA, type RateQuota } from './quota.ts'
import { QuotaRules } from './quota-rules.ts'

const FOLDER = 'rate-limit/'
const CONFIG = 'config'
/** All are read when one changes. */
const MAX_QUOTAS = 1_000

const NO_RULES = new QuotaRules([], DEFAULT_QUOTA_CONFIG)

export class QuotaStore {
  readonly #view: View
  #rules: QuotaRules | undefined
  #loading: Promise<QuotaRules> | undefined
  /** Grows with every change: what was read before it is not kept. */
  #generation = 0

  constructor(storage: SealedStorage, invalidation: Invalidation) {
    this.#view = storage.view(systemScope, `${ROOT_NAMESPACE}/sys/quota/`)
    const stale = (): void => {
      this.#generation++
      this.#rules = undefined
      this.#loading = undefined
    }
    invalidation.register({ prefix: 'sys/quota/', changed: stale, reset: stale })
  }

  /** At once where nothing changed since they were read. */
  rules(): QuotaRules | Promise<QuotaRules> {
    if (this.#rules !== undefined) return this.#rules
    this.#loading ??= this.#load(this.#generation)
    return this.#loading
  }

  async #load(generation: number): Promise<QuotaRules> {
    try {
      const [names, config] = await Promise.all([this.names(), this.config()])
      const quotas = await Promise.all(names.map((name) => this.find(name)))
      const found = quotas.filter((quota) => quota !== undefined)
      const rules = found.length === 0 && config === DEFAULT_QUOTA_CONFIG ? NO_RULES : new QuotaRules(found, config)
      if (generation !== this.#generation) return this.rules()
      this.#rules = rules
      return rules
    } finally {
      if (generation === this.#generation) this.#loading = undefined
    }
  }

  names(): Promise<string[]> {
    return this.#view.list(FOLDER)
  }

  async find(name: string): Promise<RateQuota | undefined> {
    const bytes = await this.#view.get(FOLDER + name)
    return bytes && RATE_QUOTA.decode(bytes)
  }

  /**
   * `change` gets what has the name so far. @throws Refusal where another quota is for the same requests, or there are
   * too many; and what `change` throws
   */
  async write(name: string, change: (before: RateQuota | undefined) => RateQuota): Promise<void> {
    await this.#view.transaction(async (tx) => {
      const bytes = await tx.get(FOLDER + name)
      const quota = change(bytes && RATE_QUOTA.decode(bytes))
      const others = (await allIn(tx)).filter((other) => other.name !== name)
      if (others.length >= MAX_QUOTAS)
        throw fail('limit_reached', [`There are ${MAX_QUOTAS} quotas, which is the limit`])
      const same = others.find(
        ({ mount, path, role }) => mount === quota.mount && path === quota.path && role === quota.role,
      )
      if (same !== undefined)
        // Wire text.
        throw fail('already_exists', [`quota rule with similar properties exists under the name "${same.name}"`])
      tx.put(FOLDER + name, RATE_QUOTA.encode(quota))
    })
  }

  async delete(name: string): Promise<void> {
    await this.#view.transaction(async (tx) => tx.delete(FOLDER + name))
  }

  async config(): Promise<QuotaConfig> {
    const bytes = await this.#view.get(CONFIG)
    return bytes === undefined ? DEFAULT_QUOTA_CONFIG : QUOTA_CONFIG.decode(bytes)
  }

  async configure(change: (before: QuotaConfig) => QuotaConfig): Promise<void> {
    await this.#view.transaction(async (tx) => {
      const bytes = await tx.get(CONFIG)
      tx.put(
        CONFIG,
        QUOTA_CONFIG.encode(change(bytes === undefined ? DEFAULT_QUOTA_CONFIG : QUOTA_CONFIG.decode(bytes))),
      )
    })
  }

  /** With a mount its quotas go. */
  async removeMount(uuid: string): Promise<void> {
    const rules = await this.rules()
    if (rules.isEmpty) return
    await this.#view.transaction(async (tx) => {
      for (const { mount, name } of await allIn(tx)) if (mount === uuid) tx.delete(FOLDER + name)
    })
  }
}

async function allIn(tx: ViewTransaction): Promise<RateQuota[]> {
  const entries = await tx.scan(FOLDER, '', MAX_QUOTAS + 1)
  return entries.map(({ value }) => RATE_QUOTA.decode(value))
}
