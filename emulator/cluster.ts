// A cluster of containers. It signs tokens for its pods, which exchange them for tokens of a cloud identity (workload
// identity).
import type { JsonValue } from '../src/lib/json.ts'
import type { Clock, Random } from '../src/lib/world.ts'
import { type Handler, route } from './exchange.ts'
import { SigningKeys } from './signing-keys.ts'
import { type Claims, signToken, type TokenForm } from './tokens.ts'

/** The audience that the vendor's directory expects unless a credential names another. */
export const EXCHANGE_AUDIENCE = 'api://AzureADTokenExchange'
const LIFETIME_SECONDS = 3600

/** The issuer of a cluster: it has keys and documents of its own, apart from the directory's. */
export class Cluster {
  readonly #clock: Clock
  readonly #random: Random
  readonly #issuer: () => string
  /** Made at the first use: most runs have no cluster, and RSA keys take time. */
  #keys: Promise<SigningKeys> | undefined

  constructor(clock: Clock, random: Random, issuer: () => string) {
    this.#clock = clock
    this.#random = random
    this.#issuer = issuer
  }

  get issuer(): string {
    return this.#issuer()
  }

  /** Returns the token that a pod finds in the file of AZURE_FEDERATED_TOKEN_FILE. */
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
