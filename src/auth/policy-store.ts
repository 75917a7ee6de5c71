// Access rules by name, and the combined rules of a set of names, built once and kept until any policy changes.
import { isJsonObject, parseStoredJson } from '../lib/json.ts'
import type { Clock } from '../lib/world.ts'
import { ROOT_NAMESPACE, systemScope } from '../storage/contract.ts'
import type { Invalidation } from '../storage/invalidation.ts'
import type { SealedStorage, View } from '../storage/sealed-storage.ts'
import { type Acl, buildAcl } from './acl.ts'
import { BUILTIN_POLICIES } from './builtin-policies.ts'
import { type Policy, parsePolicy } from './policy.ts'

export const POLICY_FOLDER = `${ROOT_NAMESPACE}/sys/policy/`
const CACHED_ACLS = 10_000

export class PolicyStore {
  readonly #view: View
  readonly #clock: Clock
  readonly #acls = new Map<string, Acl>()
  /** Grows with every change: what was read before it is not kept. */
  #generation = 0

  constructor(storage: SealedStorage, clock: Clock, invalidation: Invalidation) {
    this.#clock = clock
    this.#view = storage.view(systemScope, POLICY_FOLDER)
    const forget = () => {
      this.#generation++
      this.#acls.clear()
    }
    invalidation.register({ prefix: 'sys/policy/', changed: forget, reset: forget })
  }

  /** The text as it was written, or undefined. `name` is normalised. */
  async read(name: string): Promise<string | undefined> {
    const bytes = await this.#view.get(name)
    if (bytes === undefined) return BUILTIN_POLICIES.get(name)
    const stored = parseStoredJson(bytes)
    if (!isJsonObject(stored) || stored.format !== 1 || typeof stored.text !== 'string') {
      throw new Error('A policy entry has an unknown format')
    }
    return stored.text
  }

  /** `text` was parsed before. */
  async write(name: string, text: string): Promise<void> {
    const entry = Buffer.from(JSON.stringify({ format: 1, namespace: ROOT_NAMESPACE, text }))
    await this.#view.transaction(async (tx) => tx.put(name, entry))
  }

  async delete(name: string): Promise<void> {
    await this.#view.transaction(async (tx) => tx.delete(name))
  }

  /** Names of all policies, the built-in ones included, sorted; `root`, which has no text, last. */
  async list(): Promise<string[]> {
    const names = new Set(['default'])
    const folders = ['']
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      for (const name of await this.#view.list(folder)) {
        if (name.endsWith('/')) folders.push(folder + name)
        else names.add(folder + name)
      }
    }
    return [...[...names].sort(), 'root']
  }

  /** The rules of all `names` together; a name without a policy grants nothing. Waits only where it is not kept. */
  acl(names: readonly string[]): Acl | Promise<Acl> {
    const kept = this.#acls.get(names.length === 1 ? (names[0] as string) : names.join('\n'))
    return kept === undefined || kept.staleAtMs <= this.#clock.nowMs() ? this.#build(names) : kept
  }

  async #build(names: readonly string[]): Promise<Acl> {
    const generation = this.#generation
    const policies: Policy[] = []
    for (const name of names) {
      if (name === 'root') policies.push({ name, rules: [] })
      else {
        const text = await this.read(name)
        if (text !== undefined) policies.push({ name, rules: parsePolicy(text).rules })
      }
    }
    const acl = buildAcl(policies, undefined, this.#clock.nowMs())
    if (generation === this.#generation) {
      if (this.#acls.size >= CACHED_ACLS) this.#acls.clear()
      this.#acls.set(names.join('\n'), acl)
    }
    return acl
  }
}
