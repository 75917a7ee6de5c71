// Writes to the configuration of a mount, and what is shown of it.
import { fail } from '../../api/errors.ts'
import { MAX_IDENTITY_TOKEN_SECONDS } from '../../api/identity-token.ts'
import { type CloudConfig, type Leftover, leftoverOf, leftoversOf, NEW_CONFIG } from './config.ts'
import { type Credential, changesSecret, isAuthType, lackOf } from './credential.ts'
import { isGuid } from './names.ts'
import { parseSchedule } from './schedule.ts'
import { type CloudEnvironment, type Environment, settingsOf } from './settings.ts'

/** A write as it was decoded; what was not sent is undefined. Durations are in seconds. */
export type GivenCloudConfig = {
  readonly tenant_id?: string | undefined
  readonly resource?: string | undefined
  readonly environment?: string | undefined
  readonly client_id?: string | undefined
  readonly client_secret?: string | undefined
  readonly root_password_ttl?: number | undefined
  readonly max_retries?: number | undefined
  readonly retry_delay?: number | undefined
  readonly max_retry_delay?: number | undefined
  readonly require_resource_fields?: boolean | undefined
  readonly accept_v2_tokens?: boolean | undefined
  readonly check_group_overage?: boolean | undefined
  readonly rotation_period?: number | undefined
  readonly rotation_schedule?: string | undefined
  readonly rotation_window?: number | undefined
  readonly disable_automated_rotation?: boolean | undefined
  readonly auth_type?: string | undefined
  readonly identity_token_audience?: string | undefined
  readonly identity_token_ttl?: number | undefined
  readonly rotation_policy?: string | undefined
}

const NANOSECONDS = 1_000_000_000
const MIN_PERIOD_SECONDS = 10
const MIN_WINDOW_SECONDS = 3_600
/** How long before the end of a secret a read begins to warn: two weeks. */
const SOON_MS = 14 * 86_400_000

/** Merges a write at `nowMs` into the configuration. @throws Refusal naming the field. */
export function changedCloudConfig(
  given: GivenCloudConfig,
  nowMs: number,
  before: CloudConfig = NEW_CONFIG,
): CloudConfig {
  requireOffered(given)
  const config: CloudConfig = {
    tenantId: given.tenant_id ?? before.tenantId,
    resource: given.resource ?? before.resource,
    environment: given.environment ?? before.environment,
    clientId: given.client_id ?? before.clientId,
    rootPasswordTtlSeconds: given.root_password_ttl ?? before.rootPasswordTtlSeconds,
    maxRetries: given.max_retries ?? before.maxRetries,
    retryDelaySeconds: given.retry_delay ?? before.retryDelaySeconds,
    maxRetryDelaySeconds: given.max_retry_delay ?? before.maxRetryDelaySeconds,
    requireResourceFields: given.require_resource_fields ?? before.requireResourceFields,
    acceptV2Tokens: given.accept_v2_tokens ?? before.acceptV2Tokens,
    checkGroupOverage: given.check_group_overage ?? before.checkGroupOverage,
    rotationPeriodSeconds: given.rotation_period ?? before.rotationPeriodSeconds,
    rotationSchedule: given.rotation_schedule ?? before.rotationSchedule,
    rotationWindowSeconds: given.rotation_window ?? before.rotationWindowSeconds,
    disableAutomatedRotation: given.disable_automated_rotation ?? before.disableAutomatedRotation,
    periodFromMs: startsPeriod(given, before) ? nowMs : before.periodFromMs,
    generation: before.generation + 1,
    authType: given.auth_type ?? before.authType,
    identityTokenAudience: given.identity_token_audience ?? before.identityTokenAudience,
    identityTokenTtlSeconds: given.identity_token_ttl ?? before.identityTokenTtlSeconds,
    ...secretOf(given, before),
  }
  if (config.clientId !== '' && !isGuid(config.clientId)) throw fail('field_invalid', ['client_id', 'expected a GUID'])
  requireSchedule(config)
  requireCredential(config)
  return config
}

/**
 * True if the rotation period counts from this write. A write of other settings must not put off a change that is due.
 */
const startsPeriod = (
  { rotation_period: period, client_secret: secret }: GivenCloudConfig,
  before: CloudConfig,
): boolean =>
  before.periodFromMs === null ||
  secret !== undefined ||
  (period !== undefined && period !== before.rotationPeriodSeconds)

/** Refuses a field that would do nothing: it would promise what does not happen. */
function requireOffered({ rotation_policy: policy = '' }: GivenCloudConfig): void {
  if (policy !== '') throw fail('field_not_applicable', ['rotation_policy', 'is not offered: leave it empty'])
}

