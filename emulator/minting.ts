// Tokens for tests, without asking the token endpoint: good ones of any machine or application, and wrong ones.
import type { AccessTokens, ClientProof } from './access-tokens.ts'
import type { Addresses } from './addresses.ts'
import type { Directory, Principal } from './directory.ts'
import { parseResourceId } from './resource-id.ts'
import { type Resources, userIdentitiesOf } from './resources.ts'
import type { SigningKeys } from './signing-keys.ts'
import { type Claims, signToken, type TokenForm } from './tokens.ts'

export type Minted = TokenForm & {
  /** `aud`: `https://management.azure.com/` by default. */
  readonly audience?: string
  /** Claims laid over those that the directory would choose; undefined takes one away. */
  readonly claims?: Claims
  /** Managed identities get a day, applications an hour. */
  readonly lifetimeSeconds?: number
}

const DAY_SECONDS = 86_400
const HOUR_SECONDS = 3599

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

  /** As a resource gets it from its metadata: with its own identity, or with one of those assigned to it.
   * @throws Error where the resource has no such identity */
  async ofResource(id: string, options: Minted & { readonly userIdentity?: string } = {}): Promise<string> {
    const { userIdentity } = options
    const host = hostOf(id)
    const principal =
      userIdentity === undefined ? this.#resources.systemIdentityOf(host) : this.#assigned(host, userIdentity)
    if (principal === undefined) throw new Error(`${id} has no identity of its own: name one that is assigned to it`)
    return this.#mint(principal, 'certificate', DAY_SECONDS, { ...options, host })
  }

  /** As an application gets it by its secret, or a principal of any other kind. */
  async ofPrincipal(id: string, options: Minted & { readonly proof?: ClientProof } = {}): Promise<string> {
    return this.#mint(this.#directory.getPrincipal(id), options.proof ?? 'secret', HOUR_SECONDS, options)
  }

  /** As a pod of a cluster gets it for a user-assigned identity: the host is not named. */
  async ofFederatedIdentity(userIdentity: string, options: Minted = {}): Promise<string> {
    const principal = this.#resources.userIdentityOf(userIdentity)
    if (principal === undefined) throw new Error(`There is no identity ${JSON.stringify(userIdentity)}`)
    return this.#mint(principal, 'certificate', HOUR_SECONDS, { ...options, userIdentity })
  }

  /** Exactly these claims. */
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

/** A member of a uniform set is who its set is. */
export function hostOf(id: string): string {
  const parsed = parseResourceId(id)
  return parsed?.type.toLowerCase() === 'virtualmachinescalesets/virtualmachines'
    ? id.slice(0, id.toLowerCase().lastIndexOf('/virtualmachines/'))
    : id
}
