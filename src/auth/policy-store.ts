// The policies of all namespaces by name, and the joined rules of sets of names. A policy is read and parsed once, and
// a set joined once, until any policy changes. Everything kept is bounded (threats A-09).
//
//   NAMESPACE/sys/policy/NAME      NAMESPACE is the id: a name that is used again leads to nothing old
import { type Namespaces, ROOT } from '../api/namespace.ts'
import type { Log } from '../lib/log.ts'
import { count, flag, orUndefined, otherwise, text as textKind } from '../lib/member-kinds.ts'
import { WeighedCache } from '../lib/weighed-cache.ts'
import type { Clock } from '../lib/world.ts'
import { unlessGoing } from '../namespaces/namespace-store.ts'
import { scopeOfNamespace } from '../namespaces/records.ts'
import { ROOT_NAMESPACE } from '../storage/contract.ts'
import type { Invalidation } from '../storage/invalidation.ts'
import type { SealedStorage, View } from '../storage/sealed-storage.ts'
import { type RecordOf, storedRecord } from '../storage/stored-record.ts'
import { type Acl, buildAcl } from './acl.ts'
import { BUILTIN_POLICIES } from './builtin-policies.ts'
import { type Explanation, explainAccess } from './explain.ts'
import type { AclRequest } from './permissions.ts'
import { type Policy, parsePolicy } from './policy.ts'
import { fillPattern, isTemplated, type TemplateResolver } from './policy-path.ts'
import type { PolicyNames } from './rights.ts'

/** Where the policies of a namespace are stored, a key for each name. */
export const policyFolder = (namespaceId: string): string => `${namespaceId}/sys/policy/`
/** Entries of each cache. Clients choose which policies their tokens join, so rules are counted as well. */
const CACHED_ACLS = 10_000
/** Rules that each cache holds at most. */
export const CACHED_RULES = 250_000
/** Characters of a cache key that weigh as much as one rule. */
const NAMES_PER_RULE = 500
/** Policies that a sweep reads before it yields. */
const LOOKED_AT_ONCE = 100

/** The identity whose values fill templates in paths. */
export type PolicySubject = {
  /** Must change whenever `resolve` would answer otherwise (entity id and its generation); contains no line break. */
  readonly key: string
  readonly resolve: TemplateResolver
}

/** The stored form of a policy. Members that older servers did not write have defaults. */
export const POLICY = storedRecord(
  'A policy entry',
  {
    /** Id of its namespace. */
    namespace: otherwise(textKind, ROOT_NAMESPACE),
    text: textKind,
    /** Grows by one with each write. 0 for built-in policies, and for those written before versions were counted. */
    version: otherwise(count, 0),
    /** Undefined if the version is 0. */
    modifiedAtMs: orUndefined(count),
    /** True if a write must name the version that it replaces. */
    casRequired: otherwise(flag, false),
    /** From this time on the policy counts as deleted; undefined if it never expires. */
    expiresAtMs: orUndefined(count),
  },
  'dropped',
)
/** A stored policy without its namespace, or a built-in one in the same form. */
export type StoredPolicy = Omit<RecordOf<typeof POLICY>, 'namespace'>

/** What a write stores, and what it requires of the policy that it replaces. */
export type PolicyWrite = {
  readonly text: string
  /** The version that must be stored; -1 if there must be none; undefined if any will do. */
  readonly cas: number | undefined
  /** Undefined keeps the former setting. */
  readonly casRequired: boolean | undefined
  /** Undefined if the policy never expires; an end set before is dropped. */
  readonly expiresAtMs?: number | undefined
}

/** Joined rules without a subject: valid for every caller if no rule is templated. */
type Combined = { readonly acl: Acl; readonly isTemplated: boolean }

type Parts = {
  readonly storage: Pick<SealedStorage, 'view'>
  readonly namespaces: Namespaces
  readonly clock: Clock
  readonly invalidation: Invalidation
  readonly log: Log
}

/**
 * The policies of a node. Every thread has one; only the writing thread calls `write` and `delete`. A namespace is
 * named by its id, and has no policies while it is not known.
 */
export class PolicyStore {
  readonly #parts: Parts
  /** By namespace and name. */
  readonly #parsed = new WeighedCache<Policy | undefined>({ entries: CACHED_ACLS, weight: CACHED_RULES })
  readonly #combined = new WeighedCache<Combined>({ entries: CACHED_ACLS, weight: CACHED_RULES })
  /** Rules of templated policies, by subject and names. */
  readonly #filled = new WeighedCache<Acl>({ entries: CACHED_ACLS, weight: CACHED_RULES })
  #onEnd: (atMs: number) => void = () => {}
  /** Grows with every change. What was read before a change is not cached after it: it may be stale. */
  #generation = 0

