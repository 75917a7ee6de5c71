// The settings that a login uses: the configuration of the mount and, where that is empty, the environment of the
// server (threats L-13).
import { fail } from '../../api/errors.ts'
import { type Cloud, cloudNames, findCloud } from './clouds.ts'
import type { CloudConfig } from './config.ts'
import { type Credential, credentialOf } from './credential.ts'
import { isTenant } from './names.ts'

/** Variables of the environment, without their prefix `CLOUD_` or `AZURE_`. */
export const ENVIRONMENT_NAMES = [
  'TENANT_ID',
  'AD_RESOURCE',
  'ENVIRONMENT',
  'CLIENT_ID',
  'CLIENT_SECRET',
  'FEDERATED_TOKEN_FILE',
] as const
type EnvironmentName = (typeof ENVIRONMENT_NAMES)[number]
/** The variables that are set, by their names without prefix. */
export type Environment = Partial<Readonly<Record<EnvironmentName, string>>>

/** Reads the variables; the neutral name comes before the vendor's. Empty ones count as absent. */
export function cloudEnvironment(env: Readonly<Record<string, string | undefined>>): Environment {
  const found: Partial<Record<EnvironmentName, string>> = {}
  for (const name of ENVIRONMENT_NAMES) {
    const value = [env[`CLOUD_${name}`], env[`AZURE_${name}`]].find((each) => each !== undefined && each !== '')
    if (value !== undefined) found[name] = value
  }
  return found
}

/** What all mounts of one thread have in common. */
export type CloudEnvironment = {
  readonly environment: Environment
  /** The clouds that the server's configuration defines. */
  readonly clouds: readonly Cloud[]
}

/** Neither variables nor clouds, for servers without either. */
export const NO_CLOUD_ENVIRONMENT: CloudEnvironment = { environment: {}, clouds: [] }

/** Complete settings, checked. A provider is made for each different value. */
export type CloudSettings = {
  readonly cloud: Cloud
  readonly tenant: string
  readonly resource: string
  readonly clientId: string
  readonly credential: Credential
  readonly retries: { readonly most: number; readonly delayMs: number; readonly maxDelayMs: number }
  readonly requireResourceFields: boolean
  readonly acceptV2Tokens: boolean
  readonly checkGroupOverage: boolean
}

/** Returns the settings of a mount. @throws Refusal that names what is missing or unknown. */
export function settingsOf(config: CloudConfig, { environment, clouds }: CloudEnvironment): CloudSettings {
  const tenant = first(config.tenantId, environment.TENANT_ID)
  const resource = first(config.resource, environment.AD_RESOURCE)
  const name = first(config.environment, environment.ENVIRONMENT)
  const cloud = findCloud(name, clouds)
  if (tenant === '') throw fail('field_missing', ['tenant_id', 'tenant_id is required'])
  // Checked also if it comes from the environment: a name that stands for many tenants would admit all of them.
  if (!isTenant(tenant))
    throw fail('field_invalid', ['tenant_id', 'expected the GUID of one directory, or a domain name of it'])
  if (resource === '') throw fail('field_missing', ['resource', 'resource is required'])
  if (cloud === undefined) throw fail('choice_unknown', ['environment', `known are ${cloudNames(clouds).join(', ')}`])
  return {
    cloud,
    tenant,
    resource,
    clientId: first(config.clientId, environment.CLIENT_ID),
    credential: credentialOf(config, environment),
    retries: retriesOf(config),
    requireResourceFields: config.requireResourceFields,
    acceptV2Tokens: config.acceptV2Tokens,
    checkGroupOverage: config.checkGroupOverage,
  }
}

const first = (configured: string, inEnvironment = ''): string => (configured === '' ? inEnvironment : configured)

const MAX_RETRIES = 10
const DEFAULT_RETRIES = 3
const DEFAULT_DELAY_MS = 800
const DEFAULT_MAX_DELAY_MS = 60_000

/** Returns the retry policy. The meanings of 0 and of negative numbers are those that existing clients know. */
function retriesOf({ maxRetries, retryDelaySeconds, maxRetryDelaySeconds }: CloudConfig): CloudSettings['retries'] {
  const delayMs = retryDelaySeconds === 0 ? DEFAULT_DELAY_MS : Math.max(0, retryDelaySeconds * 1000)
  const maxDelayMs = maxRetryDelaySeconds === 0 ? DEFAULT_MAX_DELAY_MS : maxRetryDelaySeconds * 1000
  return {
    most: maxRetries === 0 ? DEFAULT_RETRIES : Math.min(MAX_RETRIES, Math.max(0, maxRetries)),
    delayMs,
    maxDelayMs: maxDelayMs < 0 ? Infinity : maxDelayMs,
  }
}
