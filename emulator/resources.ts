// What the resource manager keeps: subscriptions, and resources as the JSON that it shows.
import { isJsonObject, type JsonObject } from '../src/lib/json.ts'
import type { Random } from '../src/lib/world.ts'
import type { Directory, Principal } from './directory.ts'
import { formatResourceId, parseResourceId } from './resource-id.ts'

/** As it is shown; `properties` and `identity` are the caller's to change. */
export type Resource = {
  readonly id: string
  readonly name: string
  /** `Microsoft.Compute/virtualMachines`. */
  readonly type: string
  location: string
  identity?: JsonObject
  properties: JsonObject
  readonly [further: string]: unknown
}

/** What may act on what: `actions` with `*` for anything, below `scope`, which is the head of an id. */
export type RoleAssignment = {
  readonly principalId: string
  readonly scope: string
  readonly actions: readonly string[]
}

/** Where a resource lies; the first subscription, `rg-app` and `eastus` where it is not said. */
export type Place = {
  readonly subscription?: string
  readonly resourceGroup?: string
  readonly location?: string
}

/** Which identities a resource has, and how its record shows them. */
export type NewIdentities = {
  /** An identity of its own. */
  readonly systemIdentity?: boolean
  /** Ids of user-assigned identities. */
  readonly userIdentities?: readonly string[]
  /** Shows user-assigned identities as `{}`, without the ids of principal and client, as flexible sets do. */
  readonly bareIdentities?: boolean
}

export type NewResource = Place &
  NewIdentities & {
    /** With the namespace in front. */
    readonly type: string
    /** One for each part of the type. */
    readonly name: string | readonly string[]
    readonly properties?: JsonObject
    /** Members beside those that every resource has. */
    readonly further?: JsonObject
  }

export class Resources {
  readonly subscriptions = new Map<string, { readonly id: string; readonly tenantId: string }>()
  readonly assignments: RoleAssignment[] = []
  readonly #resources = new Map<string, Resource>()
  readonly #systemIdentities = new Map<string, Principal>()
  readonly #userIdentities = new Map<string, Principal>()
  readonly #directory: Directory
  readonly #random: Random

  constructor(directory: Directory, random: Random) {
    this.#directory = directory
    this.#random = random
  }

