// Access rules by name, and the combined rules of a set of names. A policy is read and parsed once, and a set combined
// once, until any policy changes.
import type { Log } from '../lib/log.ts'
import { count, flag, orUndefined, otherwise, text as textKind } from '../lib/member-kinds.ts'
import { WeighedCache } from '../lib/weighed-cache.ts'
import type { Clock } from '../lib/world.ts'
import { ROOT_NAMESPACE, systemScope } from '../storage/contract.ts'
import type { Invalidation } from '../storage/invalidation.ts'
import type { SealedStorage, View } from '../storage/sealed-storage.ts'
import { type RecordOf, storedRecord } from '../storage/stored-record.ts'
import { type Acl, buildAcl } from './acl.ts'
import { BUILTIN_POLICIES } from './builtin-policies.ts'
import { type Explanation, explainAccess } from './explain.ts'
import type { AclRequest } from './permissions.ts'
import { type Policy, parsePolicy } from './policy.ts'
import { fillPattern, isTemplated, type TemplateResolver } from './policy-path.ts'

export const POLICY_FOLDER = `${ROOT_NAMESPACE}/sys/policy/`
/** Of each kind that is kept. Whoever makes tokens chooses which policies are joined, so rules are bounded as well. */
const CACHED_ACLS = 10_000
export const CACHED_RULES = 250_000
/** As much of the names of a set as a rule takes. */
const NAMES_PER_RULE = 500
const LOOKED_AT_ONCE = 100

/** Whom the templates in the paths are about. */
export type PolicySubject = {
  /** Another one whenever `resolve` would answer otherwise (entity and its generation); without a line break. */
  readonly key: string
  readonly resolve: TemplateResolver
}

export const POLICY = storedRecord(
  'A policy entry',
  {
    namespace: otherwise(textKind, ROOT_NAMESPACE),
    text: textKind,
    /** Grows by one with each write; 0 for built-in ones, and for those written before versions were counted. */
    version: otherwise(count, 0),
    /** Undefined where the version is 0. */
    modifiedAtMs: orUndefined(count),
    /** A write must name the version that it replaces. */
    casRequired: otherwise(flag, false),
    /** From then on it is as if it were not there; undefined: it stays. */
    expiresAtMs: orUndefined(count),
  },
  'dropped',
)
/** A policy as it is kept. */
export type StoredPolicy = Omit<RecordOf<typeof POLICY>, 'namespace'>

/** What a write asks of the policy that it replaces. */
export type PolicyWrite = {
  readonly text: string
  /** The version that must be there; -1: none must be there; undefined: whichever is. */
  readonly cas: number | undefined
  /** Undefined: as before. */
  readonly casRequired: boolean | undefined
  /** Missing: it stays. */
  readonly expiresAtMs?: number | undefined
}

/** Combined rules without any subject: good for every caller where nothing in them depends on one. */
type Combined = { readonly acl: Acl; readonly isTemplated: boolean }

export class PolicyStore {
  readonly #view: View
  readonly #clock: Clock
  readonly #log: Log
  /** By the list that a token's entry has: joining a hundred names costs more than finding what they grant. */
  readonly #keys = new WeakMap<readonly string[], string>()
  readonly #parsed = new WeighedCache<Policy | undefined>({ entries: CACHED_ACLS, weight: CACHED_RULES })
  readonly #combined = new WeighedCache<Combined>({ entries: CACHED_ACLS, weight: CACHED_RULES })
  /** Of templated rules, by subject. */
  readonly #filled = new WeighedCache<Acl>({ entries: CACHED_ACLS, weight: CACHED_RULES })
  #onEnd: (atMs: number) => void = () => {}
  /** Grows with every change: what was read before it is not kept. */
  #generation = 0

  constructor(storage: SealedStorage, clock: Clock, invalidation: Invalidation, log: Log = () => {}) {
    this.#clock = clock
    this.#log = log
    this.#view = storage.view(systemScope, POLICY_FOLDER)
    const forget = () => {
      this.#generation++
      this.#parsed.clear()
      this.#combined.clear()
      this.#filled.clear()
    }
    invalidation.register({ prefix: 'sys/policy/', changed: forget, reset: forget })
  }

  /** The policy as it was written, or undefined. `name` is normalised. */
  async read(name: string): Promise<StoredPolicy | undefined> {
    return this.#current(decoded(await this.#view.get(name))) ?? builtin(name)
  }

