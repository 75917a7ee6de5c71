// The content of the directory: tenants, applications with their secrets, and the principals that tokens name.
import type { Clock, Random } from '../src/lib/world.ts'

/** A customer of the directory. All tenants share its keys. */
export type Tenant = {
  /** A GUID. */
  readonly id: string
  readonly domains: readonly string[]
}

/** A secret of an application. */
export type ClientSecret = {
  readonly keyId: string
  readonly displayName: string | null
  readonly secretText: string
  readonly startMs: number
  readonly endMs: number
  /** Until then the token endpoint does not know it: in the real directory a new secret takes a while to spread. */
  readonly usableFromMs: number
}

/** The tokens that a principal may present instead of a secret. All three members are compared exactly. */
export type FederatedCredential = { readonly issuer: string; readonly subject: string; readonly audience: string }

/** The subject of a token: the service principal of an application, or a managed identity. */
export type Principal = {
  /** `oid` of its tokens, a GUID. */
  readonly id: string
  /** `appid` of its tokens, a GUID. */
  readonly clientId: string
  readonly tenantId: string
  readonly displayName: string
  readonly kind: 'Application' | 'ManagedIdentity'
  /** Object ids of the groups that it is in. */
  readonly groups: Set<string>
  readonly federatedCredentials: FederatedCredential[]
}

/** An application: what tokens are made for, and who asks for some. */
export type Application = {
  /** Its id in graph, a GUID. */
  readonly objectId: string
  readonly clientId: string
  readonly tenantId: string
  readonly displayName: string
  readonly principal: Principal
  readonly secrets: ClientSecret[]
  /** Audiences by which tokens for it are asked, besides its client id. */
  readonly identifierUris: readonly string[]
  /** Version of the tokens that others get for it. */
  readonly accessTokenVersion: 1 | 2
  /** True if tokens for it carry the claim `groups`. */
  readonly groupClaims: boolean
  /** Permissions in graph, `Application.ReadWrite.OwnedBy` and the like. */
  readonly permissions: Set<string>
  /** Principals that own it. */
  readonly owners: Set<string>
}

/** An application to add. Ids that are missing are made up. */
export type NewApplication = {
  /** The first tenant by default. */
  readonly tenantId?: string
  readonly displayName?: string
  readonly clientId?: string
  readonly objectId?: string
  readonly principalId?: string
  /** The text of a first secret, valid for two years. */
  readonly secret?: string
  readonly identifierUris?: readonly string[]
  readonly accessTokenVersion?: 1 | 2
  readonly groupClaims?: boolean
  readonly permissions?: readonly string[]
  readonly federatedCredentials?: readonly FederatedCredential[]
  /** Makes it an owner of itself, which `Application.ReadWrite.OwnedBy` demands for changing its own secret. */
  readonly ownsItself?: boolean
}

/** A secret to add. */
export type NewSecret = {
  readonly displayName?: string | null
  readonly startMs?: number
  readonly endMs?: number
  readonly secretText?: string
}

/** Two years: graph gives secrets for as long if no end is named. */
const SECRET_LIFETIME_MS = 730 * 86_400_000

/** The directory of one emulator. Tests may change its lists and settings at any time. */
export class Directory {
  readonly tenants: Tenant[] = []
  readonly applications: Application[] = []
  readonly principals: Principal[] = []
  /** Milliseconds until the token endpoint knows a new secret. */
  secretDelayMs = 0
  /** The greatest number of secrets of one application. */
  mostSecrets = Number.POSITIVE_INFINITY
  readonly #clock: Clock
  readonly #random: Random

  constructor(clock: Clock, random: Random) {
    this.#clock = clock
    this.#random = random
  }

  /** Removes everything. */
  clear(): void {
    for (const list of [this.tenants, this.applications, this.principals]) list.length = 0
    this.secretDelayMs = 0
    this.mostSecrets = Number.POSITIVE_INFINITY
  }