  constructor(parts: Parts) {
    this.#parts = parts
    const forget = () => {
      this.#generation++
      this.#parsed.clear()
      this.#combined.clear()
      this.#filled.clear()
    }
    parts.invalidation.register({ prefix: 'sys/policy/', changed: forget, reset: forget })
  }

  #viewOf(namespaceId: string): View {
    const { storage, namespaces } = this.#parts
    const guard = unlessGoing(namespaces, namespaceId)
    return storage.view(scopeOfNamespace(namespaceId), policyFolder(namespaceId), guard)
  }

  get #nowMs(): number {
    return this.#parts.clock.nowMs()
  }

  /**
   * Returns the policy of the namespace, or the built-in one of that name, or undefined. Expired ones count as absent.
   * `name` is normalised.
   */
  async read(namespaceId: string, name: string): Promise<StoredPolicy | undefined> {
    return this.#current(decoded(await this.#viewOf(namespaceId).get(name))) ?? builtin(name)
  }

  #current(stored: StoredPolicy | undefined): StoredPolicy | undefined {
    return stored?.expiresAtMs === undefined || stored.expiresAtMs > this.#nowMs ? stored : undefined
  }

  /** Sets the listener that is told of each end set here, so that the sweep can be in time. */
  onEnd(listener: (atMs: number) => void): void {
    this.#onEnd = listener
  }

  /**
   * Stores a policy whose text was parsed before. Returns false, and writes nothing, if the stored version is not the
   * one that the write requires.
   */
  async write(
    namespaceId: string,
    name: string,
    { text, cas, casRequired, expiresAtMs }: PolicyWrite,
  ): Promise<boolean> {
    const isWritten = await this.#viewOf(namespaceId).transaction(async (tx) => {
      const before = this.#current(decoded(await tx.get(name)))
      const isMet =
        cas === undefined ? before?.casRequired !== true : cas === (before?.version ?? builtin(name)?.version ?? -1)
      if (!isMet) return false
      const entry = POLICY.encode({
        namespace: namespaceId,
        text,
        version: (before?.version ?? 0) + 1,
        modifiedAtMs: this.#nowMs,
        casRequired: casRequired ?? before?.casRequired ?? false,
        expiresAtMs,
      })
      tx.put(name, entry)
      return true
    })
    if (isWritten && expiresAtMs !== undefined) this.#onEnd(expiresAtMs)
    return isWritten
  }

  /** Deletes the stored policy. A built-in one of that name holds again. */
  async delete(namespaceId: string, name: string): Promise<void> {
    await this.#viewOf(namespaceId).transaction(async (tx) => tx.delete(name))
  }

  /**
   * Deletes all expired policies of all namespaces. Returns when the next one expires, Infinity if none will. Calls
   * `rest` now and then to let other work run.
   */
  async removeExpired(rest: () => Promise<void>): Promise<number> {
    const { namespaces } = this.#parts
    if (namespaces.stale) await namespaces.refresh()
    let nextEndMs = Infinity
    let looked = 0
    for (const { id, isGoing } of [ROOT, ...namespaces.below(ROOT)]) {
      // All of it is being removed.
      if (isGoing) continue
      for (const name of await this.list(id)) {
        const { expiresAtMs } = decoded(await this.#viewOf(id).get(name)) ?? {}
        if (++looked % LOOKED_AT_ONCE === 0) await rest()
        if (expiresAtMs === undefined) continue
        if (expiresAtMs > this.#nowMs) nextEndMs = Math.min(nextEndMs, expiresAtMs)
        else await this.#removeExpired(id, name)
      }
    }
    return nextEndMs
  }

  #removeExpired(namespaceId: string, name: string): Promise<void> {
    return this.#viewOf(namespaceId).transaction(async (tx) => {
      const stored = decoded(await tx.get(name))
      if (stored !== undefined && this.#current(stored) === undefined) tx.delete(name)
    })
  }

  /**
   * Returns the names of stored policies and `default`, sorted, then `root`, which has no text and is in the root
   * alone. Built-in policies that cannot be assigned are left out.
   */
  async list(namespaceId: string): Promise<string[]> {
    const view = this.#viewOf(namespaceId)
    const names = new Set(['default'])
    const folders = ['']
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      for (const name of await view.list(folder)) {
        if (name.endsWith('/')) folders.push(folder + name)
        else names.add(folder + name)
      }
    }
    return [...[...names].sort(), ...(namespaceId === ROOT.id ? ['root'] : [])]
  }

  /**
   * Returns the joined rules of all `names`; a name without a policy grants nothing. `subject` fills the templates in
   * paths; without one, templated rules are left out. Answers at once, without a promise, if the rules are cached: this
   * is on the path of every request.
   */
  acl(names: PolicyNames, subject?: PolicySubject): Acl | Promise<Acl> {
    const { key } = names
    const combined = this.#combined.get(key)
    if (combined === undefined) return this.#build(names, subject)
    const isShared = subject === undefined || !combined.isTemplated
    const kept = isShared ? combined.acl : this.#filled.get(`${subject.key}\n${key}`)
    return kept === undefined || kept.staleAtMs <= this.#nowMs ? this.#build(names, subject) : kept
  }

  /** Explains which rule decides about a request, and which others are about its path. Slow; for people. */
  async explain(names: PolicyNames, request: AclRequest, subject?: PolicySubject): Promise<Explanation> {
    return explainAccess(await this.#policies(names), request, subject?.resolve, this.#nowMs)
  }

  async #build(names: PolicyNames, subject: PolicySubject | undefined): Promise<Acl> {
    const { key } = names
    const generation = this.#generation
    const policies = await this.#policies(names)
    const isTemplatedSet = policies.some(({ rules }) => rules.some(({ path }) => isTemplated(path)))
    const nowMs = this.#nowMs
    const acl = buildAcl(policies, undefined, nowMs)
    const mayKeep = () => generation === this.#generation && this.#areKnown(names)
    if (mayKeep()) this.#combined.keep(key, { acl, isTemplated: isTemplatedSet }, weightOf(key, acl.ruleCount))
    if (!isTemplatedSet || subject === undefined) return acl
    const own = buildAcl(policies, subject.resolve, nowMs)
    const ownKey = `${subject.key}\n${key}`
    if (mayKeep()) this.#filled.keep(ownKey, own, weightOf(ownKey, own.ruleCount))
    this.#logUnsafe(policies, subject.resolve)
    return own
  }

  /** A thread may learn of a namespace later than of a token in it: what it found until then is not kept. */
  #areKnown({ namespaceId, external }: PolicyNames): boolean {
    const { namespaces } = this.#parts
    return [namespaceId, ...external.map((one) => one.namespaceId)].every((id) => namespaces.byId(id) !== undefined)
  }

  async #policies({ namespaceId, names, external }: PolicyNames): Promise<Policy[]> {
    const policies: Policy[] = []
    // Nothing can be added to `root`, and no other namespace can give it.
    const added = names[0] === 'root' ? [] : external
    for (const given of [{ namespaceId, names }, ...added]) {
      for (const name of given.names) {
        const policy = await this.#policy(given.namespaceId, name)
        if (policy !== undefined) policies.push(policy)
      }
    }
    return policies
  }

  async #policy(namespaceId: string, name: string): Promise<Policy | undefined> {
    if (name === 'root') return namespaceId === ROOT.id ? { name, rules: [] } : undefined
    const namespace = this.#parts.namespaces.byId(namespaceId)
    if (namespace === undefined) return undefined
    const key = `${namespaceId}/${name}`
    if (this.#parsed.has(key)) return this.#parsed.get(key)
    const generation = this.#generation
    // An expired policy is parsed too until it is swept: its rules grant nothing, and an explanation can say why.
    const stored = decoded(await this.#viewOf(namespaceId).get(name)) ?? builtin(name)
    const policy = stored && {
      ...parsePolicy(stored.text),
      name,
      namespace: namespace.path,
      namespaceId,
      expiresAtMs: stored.expiresAtMs,
    }
    if (generation === this.#generation) this.#parsed.keep(key, policy, weightOf(key, policy?.rules.length ?? 0))
    return policy
  }

  /** Logs values that would widen a rule: a mistake or an attempt (threats A-03). The value itself is in no log. */
  #logUnsafe(policies: readonly Policy[], resolve: TemplateResolver): void {
    for (const { name, namespace, namespaceId = ROOT.id, rules } of policies) {
      for (const { path, line } of rules) {
        const filled = fillPattern(path, resolve, namespaceId)
        if (!('unfilled' in filled) || filled.unfilled !== 'unsafe-value') continue
        this.#parts.log(
          'warn',
          'A templated rule is left out: its value has a wildcard, a slash or a control character',
          {
            policy: `${namespace ?? ''}${name}`,
            line,
          },
        )
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
