// A cluster of containers: it signs tokens for its pods, by which they become a cloud identity (workload identity).
import type { JsonValue } from '../src/lib/json.ts'
import type { Clock, Random } from '../src/lib/world.ts'
import { type Handler, route } from './exchange.ts'
import { SigningKeys } from './signing-keys.ts'
import { type Claims, signToken, type TokenForm } from './tokens.ts'

/** What the vendor's directory wants as audience unless a credential says otherwise. */
export const EXCHANGE_AUDIENCE = 'api://AzureADTokenExchange'
const LIFETIME_SECONDS = 3600

export class Cluster {
  readonly #clock: Clock
  readonly #random: Random
  readonly #issuer: () => string
  /** Made when somebody needs them: most runs have no cluster. */
  #keys: Promise<SigningKeys> | undefined

  constructor(clock: Clock, random: Random, issuer: () => string) {
    this.#clock = clock
    this.#random = random
    this.#issuer = issuer
  }

  get issuer(): string {
    return this.#issuer()
  }

  /** As a pod finds it in the file that AZURE_FEDERATED_TOKEN_FILE names. */
  async token(
    subject: string,
    options: TokenForm & { readonly audience?: string; readonly claims?: Claims } = {},
  ): Promise<string> {
    const now = Math.floor(this.#clock.nowMs() / 1000)
    const claims = {
      aud: [options.audience ?? EXCHANGE_AUDIENCE],
      exp: now + LIFETIME_SECONDS,
      iat: now,
      iss: this.issuer,
      nbf: now,
      sub: subject,
      ...options.claims,
    }
    return signToken(await this.#signingKeys(), claims, options)
  }

  handler(): Handler {
    return route(
      {
        'GET /.well-known/openid-configuration': ({ origin }) => ({
          status: 200,
          body: {
            issuer: origin,
            jwks_uri: `${origin}/openid/v1/jwks`,
            response_types_supported: ['id_token'],
            subject_types_supported: ['public'],
            id_token_signing_alg_values_supported: ['RS256'],
          },
        }),
        'GET /openid/v1/jwks': async () => ({
          status: 200,
          body: { keys: (await this.#signingKeys()).published as unknown as JsonValue[] },
        }),
      },
      () => ({ status: 404, body: {} }),
    )
  }

  #signingKeys(): Promise<SigningKeys> {
    this.#keys ??= SigningKeys.make(this.#clock, this.#random)
    return this.#keys
  }
}