/** Checks the credential settings by themselves; `requireUsableConfig` checks them against the environment. */
function requireCredential({ authType, secret, identityTokenAudience, identityTokenTtlSeconds }: CloudConfig): void {
  if (!isAuthType(authType))
    throw fail('field_invalid', [
      'auth_type',
      'expected root_creds, plugin_wif, msi or aks_wi (also written aks_wif); empty: the first that is configured',
    ])
  if (secret !== undefined && identityTokenAudience !== '')
    throw fail('fields_conflict', ["only one of 'client_secret' or 'identity_token_audience' can be set"]) // Wire text.
  if (identityTokenTtlSeconds > MAX_IDENTITY_TOKEN_SECONDS)
    throw fail('out_of_range', ['identity_token_ttl', `must be at most ${MAX_IDENTITY_TOKEN_SECONDS} s`])
}

/**
 * Returns the secret after the write. An operator's secret ends a change that is under way; the service's own secrets
 * are then removed from the directory.
 */
function secretOf(
  { client_secret, identity_token_audience }: GivenCloudConfig,
  before: CloudConfig,
): Pick<CloudConfig, 'secret' | 'rotation'> {
  const audience = identity_token_audience ?? before.identityTokenAudience
  // Setting an audience means that no secret is wanted, so one that is being made is dropped too.
  const given = client_secret ?? (audience !== '' && before.secret === undefined ? '' : undefined)
  if (given === undefined) return { secret: before.secret, rotation: before.rotation }
  const { left } = before.rotation
  const secret =
    given === '' ? undefined : ({ value: given, writtenBy: 'operator', keyId: '', expiresAtMs: null } as const)
  return {
    secret,
    rotation: {
      over: ownCredentials(before),
      left,
      lastAtMs: null,
    },
  }
}

/** Returns all credentials that this mount made in the directory, as far as they are known. */
function ownCredentials({ secret, rotation }: CloudConfig): readonly Leftover[] {
  const { pending } = rotation
  return [
    ...leftoversOf(rotation),
    ...(pending === undefined ? [] : [leftoverOf(pending, pending.since)]),
    ...(secret?.writtenBy === 'service' ? [leftoverOf(secret)] : []),
  ]
}

/** Warns of credentials in the directory, which nothing looks after once the configuration is deleted. */
export function warningsOfDeletion(config: CloudConfig | undefined): readonly string[] {
  const own = config === undefined ? [] : ownCredentials(config)
  if (config === undefined || own.length === 0) return []
  return [`The directory keeps credentials that this mount made: ${named(own, config)}. Remove them there`]
}

const named = (credentials: readonly Leftover[], { clientId: current }: CloudConfig): string =>
  credentials
    .map(({ keyId, name, clientId = current }) => `${keyId === '' ? `"${name}"` : keyId} of application ${clientId}`)
    .join(', ')

function requireSchedule({ rotationSchedule, rotationPeriodSeconds, rotationWindowSeconds }: CloudConfig): void {
  if (rotationSchedule !== '' && rotationPeriodSeconds > 0)
    throw fail('fields_conflict', [
      'mutually exclusive fields rotation_schedule and rotation_period were both specified; only one of them can be ' +
        'provided', // Wire text.
    ])
  if (rotationSchedule !== '' && parseSchedule(rotationSchedule) === undefined)
    throw fail('field_invalid', ['rotation_schedule', 'expected five fields as cron has them, in numbers: 0 3 * * 0'])
  if (rotationPeriodSeconds > 0 && rotationPeriodSeconds < MIN_PERIOD_SECONDS)
    throw fail('out_of_range', ['rotation_period', `must be at least ${MIN_PERIOD_SECONDS} s`])
  if (rotationWindowSeconds === 0) return
  // Both are wire text.
  if (rotationPeriodSeconds > 0) throw fail('fields_conflict', ['rotation_window does not apply to period'])
  if (rotationSchedule === '') throw fail('fields_conflict', ['cannot use rotation_window without rotation_schedule'])
  if (rotationWindowSeconds < MIN_WINDOW_SECONDS)
    throw fail('out_of_range', ['rotation_window', `must be at least ${MIN_WINDOW_SECONDS} s`])
}

const isChangedByItself = ({ rotationPeriodSeconds, rotationSchedule, disableAutomatedRotation }: CloudConfig) =>
  !disableAutomatedRotation && (rotationPeriodSeconds > 0 || rotationSchedule !== '')

/**
 * Checks the configuration against the environment, and returns warnings.
 * @throws Refusal if no login could succeed with it.
 */
