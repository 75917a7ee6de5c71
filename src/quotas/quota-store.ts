// Stores the quotas, and keeps the rules made of them until one changes:
//
//   root/sys/quota/rate-limit/NAME    a quota
//   root/sys/quota/config             settings for all quotas
import { fail } from '../api/errors.ts'
import type { Namespace } from '../api/namespace.ts'
import { requireAlive } from '../namespaces/namespace-store.ts'
import { ROOT_NAMESPACE, systemScope } from '../storage/contract.ts'
import type { Invalidation } from '../storage/invalidation.ts'
import type { SealedStorage, View, ViewTransaction } from '../storage/sealed-storage.ts'
import { DEFAULT_QUOTA_CONFIG, QUOTA_CONFIG, type QuotaConfig, RATE_QUOTA, type RateQuota } from './quota.ts'
import { QuotaRules } from './quota-rules.ts'

const QUOTAS = `${ROOT_NAMESPACE}/sys/quota/`
const FOLDER = 'rate-limit/'
const CONFIG = 'config'
/** A change of one quota reads all of them again, so their number is bounded. */
const MAX_QUOTAS = 1_000

const NO_RULES = new QuotaRules([], DEFAULT_QUOTA_CONFIG)

/** The stored quotas. Every thread has one; a change of a quota anywhere drops the rules that it keeps. */
export class QuotaStore {
  readonly #storage: SealedStorage
  readonly #view: View
  #rules: QuotaRules | undefined
  #loading: Promise<QuotaRules> | undefined
  /** Incremented by every change; rules that were read under an older generation are not kept. */
  #generation = 0

  constructor(storage: SealedStorage, invalidation: Invalidation) {
    this.#storage = storage
    this.#view = storage.view(systemScope, QUOTAS)
    const stale = (): void => {
      this.#generation++
      this.#rules = undefined
      this.#loading = undefined
    }
    invalidation.register({ prefix: 'sys/quota/', changed: stale, reset: stale })
  }

  /** Returns the current rules, without a promise if nothing changed since they were read. */
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

  /** Names of all quotas, in order. */
  names(): Promise<string[]> {
    return this.#view.list(FOLDER)
  }

  /** Returns the stored quota, or undefined if there is none of this name. */
  async find(name: string): Promise<RateQuota | undefined> {
    const bytes = await this.#view.get(FOLDER + name)
    return bytes && RATE_QUOTA.decode(bytes)
  }

  /**
   * Stores what `change` makes of the quota that has the name now. `about` is the namespace that it is to be for, or
   * that its mount lies in.
   * @throws Refusal if another quota covers the same requests, there are too many, or the namespace is gone; whatever
   * `change` throws
   */
  async write(
    name: string,
    about: Namespace | undefined,
    change: (before: RateQuota | undefined) => RateQuota,
  ): Promise<void> {
    await this.#storage.transaction(async (folders) => {
      // A namespace's deletion removes its quotas: none may be stored behind that.
      if (about !== undefined) await requireAlive(folders.raw, about)
      const tx = folders.at(systemScope, QUOTAS)
      const bytes = await tx.get(FOLDER + name)
      const quota = change(bytes && RATE_QUOTA.decode(bytes))
      const others = (await allIn(tx)).filter((other) => other.name !== name)
      if (others.length >= MAX_QUOTAS)
        throw fail('limit_reached', [`There are ${MAX_QUOTAS} quotas, which is the limit`])
      const same = others.find(
        ({ mount, namespace, path, role }) =>
          mount === quota.mount && namespace === quota.namespace && path === quota.path && role === quota.role,
      )
      if (same !== undefined)
        // Wire text.
        throw fail('already_exists', [`quota rule with similar properties exists under the name "${same.name}"`])
      tx.put(FOLDER + name, RATE_QUOTA.encode(quota))
    })
  }

  /** Deletes the quota; does nothing if there is none. */
  async delete(name: string): Promise<void> {
    await this.#view.transaction(async (tx) => tx.delete(FOLDER + name))
  }

  /** Returns the settings for all quotas, with defaults for what was never set. */
  async config(): Promise<QuotaConfig> {
    const bytes = await this.#view.get(CONFIG)
    return bytes === undefined ? DEFAULT_QUOTA_CONFIG : QUOTA_CONFIG.decode(bytes)
  }

  /** Stores what `change` makes of the current settings. `change` may run again if the transaction conflicts. */
  async configure(change: (before: QuotaConfig) => QuotaConfig): Promise<void> {
    await this.#view.transaction(async (tx) => {
      const bytes = await tx.get(CONFIG)
      tx.put(
        CONFIG,
        QUOTA_CONFIG.encode(change(bytes === undefined ? DEFAULT_QUOTA_CONFIG : QUOTA_CONFIG.decode(bytes))),
      )
    })
  }

  /** Deletes the quotas of a mount that was removed. */
  removeMount(uuid: string): Promise<void> {
    return this.#removeAll(({ mount }) => mount === uuid)
  }

  /** Deletes the quota of a namespace that is being deleted. Those of its mounts go with them. */
  removeNamespace(id: string): Promise<void> {
    return this.#removeAll(({ mount, namespace }) => mount === '' && namespace === id)
  }

  async #removeAll(isOf: (quota: RateQuota) => boolean): Promise<void> {
    const rules = await this.rules()
    if (rules.isEmpty) return
    await this.#view.transaction(async (tx) => {
      for (const quota of await allIn(tx)) if (isOf(quota)) tx.delete(FOLDER + quota.name)
    })
  }
}

async function allIn(tx: ViewTransaction): Promise<RateQuota[]> {
  const entries = await tx.scan(FOLDER, '', MAX_QUOTAS + 1)
  return entries.map(({ value }) => RATE_QUOTA.decode(value))
}