  #current(stored: StoredPolicy | undefined): StoredPolicy | undefined {
    return stored?.expiresAtMs === undefined || stored.expiresAtMs > this.#clock.nowMs() ? stored : undefined
  }

  /** Is told of each end that is set here. */
  onEnd(listener: (atMs: number) => void): void {
    this.#onEnd = listener
  }

  /** `text` was parsed before. False, and nothing written, where what is there is not what the write asks for. */
  async write(name: string, { text, cas, casRequired, expiresAtMs }: PolicyWrite): Promise<boolean> {
    const isWritten = await this.#view.transaction(async (tx) => {
      const before = this.#current(decoded(await tx.get(name)))
      const isMet =
        cas === undefined ? before?.casRequired !== true : cas === (before?.version ?? builtin(name)?.version ?? -1)
      if (!isMet) return false
      const entry = POLICY.encode({
        namespace: ROOT_NAMESPACE,
        text,
        version: (before?.version ?? 0) + 1,
        modifiedAtMs: this.#clock.nowMs(),
        casRequired: casRequired ?? before?.casRequired ?? false,
        expiresAtMs,
      })
      tx.put(name, entry)
      return true
    })
    if (isWritten && expiresAtMs !== undefined) this.#onEnd(expiresAtMs)
    return isWritten
  }

  async delete(name: string): Promise<void> {
    await this.#view.transaction(async (tx) => tx.delete(name))
  }

  /**
   * Removes all that have expired; returns when the next one does, Infinity where none will. Calls `rest` now and then,
   * to let others have their turn.
   */
  async removeExpired(rest: () => Promise<void>): Promise<number> {
    let nextEndMs = Infinity
    let looked = 0
    for (const name of await this.list()) {
      const { expiresAtMs } = decoded(await this.#view.get(name)) ?? {}
      if (++looked % LOOKED_AT_ONCE === 0) await rest()
      if (expiresAtMs === undefined) continue
      if (expiresAtMs > this.#clock.nowMs()) nextEndMs = Math.min(nextEndMs, expiresAtMs)
      else await this.#removeExpired(name)
    }
    return nextEndMs
  }

  #removeExpired(name: string): Promise<void> {
    return this.#view.transaction(async (tx) => {
      const stored = decoded(await tx.get(name))
      if (stored !== undefined && this.#current(stored) === undefined) tx.delete(name)
    })
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

  /**
   * The rules of all `names` together; a name without a policy grants nothing. `subject` fills the templates in their
   * paths; without one, templated rules do not exist. Waits only where it is not kept.
   */
  acl(names: readonly string[], subject?: PolicySubject): Acl | Promise<Acl> {
    const key = this.#keyOf(names)
    const combined = this.#combined.get(key)
    if (combined === undefined) return this.#build(names, key, subject)
    const isShared = subject === undefined || !combined.isTemplated
    const kept = isShared ? combined.acl : this.#filled.get(`${subject.key}\n${key}`)
    return kept === undefined || kept.staleAtMs <= this.#clock.nowMs() ? this.#build(names, key, subject) : kept
  }

  #keyOf(names: readonly string[]): string {
    if (names.length === 1) return names[0] as string
    let key = this.#keys.get(names)
    if (key === undefined) {
      key = names.join('\n')
      this.#keys.set(names, key)
    }
    return key
  }

  /** Which rule decides about a request, and which others are about its path: slow, for people. */
  async explain(names: readonly string[], request: AclRequest, subject?: PolicySubject): Promise<Explanation> {
    return explainAccess(await this.#policies(names), request, subject?.resolve, this.#clock.nowMs())
  }

  async #build(names: readonly string[], key: string, subject: PolicySubject | undefined): Promise<Acl> {
    const generation = this.#generation
    const policies = await this.#policies(names)
    const isTemplatedSet = policies.some(({ rules }) => rules.some(({ path }) => isTemplated(path)))
    const nowMs = this.#clock.nowMs()
    const acl = buildAcl(policies, undefined, nowMs)
    if (generation === this.#generation)
      this.#combined.keep(key, { acl, isTemplated: isTemplatedSet }, weightOf(key, acl.ruleCount))
    if (!isTemplatedSet || subject === undefined) return acl
    const own = buildAcl(policies, subject.resolve, nowMs)
    const ownKey = `${subject.key}\n${key}`
    if (generation === this.#generation) this.#filled.keep(ownKey, own, weightOf(ownKey, own.ruleCount))
    this.#logUnsafe(policies, subject.resolve)
    return own
  }

  async #policies(names: readonly string[]): Promise<Policy[]> {
    const policies: Policy[] = []
    for (const name of names) {
      const policy = await this.#policy(name)
      if (policy !== undefined) policies.push(policy)
    }
    return policies
  }

  async #policy(name: string): Promise<Policy | undefined> {
    if (name === 'root') return { name, rules: [] }
    if (this.#parsed.has(name)) return this.#parsed.get(name)
    const generation = this.#generation
    // An expired one too, until it is swept: its rules are over, and whoever asks why is told so.
    const stored = decoded(await this.#view.get(name)) ?? builtin(name)
    const policy =
      stored === undefined ? undefined : { ...parsePolicy(stored.text), name, expiresAtMs: stored.expiresAtMs }
    if (generation === this.#generation) this.#parsed.keep(name, policy, weightOf(name, policy?.rules.length ?? 0))
    return policy
  }

  /** A value that would widen a rule is somebody's mistake or attempt (threats A-03); it is in no log itself. */
  #logUnsafe(policies: readonly Policy[], resolve: TemplateResolver): void {
    for (const { name, rules } of policies) {
      for (const { path, line } of rules) {
        const filled = fillPattern(path, resolve)
        if (!('unfilled' in filled) || filled.unfilled !== 'unsafe-value') continue
        this.#log('warn', 'A templated rule is left out: its value has a wildcard, a slash or a control character', {
          policy: name,
          line,
        })
      }
    }
  }
}

function builtin(name: string): StoredPolicy | undefined {
  const text = BUILTIN_POLICIES.get(name)
  if (text === undefined) return undefined
  return { text, version: 0, modifiedAtMs: undefined, casRequired: false, expiresAtMs: undefined }
}

function decoded(bytes: Buffer | undefined): StoredPolicy | undefined {
  if (bytes === undefined) return undefined
  const { namespace: _namespace, ...policy } = POLICY.decode(bytes)
  return policy
}

const weightOf = (key: string, rules: number): number => 1 + rules + Math.floor(key.length / NAMES_PER_RULE)