  /** Forgets everything. */
  clear(): void {
    for (const map of [this.subscriptions, this.#resources, this.#systemIdentities, this.#userIdentities]) map.clear()
    this.assignments.length = 0
  }

  addSubscription({ id = this.#random.uuid(), tenantId = this.#directory.firstTenant.id } = {}): string {
    this.subscriptions.set(id.toLowerCase(), { id, tenantId })
    return id
  }

  /** `scope`: a subscription, group or resource. By default all may be read. */
  grant(principalId: string, scope: string, actions: readonly string[] = ['*/read']): void {
    this.assignments.push({ principalId, scope, actions })
  }

  /** @throws Error where the subscription is unknown, or there is such a resource. */
  add(options: NewResource): Resource {
    const { location = 'eastus', properties = {}, further = {} } = options
    const id = this.#newId(options)
    const resource: Resource = { id, name: lastOf(id), type: options.type, location, properties, ...further }
    this.#resources.set(id.toLowerCase(), resource)
    const identity = this.#identityOf(resource, options)
    if (identity !== undefined) resource.identity = identity
    return resource
  }

  /** A user-assigned identity: a resource that is a principal. */
  addUserIdentity({ name, ...place }: Place & { readonly name: string }): Resource {
    const resource = this.add({ ...place, type: 'Microsoft.ManagedIdentity/userAssignedIdentities', name })
    const principal = this.#addPrincipal(resource)
    const { tenantId, id: principalId, clientId } = principal
    resource.properties = { tenantId, principalId, clientId }
    this.#userIdentities.set(resource.id.toLowerCase(), principal)
    return resource
  }

  find(id: string): Resource | undefined {
    return this.#resources.get(id.toLowerCase())
  }

  /** @throws Error naming the id that is not there. */
  get(id: string): Resource {
    const resource = this.find(id)
    if (resource === undefined) throw new Error(`There is no resource ${JSON.stringify(id)}`)
    return resource
  }

  all(): Resource[] {
    return [...this.#resources.values()]
  }

  remove(id: string): void {
    this.#resources.delete(id.toLowerCase())
  }

  /** All of a type whose ids begin with `scope`, in the order in which they came. */
  list(scope: string, type: string): Resource[] {
    const head = `${scope}/`.toLowerCase()
    return [...this.#resources].flatMap(([key, resource]) =>
      key.startsWith(head) && resource.type.toLowerCase() === type.toLowerCase() ? [resource] : [],
    )
  }

  /** Groups exist by what lies in them. */
  hasGroup(subscription: string, group: string): boolean {
    const head = `/subscriptions/${subscription}/resourceGroups/${group}/`.toLowerCase()
    return [...this.#resources.keys()].some((key) => key.startsWith(head))
  }

  /** The tenant of the subscription in which a resource lies, or would lie. @throws Error where that is unknown. */
  tenantOf(id: string): string {
    const subscription = parseResourceId(id)?.subscription ?? ''
    const found = this.subscriptions.get(subscription.toLowerCase())
    if (found === undefined) throw new Error(`${JSON.stringify(id)} lies in no subscription that is known`)
    return found.tenantId
  }

  /** Who a resource is by itself. */
  systemIdentityOf(id: string): Principal | undefined {
    return this.#systemIdentities.get(id.toLowerCase())
  }

  /** The id of the user-assigned identity that a principal is. */
  userIdentityIdOf({ id }: Pick<Principal, 'id'>): string | undefined {
    const found = [...this.#userIdentities].find(([, principal]) => principal.id === id)
    return found?.[0]
  }

  /** Who a user-assigned identity is, also after it was taken out of the resource manager. */
  userIdentityOf(id: string): Principal | undefined {
    return this.#userIdentities.get(id.toLowerCase())
  }

  #newId({ subscription = this.#firstSubscription, resourceGroup = 'rg-app', type, name }: NewResource): string {
    if (!this.subscriptions.has(subscription.toLowerCase())) throw new Error(`There is no subscription ${subscription}`)
    const [namespace = '', ...kinds] = type.split('/')
    const names = typeof name === 'string' ? [name] : name
    const id = formatResourceId({ subscription, resourceGroup, namespace, type: kinds.join('/'), names })
    if (parseResourceId(id) === undefined || kinds.length !== names.length) throw new Error(`${id} cannot be an id`)
    if (this.find(id) !== undefined) throw new Error(`There is such a resource: ${id}`)
    return id
  }

  get #firstSubscription(): string {
    const [first] = this.subscriptions.values()
    if (first === undefined) throw new Error('There is no subscription: add one')
    return first.id
  }

  #identityOf(resource: Resource, { systemIdentity, userIdentities = [], bareIdentities }: NewIdentities) {
    if (systemIdentity !== true && userIdentities.length === 0) return undefined
    const kinds = [systemIdentity ? 'SystemAssigned' : '', userIdentities.length > 0 ? 'UserAssigned' : '']
    const identity: JsonObject = { type: kinds.filter((kind) => kind !== '').join(', ') }
    if (systemIdentity === true) {
      const principal = this.#addPrincipal(resource)
      this.#systemIdentities.set(resource.id.toLowerCase(), principal)
      Object.assign(identity, { principalId: principal.id, tenantId: principal.tenantId })
    }
    if (userIdentities.length > 0) {
      identity.userAssignedIdentities = Object.fromEntries(
        userIdentities.map((id) => [id, bareIdentities === true ? {} : this.#shownIdentity(id)]),
      )
    }
    return identity
  }

  #shownIdentity(id: string): JsonObject {
    const { principalId = null, clientId = null } = this.get(id).properties
    return { principalId, clientId }
  }

  #addPrincipal({ id, name }: Resource): Principal {
    return this.#directory.addPrincipal({ tenantId: this.tenantOf(id), displayName: name, kind: 'ManagedIdentity' })
  }
}

/** Ids of the user-assigned identities that a record shows. */
export function userIdentitiesOf({ identity }: Resource): string[] {
  const shown = identity?.userAssignedIdentities
  return isJsonObject(shown) ? Object.keys(shown) : []
}

function lastOf(id: string): string {
  return id.slice(id.lastIndexOf('/') + 1)
}