  addTenant({ id = this.#random.uuid(), domains = [] }: Partial<Tenant> = {}): Tenant {
    const tenant = { id, domains }
    this.tenants.push(tenant)
    return tenant
  }

  /** Finds a tenant by its id or one of its domains. */
  findTenant(name: string): Tenant | undefined {
    const wanted = name.toLowerCase()
    return this.tenants.find(({ id, domains }) => [id, ...domains].some((each) => each.toLowerCase() === wanted))
  }

  /** The tenant that counts if none is named. */
  get firstTenant(): Tenant {
    const tenant = this.tenants[0]
    if (tenant === undefined) throw new Error('The directory has no tenant: add one')
    return tenant
  }

  addApplication(options: NewApplication = {}): Application {
    const { tenantId = this.firstTenant.id, displayName = 'application', clientId = this.#random.uuid() } = options
    const principal = this.addPrincipal({
      tenantId,
      displayName,
      clientId,
      kind: 'Application',
      ...(options.principalId === undefined ? {} : { id: options.principalId }),
    })
    const application: Application = {
      objectId: options.objectId ?? this.#random.uuid(),
      clientId,
      tenantId,
      displayName,
      principal,
      secrets: [],
      identifierUris: options.identifierUris ?? [],
      accessTokenVersion: options.accessTokenVersion ?? 1,
      groupClaims: options.groupClaims ?? false,
      permissions: new Set(options.permissions),
      owners: new Set(options.ownsItself === true ? [principal.id] : []),
    }
    this.applications.push(application)
    principal.federatedCredentials.push(...(options.federatedCredentials ?? []))
    if (options.secret !== undefined) {
      this.addSecret(application, { secretText: options.secret, startMs: this.#clock.nowMs() }, 0)
    }
    return application
  }

  addPrincipal({ id = this.#random.uuid(), clientId = this.#random.uuid(), ...rest }: NewPrincipal): Principal {
    const own = { groups: new Set<string>(), federatedCredentials: [] }
    const principal: Principal = { tenantId: this.firstTenant.id, ...rest, id, clientId, ...own }
    this.principals.push(principal)
    return principal
  }

  findPrincipal(id: string): Principal | undefined {
    return this.principals.find((each) => each.id.toLowerCase() === id.toLowerCase())
  }

  /** Returns a principal. @throws Error if there is none with this id */
  getPrincipal(id: string): Principal {
    const principal = this.findPrincipal(id)
    if (principal === undefined) throw new Error(`There is no principal ${JSON.stringify(id)}`)
    return principal
  }

  /** Makes a principal a member of groups, which are named by their object ids. */
  join(principalId: string, ...groups: readonly string[]): void {
    for (const group of groups) this.getPrincipal(principalId).groups.add(group)
  }

  /** Finds the principal of an application or managed identity, within one tenant. */
  findClient(tenantId: string, clientId: string): Principal | undefined {
    return this.principals.find((each) => each.tenantId === tenantId && each.clientId === clientId.toLowerCase())
  }

  /** Finds an application by its client id, within one tenant. */
  findApplication(tenantId: string, clientId: string): Application | undefined {
    return this.applications.find((each) => each.tenantId === tenantId && each.clientId === clientId.toLowerCase())
  }

  /** Finds the application of an audience. A slash at its end makes no difference. */
  findAudience(tenantId: string, audience: string): Application | undefined {
    return this.applications.find(
      (each) =>
        each.tenantId === tenantId &&
        [each.clientId, ...each.identifierUris].some((name) => name === audience || `${name}/` === audience),
    )
  }

  /** Adds a secret, which the token endpoint knows after `delayMs`. */
  addSecret(application: Application, wanted: NewSecret, delayMs = this.secretDelayMs): ClientSecret {
    const { startMs = this.#clock.nowMs() } = wanted
    const secret = {
      keyId: this.#random.uuid(),
      displayName: wanted.displayName ?? null,
      secretText: wanted.secretText ?? `${this.#random.bytes(30).toString('base64url')}`,
      startMs,
      endMs: wanted.endMs ?? startMs + SECRET_LIFETIME_MS,
      usableFromMs: this.#clock.nowMs() + delayMs,
    }
    application.secrets.push(secret)
    return secret
  }

  /** Returns true if there was one to remove. */
  removeSecret(application: Application, keyId: string): boolean {
    const index = application.secrets.findIndex((each) => each.keyId === keyId.toLowerCase())
    if (index === -1) return false
    application.secrets.splice(index, 1)
    return true
  }
}

/** A principal to add. Ids that are missing are made up. */
export type NewPrincipal = Partial<Pick<Principal, 'id' | 'clientId' | 'tenantId'>> &
  Pick<Principal, 'displayName' | 'kind'>
