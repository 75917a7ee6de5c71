// The tokens by which this server authenticates to the cloud: one for each audience, used until shortly before it ends.
import { Refusal } from '../../api/errors.ts'
import { own } from '../../lib/own.ts'
import type { World } from '../../lib/world.ts'
import { lackOf } from './credential.ts'
import { LoginDeadline } from './deadline.ts'
import { CloudRefusal, CloudUnavailable } from './refusals.ts'
import type { CloudSettings } from './settings.ts'
import type { CloudCall, Upstream } from './upstream.ts'

/** The settings that decide which token is asked for. */
type Asking = Pick<CloudSettings, 'cloud' | 'tenant' | 'clientId' | 'credential'>
/** Sources of the tokens that may be shown instead of a secret. */
export type Proofs = {
  /** Signs a token that says which mount asks. @throws Refusal if this server cannot issue any. */
  readonly mint: (audience: string, ttlSeconds: number) => Promise<string>
  /** Returns the present content of a token file. @throws CloudUnavailable */
  readonly readFile: (path: string) => Promise<string>
}
type Held = { readonly token: string; readonly endMs: number }

/**
 * Time left until the end of a token: below the first another one is fetched in the background, below the second the
 * token is not used any more.
 */
const REFRESH_MS = 10 * 60_000
const UNUSED_MS = 5 * 60_000
const MAX_TOKEN_CHARACTERS = 32_768
const METADATA_VERSION = '2018-02-01'

/** The access tokens of one mount. Concurrent requests for an audience share one call. */
export class AccessTokens {
  readonly #world: World
  readonly #upstream: Upstream
  readonly #asking: Asking
  readonly #proofs: Proofs
  readonly #held = new Map<string, Held>()
  readonly #underWay = new Map<string, Promise<Held>>()

  constructor(world: World, upstream: Upstream, asking: Asking, proofs: Proofs) {
    this.#world = world
    this.#upstream = upstream
    this.#asking = asking
    this.#proofs = proofs
  }

  /**
   * Returns a token for `audience`, which includes the '/' at its end.
   * @throws CloudUnavailable, also if the cloud refuses our credential.
   */
  async get(audience: string, deadline: LoginDeadline): Promise<string> {
    const held = this.#held.get(audience)
    const leftMs = (held?.endMs ?? 0) - this.#world.clock.monotonicMs()
    if (held !== undefined && leftMs > UNUSED_MS) {
      if (leftMs < REFRESH_MS) this.#renewedOnce(audience).catch(() => {})
      return held.token
    }
    return (await deadline.within(this.#renewedOnce(audience))).token
  }

  /** Forgets a token that the cloud did not accept, unless it was replaced meanwhile. */
  drop(audience: string, token: string): void {
    if (this.#held.get(audience)?.token === token) this.#held.delete(audience)
  }

  #renewedOnce(audience: string): Promise<Held> {
    const known = this.#underWay.get(audience)
    if (known !== undefined) return known
    const renewing = this.#newToken(audience)
      .then((held) => {
        this.#held.set(audience, held)
        return held
      })
      .finally(() => this.#underWay.delete(audience))
    renewing.catch(() => {})
    this.#underWay.set(audience, renewing)
    return renewing
  }

  async #newToken(audience: string): Promise<Held> {
    try {
      const answer = await this.#upstream.call(await this.#request(audience), new LoginDeadline(this.#world))
      const { access_token: token, expires_in: seconds } = answer
      const isToken = typeof token === 'string' && /^[\x21-\x7e]+$/.test(token) && token.length <= MAX_TOKEN_CHARACTERS
      const lifeMs = Number(seconds) * 1000
      if (!isToken || !(lifeMs > 0))
        throw new CloudUnavailable(PROVIDER, 'The answer of the token endpoint has no token')
      return { token, endMs: this.#world.clock.monotonicMs() + lifeMs }
    } catch (cause) {
      if (!(cause instanceof CloudRefusal)) throw cause
      throw new CloudUnavailable(explanationOf(cause), cause.message, cause)
    }
  }

  async #request(audience: string): Promise<CloudCall> {
    const { credential } = this.#asking
    const lack = lackOf(this.#asking)
    if (lack !== undefined) throw new CloudUnavailable(NO_CREDENTIAL, lack)
    switch (credential.kind) {
      case 'machine':
        return this.#metadataRequest(audience)
      case 'secret':
        return this.#tokenRequest(audience, { client_secret: credential.secret })
      case 'identity token':
        return this.#tokenRequest(audience, assertion(await this.#ownToken(credential.audience, credential.ttlSeconds)))
      case 'token file':
        return this.#tokenRequest(audience, assertion(await this.#proofs.readFile(credential.path)))
    }
  }

  async #ownToken(audience: string, ttlSeconds: number): Promise<string> {
    try {
      return await this.#proofs.mint(audience, ttlSeconds)
    } catch (cause) {
      if (!(cause instanceof Refusal)) throw cause
      throw new CloudUnavailable(NO_CREDENTIAL, cause.message, cause)
    }
  }

  #tokenRequest(audience: string, proof: Readonly<Record<string, string>>): CloudCall {
    const { cloud, tenant, clientId } = this.#asking
    const form = { grant_type: 'client_credentials', client_id: clientId, ...proof, scope: `${audience}/.default` }
    return {
      service: 'identity provider',
      method: 'POST',
      url: `${cloud.authority}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`,
      body: { type: 'application/x-www-form-urlencoded', text: new URLSearchParams(form).toString() },
    }
  }

  #metadataRequest(resource: string): CloudCall {
    const { cloud, clientId } = this.#asking
    const identity = clientId === '' ? {} : { client_id: clientId }
    const query = new URLSearchParams({ 'api-version': METADATA_VERSION, resource, ...identity })
    return {
      service: 'instance metadata',
      method: 'GET',
      url: `${cloud.metadata}/metadata/identity/oauth2/token?${query}`,
      headers: { Metadata: 'true' },
    }
  }
}

const PROVIDER = 'identity provider unavailable'
/** Returns the form fields of RFC 7523 section 2.2. */
const assertion = (token: string) => ({
  client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  client_assertion: token,
})

/**
 * Explains a refusal of our own credential by the last number in its reason. Numbers that need no special advice share
 * one text.
 */
function explanationOf({ reason }: CloudRefusal): string {
  return own(REFUSALS, /\d+$/.exec(reason)?.[0] ?? '') ?? "the identity provider refused this server's own credential"
}

const NOT_FEDERATED =
  'the identity provider knows no federated credential for the token of this server (AADSTS70021): a new one is ' +
  'known within a minute, so try again; else compare its issuer, subject and audience with those of the token'
const REFUSALS: Readonly<Record<string, string>> = {
  '70021': NOT_FEDERATED,
  // Issuer, audience and subject have numbers of their own.
  '700211': NOT_FEDERATED,
  '700212': NOT_FEDERATED,
  '700213': NOT_FEDERATED,
  '700024':
    'the token by which this server asks the identity provider is not valid now (AADSTS700024): see whether the file ' +
    'of AZURE_FEDERATED_TOKEN_FILE is still replaced, and compare the clocks',
}
const NO_CREDENTIAL =
  'this server has no credential for the cloud: see client_id, client_secret and auth_type of the mount'
