// By what this server shows the cloud who it is: a secret, a token that it signs itself, one that lies in a file, or
// the identity of its machine. `auth_type` pins one; else it is the first of these that is configured.

import { own } from '../../lib/own.ts'
import type { Cloud } from './clouds.ts'
import type { CloudConfig } from './config.ts'

export type Credential =
  | { readonly kind: 'secret'; readonly secret: string }
  | { readonly kind: 'identity token'; readonly audience: string; readonly ttlSeconds: number }
  /** The file is read for each token of the cloud: whoever writes it replaces it before its token ends. */
  | { readonly kind: 'token file'; readonly path: string }
  | { readonly kind: 'machine' }

/** Of the environment (settings.ts). */
type Environment = { readonly CLIENT_SECRET?: string; readonly FEDERATED_TOKEN_FILE?: string }

/** What of the settings of a mount a credential needs. */
type Asker = { readonly credential: Credential; readonly clientId: string; readonly cloud: Pick<Cloud, 'metadata'> }

/** What `auth_type` may be; the last two are one. */
const AUTH_TYPES: Readonly<Record<string, Credential['kind']>> = {
  root_creds: 'secret',
  plugin_wif: 'identity token',
  msi: 'machine',
  aks_wi: 'token file',
  aks_wif: 'token file',
}

export const isAuthType = (text: string): boolean => text === '' || Object.hasOwn(AUTH_TYPES, text)

export const DEFAULT_TOKEN_SECONDS = 3_600

/** What is missing of it is '': see `lackOf`. */
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

/** Whether the mount asks by a secret in whose place the service may put another: an audience excludes a stored one. */
export const changesSecret = (config: CloudConfig, environment: Environment): boolean =>
  config.identityTokenAudience === '' && credentialOf(config, environment).kind === 'secret'

function firstOf(secret: string, audience: string, path: string): Credential['kind'] {
  if (secret !== '') return 'secret'
  if (audience !== '') return 'identity token'
  return path === '' ? 'machine' : 'token file'
}

/** What is missing for this credential, and what to do about it; undefined: nothing. */
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