export function requireUsableConfig(config: CloudConfig, environment: CloudEnvironment): readonly string[] {
  const settings = settingsOf(config, environment)
  const lack = config.authType === '' ? undefined : lackOf(settings)
  if (lack !== undefined)
    throw fail('field_invalid', ['auth_type', `${config.authType} cannot be used: ${lack}, or leave auth_type empty`])
  const { closed } = settings.cloud
  const { kind } = settings.credential
  const isIdle = config.identityTokenAudience !== '' && kind !== 'identity token'
  return [
    ...(closed === undefined ? [] : [`This cloud was closed in ${closed}: no login will succeed`]),
    ...(isIdle ? [`identity_token_audience does nothing: ${why(config, kind)}`] : []),
    ...(isChangedByItself(config) && !changesSecret(config, environment.environment)
      ? [`No secret is changed by itself: ${kind === 'secret' ? WITH_AUDIENCE : `${ASKS} ${kind}`}`]
      : []),
  ]
}

const ASKS = 'this mount asks the cloud by its'
const WITH_AUDIENCE = 'identity_token_audience excludes one that is stored'

const why = ({ authType }: CloudConfig, kind: Credential['kind']): string =>
  authType === ''
    ? `${ASKS} ${kind}, which the environment of the server has: set auth_type to plugin_wif`
    : `auth_type is ${authType}`

/**
 * Returns the configuration as it is read. The secret is shown only with `mayShowSecret`, and only if an operator wrote
 * it.
 */
export function configBody(config: CloudConfig, { environment }: CloudEnvironment, mayShowSecret: boolean): object {
  const { secret, rotation } = config
  const shown = mayShowSecret && secret?.writtenBy === 'operator' ? { client_secret: secret.value } : {}
  const end = secret?.expiresAtMs ?? null
  return {
    tenant_id: config.tenantId,
    resource: config.resource,
    environment: config.environment,
    client_id: config.clientId,
    ...shown,
    root_password_ttl: config.rootPasswordTtlSeconds,
    ...(end === null ? {} : { root_password_expiration_date: new Date(end).toISOString() }),
    max_retries: config.maxRetries,
    retry_delay: config.retryDelaySeconds * NANOSECONDS,
    max_retry_delay: config.maxRetryDelaySeconds * NANOSECONDS,
    require_resource_fields: config.requireResourceFields,
    accept_v2_tokens: config.acceptV2Tokens,
    check_group_overage: config.checkGroupOverage,
    auth_type: config.authType,
    identity_token_audience: config.identityTokenAudience,
    identity_token_ttl: config.identityTokenTtlSeconds,
    rotation_period: config.rotationPeriodSeconds,
    rotation_schedule: config.rotationSchedule,
    rotation_window: config.rotationWindowSeconds,
    rotation_policy: '',
    disable_automated_rotation: config.disableAutomatedRotation,
    rotation_pending: rotation.pending !== undefined,
    from_environment: fromEnvironment(config, environment),
  }
}

/** Returns the names of fields that are empty here and come from the server's environment. */
function fromEnvironment(config: CloudConfig, environment: Environment): readonly string[] {
  const fields = [
    ['tenant_id', config.tenantId, environment.TENANT_ID],
    ['resource', config.resource, environment.AD_RESOURCE],
    ['environment', config.environment, environment.ENVIRONMENT],
    ['client_id', config.clientId, environment.CLIENT_ID],
    ['client_secret', config.secret?.value ?? '', environment.CLIENT_SECRET],
  ] as const
  return fields.flatMap(([name, own, inEnvironment]) => (own === '' && inEnvironment !== undefined ? [name] : []))
}

/** Returns warnings that tell an operator what to do about the credential. */
export function configWarnings(config: CloudConfig, nowMs: number): readonly string[] {
  const { secret, rotation } = config
  const end = secret?.expiresAtMs ?? null
  const warnings: string[] = []
  if (end !== null && end - nowMs < SOON_MS) {
    const ends = end <= nowMs ? 'ended' : 'ends'
    warnings.push(`The secret of the application ${ends} ${new Date(end).toISOString()}: call rotate-root`)
  }
  const { clientId: client, tenantId } = config
  const elsewhere = rotation.over.filter(
    ({ clientId = client, tenant = tenantId }) => clientId !== client || (tenantId !== '' && tenant !== tenantId),
  )
  if (elsewhere.length > 0)
    warnings.push(
      `Credentials that this mount made are in an application that it is not any more: ${named(elsewhere, config)}. ` +
        'Remove them in the directory, if this server may not',
    )
  if (rotation.left.length > 0) {
    const names = rotation.left.map(({ keyId, name }) => (name === '' ? keyId : `${keyId} ("${name}")`)).join(', ')
    warnings.push(
      `The application still has credentials that this mount did not make, the first secret among them: ${names}. ` +
        'Remove those that nobody uses in the directory',
    )
  }
  return warnings
}
