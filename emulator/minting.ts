// Tokens for tests, made without the token endpoint: good ones of any machine or application, and wrong ones.
import type { AccessTokens, ClientProof } from './access-tokens.ts'
import type { Addresses } from './addresses.ts'
import type { Directory, Principal } from './directory.ts'
import { parseResourceId } from './resource-id.ts'
import { type Resources, userIdentitiesOf } from './resources.ts'
import type { SigningKeys } from './signing-keys.ts'
import { type Claims, signToken, type TokenForm } from './tokens.ts'

/** How a minted token differs from the one that the directory would issue. */
export type Minted = TokenForm & {
  /** `aud`: `https://management.azure.com/` by default. */
  readonly audience?: string
  /** Claims laid over those of the directory; undefined removes one. */
  readonly claims?: Claims
  /** Lifetime; a day for managed identities and an hour for applications by default. */
  readonly lifetimeSeconds?: number
}

const DAY_SECONDS = 86_400
const HOUR_SECONDS = 3599

/** Mints tokens. Requests are not logged, and faults do not apply. */
export class Minting {
  readonly #tokens: AccessTokens
  readonly #keys: SigningKeys
  readonly #directory: Directory
  readonly #resources: Resources
  readonly #addresses: () => Addresses

  constructor(
    tokens: AccessTokens,
    keys: SigningKeys,
    directory: Directory,
    resources: Resources,
    addresses: () => Addresses,
  ) {
    this.#tokens = tokens
    this.#keys = keys
    this.#directory = directory
    this.#resources = resources
    this.#addresses = addresses
  }

  /**
   * Mints the token that a resource gets from its metadata, for its own identity or for one that is assigned to it.
   * @throws Error if the resource has no such identity
   */
  async ofResource(id: string, options: Minted & { readonly userIdentity?: string } = {}): Promise<string> {
    const { userIdentity } = options
    const host = hostOf(id)
    const principal =
      userIdentity === undefined ? this.#resources.systemIdentityOf(host) : this.#assigned(host, userIdentity)
    if (principal === undefined) throw new Error(`${id} has no identity of its own: name one that is assigned to it`)
    return this.#mint(principal, 'certificate', DAY_SECONDS, { ...options, host })
  }

  /** Mints the token that an application gets for its secret, or a principal of another kind. */
  async ofPrincipal(id: string, options: Minted & { readonly proof?: ClientProof } = {}): Promise<string> {
    return this.#mint(this.#directory.getPrincipal(id), options.proof ?? 'secret', HOUR_SECONDS, options)
  }

  /** Mints the token that a pod gets for a user-assigned identity. It does not name the host. */
  async ofFederatedIdentity(userIdentity: string, options: Minted = {}): Promise<string> {
    const principal = this.#resources.userIdentityOf(userIdentity)
    if (principal === undefined) throw new Error(`There is no identity ${JSON.stringify(userIdentity)}`)
    return this.#mint(principal, 'certificate', HOUR_SECONDS, { ...options, userIdentity })
  }

  /** Mints a token of exactly these claims. */
  async ofClaims(claims: Claims, form: TokenForm = {}): Promise<string> {
    return signToken(this.#keys, claims, form)
  }

  async #mint(
    principal: Principal,
    proof: ClientProof,
    lifetimeSeconds: number,
    options: Minted & { readonly host?: string; readonly userIdentity?: string },
  ): Promise<string> {
    const { audience = 'https://management.azure.com/', claims = {}, host, userIdentity } = options
    const request = { principal, audience, proof, lifetimeSeconds: options.lifetimeSeconds ?? lifetimeSeconds }
    const issued = await this.#tokens.issue({ ...request, ...this.#addresses(), host, userIdentity }, options, claims)
    return issued.token
  }

  #assigned(host: string, userIdentity: string): Principal {
    const assigned = userIdentitiesOf(this.#resources.get(host)).map((each) => each.toLowerCase())
    const principal = this.#resources.userIdentityOf(userIdentity)
    if (principal !== undefined && assigned.includes(userIdentity.toLowerCase())) return principal
    throw new Error(`${userIdentity} is not assigned to ${host}`)
  }
}

/** Returns the resource whose identities count: for a member of a uniform set it is the set. */
export function hostOf(id: string): string {
  const parsed = parseResourceId(id)
  return parsed?.type.toLowerCase() === 'virtualmachinescalesets/virtualmachines'
    ? id.slice(0, id.toLowerCase().lastIndexOf('/virtualmachines/'))
    : id
}
