// The content of the resource manager: subscriptions, and resources as the JSON that it shows.
import { isJsonObject, type JsonObject } from '../src/lib/json.ts'
import type { Random } from '../src/lib/world.ts'
import type { Directory, Principal } from './directory.ts'
import { formatResourceId, parseResourceId } from './resource-id.ts'

/** A resource as it is shown. Tests may change `properties` and `identity`. */
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

/** Permits a principal `actions`, with `*` for anything, on ids that begin with `scope`. */
export type RoleAssignment = {
  readonly principalId: string
  readonly scope: string
  readonly actions: readonly string[]
}

/** The location of a resource; by default the first subscription, `rg-app` and `eastus`. */
export type Place = {
  readonly subscription?: string
  readonly resourceGroup?: string
  readonly location?: string
}

/** The identities of a resource, and how its record shows them. */
export type NewIdentities = {
  /** An identity of its own. */
  readonly systemIdentity?: boolean
  /** Ids of user-assigned identities. */
  readonly userIdentities?: readonly string[]
  /** Shows user-assigned identities as `{}`, without the ids of principal and client, as flexible sets do. */
  readonly bareIdentities?: boolean
}

/** A resource to add. */
export type NewResource = Place &
  NewIdentities & {
    /** The type, with the namespace in front. */
    readonly type: string
    /** The name; one for each part of the type. */
    readonly name: string | readonly string[]
    readonly properties?: JsonObject
    /** Members beside those that every resource has. */
    readonly further?: JsonObject
  }

/** The resources of one emulator. Ids are looked up without regard to letter case. */
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

  /** Removes everything. */
  clear(): void {
    for (const map of [this.subscriptions, this.#resources, this.#systemIdentities, this.#userIdentities]) map.clear()
    this.assignments.length = 0
  }

  addSubscription({ id = this.#random.uuid(), tenantId = this.#directory.firstTenant.id } = {}): string {
    this.subscriptions.set(id.toLowerCase(), { id, tenantId })
    return id
  }

  /** Adds an assignment for a subscription, group or resource. By default it permits reading everything in it. */
  grant(principalId: string, scope: string, actions: readonly string[] = ['*/read']): void {
    this.assignments.push({ principalId, scope, actions })
  }

  /** Adds a resource. @throws Error if the subscription is unknown, or the id is taken */
  add(options: NewResource): Resource {
    const { location = 'eastus', properties = {}, further = {} } = options
    const id = this.#newId(options)
    const resource: Resource = { id, name: lastOf(id), type: options.type, location, properties, ...further }
    this.#resources.set(id.toLowerCase(), resource)
    const identity = this.#identityOf(resource, options)
    if (identity !== undefined) resource.identity = identity
    return resource
  }

  /** Adds a user-assigned identity: a resource that is a principal too. */
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

  /** Returns a resource. @throws Error if there is none with this id */
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

  /** Returns the resources of a type below `scope`, in the order in which they were added. */
  list(scope: string, type: string): Resource[] {
    const head = `${scope}/`.toLowerCase()
    return [...this.#resources].flatMap(([key, resource]) =>
      key.startsWith(head) && resource.type.toLowerCase() === type.toLowerCase() ? [resource] : [],
    )
  }

  /** True if a group exists: it does as long as a resource lies in it. */
  hasGroup(subscription: string, group: string): boolean {
    const head = `/subscriptions/${subscription}/resourceGroups/${group}/`.toLowerCase()
    return [...this.#resources.keys()].some((key) => key.startsWith(head))
  }

  /** Returns the tenant of the subscription of an id, whether or not it exists. @throws Error if that is unknown */
  tenantOf(id: string): string {
    const subscription = parseResourceId(id)?.subscription ?? ''
    const found = this.subscriptions.get(subscription.toLowerCase())
    if (found === undefined) throw new Error(`${JSON.stringify(id)} lies in no subscription that is known`)
    return found.tenantId
  }

  /** Returns the own identity of a resource, if it has one. */
  systemIdentityOf(id: string): Principal | undefined {
    return this.#systemIdentities.get(id.toLowerCase())
  }

  /** Returns the id, as a resource, of a principal that is a user-assigned identity. */
  userIdentityIdOf({ id }: Pick<Principal, 'id'>): string | undefined {
    const found = [...this.#userIdentities].find(([, principal]) => principal.id === id)
    return found?.[0]
  }

  /** Returns the principal of a user-assigned identity, even after the resource was removed. */
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

/** Returns the ids of the user-assigned identities that a record shows. */
export function userIdentitiesOf({ identity }: Resource): string[] {
  const shown = identity?.userAssignedIdentities
  return isJsonObject(shown) ? Object.keys(shown) : []
}

function lastOf(id: string): string {
  return id.slice(id.lastIndexOf('/') + 1)
}
