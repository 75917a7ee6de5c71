// Tokens by which this server says elsewhere which of its mounts asks: whoever trusts the issuer finds its keys at the
// issuer's own address. Engines are given the one half, the endpoints that publish the keys the other.

export type IdentityClaims = {
  readonly subject: string
  readonly audience: string
  /** At most MAX_IDENTITY_TOKEN_SECONDS. */
  readonly ttlSeconds: number
}

/** For how long a key that signs no more is still published. */
export const MAX_IDENTITY_TOKEN_SECONDS = 86_400

export interface IdentityTokens {
  /** @throws Refusal where this server has no address that others could ask */
  issuer(): string
  /** Signed with RS256. Only where writes are made: the first one makes the key. @throws Refusal as `issuer` */
  mint(claims: IdentityClaims): Promise<string>
}

/** A member of a JSON Web Key Set (RFC 7517), and nothing but the public half. */
export type PublishedKey = {
  readonly kty: 'RSA'
  readonly use: 'sig'
  readonly alg: 'RS256'
  readonly kid: string
  readonly n: string
  readonly e: string
}

export interface PublishedIdentity {
  /** @throws Refusal as IdentityTokens */
  issuer(): string
  /** None before a token was asked for. */
  publishedKeys(): Promise<readonly PublishedKey[]>
}
