// The claims of access tokens, as the vendor's directory chooses them: by identity, by the host it runs on, and by the
// audience of the token.
import type { Clock, Random } from '../src/lib/world.ts'
import type { Directory, Principal } from './directory.ts'
import { formatClaimedId } from './resource-id.ts'
import type { Resources } from './resources.ts'
import type { SigningKeys } from './signing-keys.ts'
import { type Claims, signToken, type TokenForm } from './tokens.ts'

/** How the client authenticated: the claims `appidacr` (version 1) and `azpacr` (version 2). */
export type ClientProof = 'none' | 'secret' | 'certificate'

/** The request for a token, once the identity is known. */
export type TokenRequest = {
  readonly principal: Principal
  /** The audience as it was asked for; `aud` repeats it, slash at the end included. */
  readonly audience: string
  /** Origin of the directory, with which `iss` begins: `https://host:port`. */
  readonly authority: string
  /** Origin of graph, which `_claim_sources` points to. */
  readonly graph: string
  readonly proof: ClientProof
  readonly lifetimeSeconds: number
  /** The resource that the identity was used on. */
  readonly host?: string | undefined
  /** The user-assigned identity that was used; undefined for that of the host itself. */
  readonly userIdentity?: string | undefined
}

/** A signed token, and what metadata tells about it. */
export type IssuedToken = {
  readonly token: string
  readonly claims: Claims
  /** Seconds since the epoch. */
  readonly notBefore: number
  readonly expires: number
}

/** The platform dates its tokens back, so that machines whose clocks are late take them. */
const BACKDATED_SECONDS = 300
/** With more groups than this a token only says where they can be asked for. */
export const MOST_GROUPS = 200
const PROOFS = { none: '0', secret: '1', certificate: '2' } as const

/** Issues tokens for principals of the directory. The sets of audiences are filled at the start. */
export class AccessTokens {
  readonly #keys: SigningKeys
  readonly #directory: Directory
  readonly #resources: Resources
  readonly #clock: Clock
  readonly #random: Random
  /** Audiences that the resource manager accepts. */
  readonly resourceManagerAudiences = new Set<string>()
  /** Audiences that mean graph: their tokens carry the permissions of an application. */
  readonly graphAudiences = new Set<string>()

  constructor(keys: SigningKeys, directory: Directory, resources: Resources, clock: Clock, random: Random) {
    this.#keys = keys
    this.#directory = directory
    this.#resources = resources
    this.#clock = clock
    this.#random = random
    for (const audience of RESOURCE_MANAGER.flatMap(bothSpellings)) this.resourceManagerAudiences.add(audience)
    for (const audience of bothSpellings(GRAPH)) this.graphAudiences.add(audience)
  }

  /** True if tokens are given for this audience in this tenant. */
  knows(tenantId: string, audience: string): boolean {
    return this.#isFirstParty(audience) || this.#directory.findAudience(tenantId, audience) !== undefined
  }

  /** Signs a token. `changes` are laid over the claims that the directory would choose. */
  async issue(request: TokenRequest, form?: TokenForm, changes: Claims = {}): Promise<IssuedToken> {
    const claims = { ...this.claimsOf(request), ...changes }
    const token = await signToken(this.#keys, claims, form)
    return { token, claims, notBefore: Number(claims.nbf), expires: Number(claims.exp) }
  }

  /** Returns the claims that the directory would choose. */
  claimsOf(request: TokenRequest): Claims {
    const { principal, audience, authority, graph, proof, lifetimeSeconds } = request
    const target = this.#directory.findAudience(principal.tenantId, audience)
    const version = this.#isFirstParty(audience) ? 1 : (target?.accessTokenVersion ?? 1)
    const issuer = `${authority}/${principal.tenantId}/${version === 2 ? 'v2.0' : ''}`
    const now = Math.floor(this.#clock.nowMs() / 1000)
    const issuedAt = now - BACKDATED_SECONDS
    const client =
      version === 2
        ? { azp: principal.clientId, azpacr: PROOFS[proof] }
        : { appid: principal.clientId, appidacr: PROOFS[proof], idp: `${authority}/${principal.tenantId}/` }
    return {
      aud: version === 2 ? target?.clientId : audience,
      iss: issuer,
      iat: issuedAt,
      nbf: issuedAt,
      exp: now + lifetimeSeconds,
      aio: this.#random.bytes(24).toString('base64'),
      ...client,
      ...(this.#isFirstParty(audience) ? { idtyp: 'app' } : {}),
      oid: principal.id,
      rh: `0.${this.#random.bytes(24).toString('base64url')}.`,
      ...(this.graphAudiences.has(audience) ? this.#roles(principal) : {}),
      sub: principal.id,
      tid: principal.tenantId,
      uti: this.#random.bytes(16).toString('base64url'),
      ver: version === 2 ? '2.0' : '1.0',
      ...(target?.groupClaims === true ? groupClaims(principal, graph) : {}),
      ...(this.#isFirstParty(audience) ? this.#placeClaims(request) : {}),
    }
  }

  /** True for the vendor's own services: only their tokens name the machine that asked. */
  #isFirstParty(audience: string): boolean {
    return this.resourceManagerAudiences.has(audience) || this.graphAudiences.has(audience)
  }

  /** Returns the permissions of an application, which stand in tokens for graph alone. */
  #roles({ tenantId, clientId }: Principal): Claims {
    const permissions = this.#directory.findApplication(tenantId, clientId)?.permissions
    return permissions === undefined || permissions.size === 0 ? {} : { roles: [...permissions] }
  }

  #placeClaims({ host, userIdentity }: TokenRequest): Claims {
    const shown = (id: string): string => formatClaimedId(this.#resources.find(id)?.id ?? id)
    const identity = userIdentity ?? host
    return {
      ...(host !== undefined && userIdentity !== undefined ? { xms_az_rid: shown(host) } : {}),
      ...(identity === undefined ? {} : { xms_mirid: shown(identity) }),
    }
  }
}

/** Audiences of the public cloud; the emulator adds its own addresses to them. */
const RESOURCE_MANAGER = ['https://management.azure.com', 'https://management.core.windows.net']
const GRAPH = 'https://graph.microsoft.com'

/** Returns an audience without and with a slash at its end: both are accepted, and are different texts. */
export function bothSpellings(audience: string): string[] {
  return [audience, `${audience}/`]
}

/** Returns the groups themselves, or beyond 200 the address that has them ("overage" in the vendor's pages). */
export function groupClaims({ id, groups }: Pick<Principal, 'id' | 'groups'>, graph: string): Claims {
  if (groups.size <= MOST_GROUPS) return groups.size === 0 ? {} : { groups: [...groups] }
  return {
    _claim_names: { groups: 'src1' },
    _claim_sources: { src1: { endpoint: `${graph}/v1.0/users/${id}/getMemberObjects` } },
  }
}
