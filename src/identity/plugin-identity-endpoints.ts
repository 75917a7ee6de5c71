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
  summary: 'Who signs the tokens by which mounts prove elsewhere who they are',
  describe:
    'The issuer is below api_addr of the configuration of the server; without one there is none, and 400. A listener ' +
    'with redact_addresses tells it, and where the keys are, once a mount has asked for a token.',
  response: {
    issuer: text('Claim "iss" of the tokens'),
    jwks_uri: text('Where their keys are'),
    response_types_supported: listOf(text('id_token'), 'Nothing is handed out here'),
    subject_types_supported: listOf(text('public'), 'Everybody is told the same subject'),
    id_token_signing_alg_values_supported: listOf(text('RS256'), 'How the tokens are signed'),
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
  summary: 'The public keys of those tokens, as a JSON Web Key Set (RFC 7517)',
  describe: 'That which signs, the next one, and those of which tokens have not ended. Empty before the first token.',
  response: {
    keys: listOf(
      group(
        {
          kty: text('RSA'),
          use: text('sig'),
          alg: text('RS256'),
          kid: text('Names the key in the head of a token'),
          n: text('Modulus, base64url'),
          e: text('Exponent, base64url'),
        },
        'A key',
      ),
      'In the order of their use',
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
