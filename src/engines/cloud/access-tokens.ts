// Tokens that this server shows to the cloud, one for each audience, used until shortly before they end.
import type { World } from '../../lib/world.ts'
import { Deadline } from './deadline.ts'
import { CloudRefusal, CloudUnavailable } from './refusals.ts'
import type { Settings } from './settings.ts'
import type { CloudCall, Upstream } from './upstream.ts'

type Credential = Pick<Settings, 'cloud' | 'tenant' | 'clientId' | 'clientSecret'>
type Held = { readonly token: string; readonly endMs: number }

/** Before its end: another is fetched while it is still used, and then it is not used any more. */
const REFRESH_MS = 10 * 60_000
const UNUSED_MS = 5 * 60_000
const MAX_TOKEN_CHARACTERS = 32_768
const METADATA_VERSION = '2018-02-01'

export class AccessTokens {
  readonly #world: World
  readonly #upstream: Upstream
  readonly #credential: Credential
  readonly #held = new Map<string, Held>()
  readonly #underWay = new Map<string, Promise<Held>>()

  constructor(world: World, upstream: Upstream, credential: Credential) {
    this.#world = world
    this.#upstream = upstream
    this.#credential = credential
  }

  /** `audience`: with the '/' that belongs to it. @throws CloudUnavailable, also where our credential is refused */
  async get(audience: string, deadline: Deadline): Promise<string> {
    const held = this.#held.get(audience)
    const leftMs = (held?.endMs ?? 0) - this.#world.clock.monotonicMs()
    if (held !== undefined && leftMs > UNUSED_MS) {
      if (leftMs < REFRESH_MS) this.#renewedOnce(audience).catch(() => {})
      return held.token
    }
    return (await deadline.within(this.#renewedOnce(audience))).token
  }

  /** The cloud did not take it. */
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
      const answer = await this.#upstream.call(this.#request(audience), new Deadline(this.#world))
      const { access_token: token, expires_in: seconds } = answer
      const isToken = typeof token === 'string' && /^[\x21-\x7e]+$/.test(token) && token.length <= MAX_TOKEN_CHARACTERS
      const lifeMs = Number(seconds) * 1000
      if (!isToken || !(lifeMs > 0))
        throw new CloudUnavailable(PROVIDER, 'The answer of the token endpoint has no token')
      return { token, endMs: this.#world.clock.monotonicMs() + lifeMs }
    } catch (cause) {
      if (!(cause instanceof CloudRefusal)) throw cause
      throw new CloudUnavailable("the identity provider refused this server's own credential", cause.message, cause)
    }
  }

  #request(audience: string): CloudCall {
    const { cloud, tenant, clientId, clientSecret } = this.#credential
    if (clientSecret === '') return this.#metadataRequest(audience)
    if (clientId === '') throw new CloudUnavailable(NO_CREDENTIAL, 'client_secret is set and client_id is not')
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
    return {
      service: 'identity provider',
      method: 'POST',
      url: `${cloud.authority}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`,
      body: {
        type: 'application/x-www-form-urlencoded',
        text: new URLSearchParams({ ...form, scope: `${audience}/.default` }).toString(),
      },
    }
  }

  #metadataRequest(resource: string): CloudCall {
    const { cloud, clientId } = this.#credential
    if (cloud.metadata === undefined)
      throw new CloudUnavailable(NO_CREDENTIAL, 'Neither client_id and client_secret nor a metadata address is set')
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
const NO_CREDENTIAL = 'this server has no credential for the cloud: set client_id and client_secret'
