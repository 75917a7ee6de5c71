// The resource manager of the cloud, asked with this server's own credential: what a resource is, and which identities
// it has. Answers are kept for 30 s under the full resource id (threats L-06, L-14, V-06).
import { asciiLowerCase } from '../../lib/ascii.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { World } from '../../lib/world.ts'
import type { AccessTokens } from './access-tokens.ts'
import type { Cloud } from './clouds.ts'
import { LoginDeadline } from './deadline.ts'
import { isSameName } from './names.ts'
import { CloudRefusal, CloudUnavailable, loginRefused } from './refusals.ts'
import {
  formatResourceId,
  isOfType,
  isSameResource,
  type ResourceId,
  resourcePath,
  SCALE_SET,
  typeOf,
  USER_ASSIGNED_IDENTITY,
  VIRTUAL_MACHINE,
} from './resource-id.ts'
import { type IdentityRecord, type ResourceRecord, readIdentity, readResource, versionsOf } from './resource-record.ts'
import { SharedResults } from './shared-results.ts'
import type { Upstream } from './upstream.ts'

const KEPT_MS = 30_000
const DAY_MS = 86_400_000
/** Versions of the API: of machines and scale sets, of identities, and of the list of a provider's types. */
const COMPUTE_VERSION = '2023-07-01'
const IDENTITY_VERSION = '2023-01-31'
const PROVIDER_VERSION = '2021-04-01'
/** Version for a type whose provider does not list any. */
const OTHER_VERSION = '2022-03-01'
const MAX_VERSIONS = 500
/** Permission in the subscription, needed for types whose versions are not known here. */
const PROVIDER_PERMISSION = 'Microsoft.Resources/subscriptions/providers/read'
/** Pages and entries of one list. A longer one fails as a whole. */
const MAX_PAGES = 32
const MAX_IDENTITIES = 2_000
const SERVICE = 'resource manager'

/**
 * The calls to the resource manager of one mount. They go on when the login that began them ends, since others may
 * share the answer.
 */
export class ResourceManager {
  readonly #world: World
  readonly #upstream: Upstream
  readonly #tokens: AccessTokens
  readonly #cloud: Cloud
  readonly #resources: SharedResults<ResourceRecord>
  readonly #identities: SharedResults<IdentityRecord | undefined>
  readonly #lists: SharedResults<readonly IdentityRecord[]>
  /** API versions by subscription, provider and type. Undefined if the provider lists none; that is not kept. */
  readonly #versions: SharedResults<string | undefined>

  constructor(world: World, upstream: Upstream, tokens: AccessTokens, cloud: Cloud) {
    this.#world = world
    this.#upstream = upstream
    this.#tokens = tokens
    this.#cloud = cloud
    this.#resources = new SharedResults(world.clock, KEPT_MS)
    this.#lists = new SharedResults(world.clock, KEPT_MS)
    const isKept = <T>(value: T): boolean => value !== undefined
    // An identity without a principal will have one soon, so it is not kept.
    this.#identities = new SharedResults<IdentityRecord | undefined>(world.clock, KEPT_MS, { isKept })
    this.#versions = new SharedResults<string | undefined>(world.clock, DAY_MS, { maxEntries: MAX_VERSIONS, isKept })
  }

  /**
   * Returns the record of a resource, kept or read.
   * @throws CloudRefusal if it does not exist or may not be read; CloudUnavailable
   */
  resource(id: ResourceId, deadline: LoginDeadline): Promise<ResourceRecord> {
    return this.#resources.get(keyOf(id), deadline, () => this.#read(id))
  }

  /** Returns the record if it is kept; undefined if the cloud would be asked. */
  keptResource(id: ResourceId): ResourceRecord | undefined {
    return this.#resources.kept(keyOf(id))
  }

  /** Returns a newer record than `known`, which was kept. Concurrent callers share one call. @throws as `resource`. */
  async newerResource(known: ResourceRecord, id: ResourceId, deadline: LoginDeadline): Promise<ResourceRecord> {
    try {
      return await this.#resources.newerThan(known, keyOf(id), deadline, () => this.#read(id))
    } catch (cause) {
      // A refusal means that the resource has gone or is hidden, so the kept record is wrong.
      if (cause instanceof CloudRefusal && this.keptResource(id) === known) this.#resources.drop(keyOf(id))
      throw cause
    }
  }

  async #read(id: ResourceId): Promise<ResourceRecord> {
    const own = new LoginDeadline(this.#world)
    const answer = await this.#get(resourcePath(id), await this.#versionOf(id, own), own)
    const record = readResource(answer, id)
    if (record === undefined) throw unexpected('a resource that was not asked for')
    return record
  }

