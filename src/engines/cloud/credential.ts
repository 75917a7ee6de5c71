// How this server authenticates to the cloud: by a secret, a token that it signs itself, a token in a file, or the
// identity of its machine. `auth_type` selects one; otherwise it is the first of these that is configured.

import { own } from '../../lib/own.ts'
import type { Cloud } from './clouds.ts'
import type { CloudConfig } from './config.ts'

/** The credential of a mount. What is missing of it is empty; `lackOf` says what. */
export type Credential =
  | { readonly kind: 'secret'; readonly secret: string }
  | { readonly kind: 'identity token'; readonly audience: string; readonly ttlSeconds: number }
  /** The file is read for each token of the cloud, because workload identity replaces it before its token ends. */
  | { readonly kind: 'token file'; readonly path: string }
  | { readonly kind: 'machine' }

/** The variables that matter here (settings.ts). */
type Environment = { readonly CLIENT_SECRET?: string; readonly FEDERATED_TOKEN_FILE?: string }

/** The part of a mount's settings that a credential depends on. */
type Asker = { readonly credential: Credential; readonly clientId: string; readonly cloud: Pick<Cloud, 'metadata'> }

/** The values of `auth_type`; the last two mean the same. */
const AUTH_TYPES: Readonly<Record<string, Credential['kind']>> = {
  root_creds: 'secret',
  plugin_wif: 'identity token',
  msi: 'machine',
  aks_wi: 'token file',
  aks_wif: 'token file',
}

/** True for a value of `auth_type`; empty selects the first credential that is configured. */
export const isAuthType = (text: string): boolean => text === '' || Object.hasOwn(AUTH_TYPES, text)

/** Lifetime in seconds of tokens that the server signs, if the mount sets none. */
export const DEFAULT_TOKEN_SECONDS = 3_600

/** Returns the credential that the settings select. Stored settings come before the environment (threats L-13). */
export function credentialOf(config: CloudConfig, environment: Environment): Credential {
  const secret = config.secret?.value || (environment.CLIENT_SECRET ?? '')
  const audience = config.identityTokenAudience
  const path = environment.FEDERATED_TOKEN_FILE ?? ''
  switch (own(AUTH_TYPES, config.authType) ?? firstOf(secret, audience, path)) {
    case 'secret':
      return { kind: 'secret', secret }
    case 'identity token':
      return { kind: 'identity token', audience, ttlSeconds: config.identityTokenTtlSeconds || DEFAULT_TOKEN_SECONDS }
    case 'token file':
      return { kind: 'token file', path }
    case 'machine':
      return { kind: 'machine' }
  }
}

/**
 * True if the service may replace the mount's secret by another. An audience excludes that, since it excludes a stored
 * secret.
 */
export const changesSecret = (config: CloudConfig, environment: Environment): boolean =>
  config.identityTokenAudience === '' && credentialOf(config, environment).kind === 'secret'

function firstOf(secret: string, audience: string, path: string): Credential['kind'] {
  if (secret !== '') return 'secret'
  if (audience !== '') return 'identity token'
  return path === '' ? 'machine' : 'token file'
}

/** Returns what is missing for this credential, and what to do about it; undefined if nothing is. */
export function lackOf({ credential, clientId, cloud }: Asker) {
  switch (credential.kind) {
    case 'secret':
      return credential.secret === '' ? 'client_secret is not set: set it' : lackOfClient(clientId)
    case 'identity token':
      return credential.audience === ''
        ? 'identity_token_audience is not set: set it to the audience of the federated credential'
        : lackOfClient(clientId)
    case 'token file':
      return credential.path === ''
        ? 'AZURE_FEDERATED_TOKEN_FILE is not in the environment of this server: have workload identity put it there'
        : lackOfClient(clientId)
    case 'machine':
      return cloud.metadata === undefined
        ? 'the cloud has no address of instance metadata: set metadata in its stanza of the server’s configuration'
        : undefined
  }
}

const lackOfClient = (clientId: string): string | undefined =>
  clientId === '' ? 'client_id is not set: set it to that of the application or identity' : undefined
