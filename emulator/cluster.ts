// A cluster of containers: it signs tokens for its pods, by which they become a cloud identity (workload identity).
import { createLocalJWKSet, decodeJwt, errors, type JSONWebKeySet, jwtVerify } from 'jose'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../src/lib/json.ts'
import { outboundTo } from '../src/lib/outbound.ts'
import type { Clock, Random, Timers } from '../src/lib/world.ts'
import type { FederatedCredential } from './directory.ts'
import { type Handler, route } from './exchange.ts'
import { SigningKeys } from './signing-keys.ts'
import { type Claims, signToken, type TokenForm } from './tokens.ts'

/** What the vendor's directory wants as audience unless a credential says otherwise. */
export const EXCHANGE_AUDIENCE = 'api://AzureADTokenExchange'
const LIFETIME_SECONDS = 3600
const PATIENCE_MS = 3000

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

/** Whether `assertion` is a good token of one of these: its issuer is asked for its keys, at its own address. */
export async function isTrustedAssertion(
  assertion: string,
  trusted: readonly FederatedCredential[],
  clock: Clock,
  timers: Timers,
): Promise<boolean> {
  const credential = findCredential(assertion, trusted)
  if (credential === undefined) return false
  const base = credential.issuer.replace(/\/$/, '')
  const discovery = await getJson(`${base}/.well-known/openid-configuration`, base, timers)
  const keys = await getJson(String(discovery?.jwks_uri), base, timers)
  if (discovery?.issuer !== credential.issuer || keys === undefined) return false
  try {
    await jwtVerify(assertion, createLocalJWKSet(keys as unknown as JSONWebKeySet), {
      issuer: credential.issuer,
      subject: credential.subject,
      audience: credential.audience,
      currentDate: new Date(clock.nowMs()),
      requiredClaims: ['exp'],
    })
    return true
  } catch (cause) {
    if (cause instanceof errors.JOSEError) return false
    throw cause
  }
}

function findCredential(assertion: string, trusted: readonly FederatedCredential[]): FederatedCredential | undefined {
  try {
    const { iss, sub, aud } = decodeJwt(assertion)
    return trusted.find(
      ({ issuer, subject, audience }) => issuer === iss && subject === sub && [aud].flat().includes(audience),
    )
  } catch (cause) {
    if (cause instanceof errors.JOSEError) return undefined
    throw cause
  }
}

/** Undefined for whatever is no JSON object with 200 at that origin. */
async function getJson(url: string, issuer: string, timers: Timers): Promise<JsonObject | undefined> {
  if (!URL.canParse(url) || !URL.canParse(issuer)) return undefined
  try {
    const outbound = outboundTo([new URL(issuer).origin], timers)
    const { status, body } = await outbound.request({ method: 'GET', url, headers: {}, timeoutMs: PATIENCE_MS })
    const value = parseJson(body)
    return status === 200 && isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