  /** Returns an identity; undefined if it has no principal. @throws as `resource`. */
  identity(id: ResourceId, deadline: LoginDeadline): Promise<IdentityRecord | undefined> {
    return this.#identities.get(keyOf(id), deadline, async () => {
      const found = readIdentity(await this.#get(resourcePath(id), IDENTITY_VERSION, new LoginDeadline(this.#world)))
      if (found !== undefined && !isSameResource(found.id, id)) throw unexpected('an identity that was not asked for')
      return found
    })
  }

  /**
   * Returns all user-assigned identities of a resource group. A list that cannot be read to its end fails (threats
   * V-04).
   * @throws as `resource`.
   */
  identitiesIn(subscription: string, group: string, deadline: LoginDeadline): Promise<readonly IdentityRecord[]> {
    const segments = ['subscriptions', subscription, 'resourceGroups', group, 'providers', ...IDENTITY_SEGMENTS]
    const path = `/${segments.map(encodeURIComponent).join('/')}`
    return this.#lists.get(asciiLowerCase(path), deadline, () => this.#readPages(path, new LoginDeadline(this.#world)))
  }

  async #readPages(path: string, deadline: LoginDeadline): Promise<readonly IdentityRecord[]> {
    const found: IdentityRecord[] = []
    const seen = new Set<string>()
    let page = await this.#get(path, IDENTITY_VERSION, deadline)
    for (let pages = 1; ; pages++) {
      if (!Array.isArray(page.value)) throw unexpected('a list without values')
      for (const each of page.value) {
        const identity = readIdentity(each)
        if (identity !== undefined) found.push(identity)
      }
      const { nextLink } = page
      if (nextLink === undefined || nextLink === null || nextLink === '') return found
      if (typeof nextLink !== 'string' || seen.has(nextLink) || pages >= MAX_PAGES || found.length > MAX_IDENTITIES)
        throw unexpected('a list that does not end')
      seen.add(nextLink)
      page = await this.#getAt(this.#ownAddress(nextLink), deadline)
    }
  }

  /** Checks that a further page is at the address of the first one; otherwise our token would be sent elsewhere. */
  #ownAddress(link: string): string {
    const url = link.length > 8_192 ? null : URL.parse(link)
    const base = new URL(this.#cloud.resourceManager)
    const isOurs =
      url !== null && url.origin === base.origin && url.username === '' && url.pathname.startsWith(base.pathname)
    if (!isOurs) throw unexpected('a further page at another place')
    return url.href
  }

  /** Returns the API version of the resource's type; asks the provider for types that are not known here. */
  async #versionOf(id: ResourceId, deadline: LoginDeadline): Promise<string> {
    if (isOfType(id, VIRTUAL_MACHINE) || isOfType(id, SCALE_SET)) return COMPUTE_VERSION
    if (isOfType(id, USER_ASSIGNED_IDENTITY)) return IDENTITY_VERSION
    const { subscription, namespace } = id
    const path = `/subscriptions/${encodeURIComponent(subscription)}/providers/${encodeURIComponent(namespace)}`
    const type = id.types.join('/')
    // The answer describes all types of the provider at length; only this one version is kept.
    const newest = await this.#versions.get(asciiLowerCase(`${path}#${type}`), deadline, async () =>
      versionsOf(await this.#provider(path), type).at(0),
    )
    return newest ?? OTHER_VERSION
  }

  async #provider(path: string): Promise<JsonObject> {
    try {
      return await this.#get(path, PROVIDER_VERSION, new LoginDeadline(this.#world))
    } catch (cause) {
      if (!(cause instanceof CloudRefusal) || cause.status !== 403) throw cause
      throw loginRefused(
        `this server may not read which types there are: its credential needs ${PROVIDER_PERMISSION}`,
        cause,
      )
    }
  }

  #get(path: string, version: string, deadline: LoginDeadline): Promise<JsonObject> {
    return this.#getAt(`${this.#cloud.resourceManager}${path}?api-version=${version}`, deadline)
  }

  /** Sends a request. A token that is not accepted is replaced, once. */
  async #getAt(url: string, deadline: LoginDeadline, isSecond = false): Promise<JsonObject> {
    const audience = this.#cloud.resourceManagerAudience
    const token = await this.#tokens.get(audience, deadline)
    try {
      const headers = { Authorization: `Bearer ${token}` }
      return await this.#upstream.call({ service: SERVICE, method: 'GET', url, headers }, deadline)
    } catch (cause) {
      if (!(cause instanceof CloudRefusal) || cause.status !== 401) throw cause
      this.#tokens.drop(audience, token)
      if (isSecond)
        throw new CloudUnavailable(`${SERVICE} unavailable`, `${cause.message}, again with a new token`, cause)
      return this.#getAt(url, deadline, true)
    }
  }
}

const IDENTITY_SEGMENTS = USER_ASSIGNED_IDENTITY.split('/')

const keyOf = (id: ResourceId): string => asciiLowerCase(formatResourceId(id))

const unexpected = (what: string) => new CloudUnavailable(`${SERVICE} unavailable`, `The answer is ${what}`)

/** Returns the permission that an operator must grant for such a resource to be read. */
export const permissionFor = (id: ResourceId): string =>
  isSameName(typeOf(id), USER_ASSIGNED_IDENTITY) ? `${USER_ASSIGNED_IDENTITY}/read` : `${typeOf(id)}/read`
