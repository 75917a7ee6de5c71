// By these endpoints a cloud checks the tokens with which mounts of this server log in there (OpenID Connect Discovery
// 1.0). They need no token and give public keys only. The answers are bare, as that standard has them.
import { type Endpoint, endpoint } from '../api/endpoint.ts'
import { fail } from '../api/errors.ts'
import { group, listOf, text } from '../api/shape.ts'
import type { IdentityStore } from './identity-store.ts'

const FOLDER = 'oidc/plugins/.well-known'
/** An hour is safe to cache: the next key is published for a day before it signs. */
const MAX_AGE_SECONDS = 3_600

const open = { operation: 'read', capability: 'none', runsOn: 'any-node', body: 'plain', fields: {} } as const

const configuration = endpoint({
  ...open,
  id: 'plugin-identity-configuration',
  path: `${FOLDER}/openid-configuration`,
  summary: 'Shows the OpenID Connect discovery document for the identity tokens that mounts present to other services',
  describe:
    'The issuer URL is built from api_addr in the server configuration; without api_addr the answer is 400. ' +
    'A listener with redact_addresses answers only once a mount has requested an identity token.',
  response: {
    issuer: text('Issuer: the "iss" claim of the tokens'),
    jwks_uri: text('URL of the public keys'),
    response_types_supported: listOf(text('id_token'), 'Always id_token; tokens are not issued through this endpoint'),
    subject_types_supported: listOf(text('public'), 'Always public: every recipient sees the same subject'),
    id_token_signing_alg_values_supported: listOf(text('RS256'), 'Signature algorithms of the tokens'),
  },
  handler: async ({ published }: IdentityStore, _args, { listener }) => {
    const issuer = published.issuer()
    // Once a mount has asked for a token, the address must be shown: the cloud calls here as an unknown client.
    if (listener?.redacts.addresses === true && (await published.publishedKeys()).length === 0)
      throw fail('not_offered', ['this listener shows no addresses, and no mount has asked for an identity token yet'])
    const data = {
      issuer,
      jwks_uri: `${issuer}/.well-known/keys`,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
    }
    return { data, maxAgeSeconds: MAX_AGE_SECONDS }
  },
})

const keys = endpoint({
  ...open,
  id: 'plugin-identity-keys',
  path: `${FOLDER}/keys`,
  summary: 'Shows the public keys of identity tokens, as a JSON Web Key Set (RFC 7517)',
  describe:
    'The set has the current signing key, the next one, and previous keys whose tokens have not yet expired. ' +
    'It is empty before the first token is issued.',
  response: {
    keys: listOf(
      group(
        {
          kty: text('RSA'),
          use: text('sig'),
          alg: text('RS256'),
          kid: text('Key ID, as in the header of a token'),
          n: text('Modulus, base64url-encoded'),
          e: text('Exponent, base64url-encoded'),
        },
        'A key',
      ),
      'Public keys, in order of use',
    ),
  },
  handler: async ({ published }: IdentityStore) => {
    const found = await published.publishedKeys()
    // An empty set is not cached. The first token follows soon, and must not meet a cache that has no key for it.
    return { data: { keys: found }, ...(found.length === 0 ? {} : { maxAgeSeconds: MAX_AGE_SECONDS }) }
  },
})

/** Discovery document and key set. */
export const PLUGIN_IDENTITY_ENDPOINTS: readonly Endpoint[] = [configuration, keys]
