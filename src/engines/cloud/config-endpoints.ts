// The endpoints of a mount's configuration (Interface 2.1).
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { bool, duration, int, signedDuration, string } from '../../api/fields.ts'
import { orNotFound } from '../../api/named-things.ts'
import { DecisionOutdated, DONE } from '../../api/request.ts'
import { flag, integer, listOf, optional, text } from '../../api/shape.ts'
import type { World } from '../../lib/world.ts'
import type { CloudConfig, ConfigStore } from './config.ts'
import {
  changedCloudConfig,
  configBody,
  configWarnings,
  requireUsableConfig,
  warningsOfDeletion,
} from './config-values.ts'
import { DEFAULT_TOKEN_SECONDS } from './credential.ts'
import type { RotationClock } from './rotation-clock.ts'
import type { CloudEnvironment } from './settings.ts'

/** The part of the mount that these endpoints use. */
type CloudAuth = {
  readonly configs: ConfigStore
  readonly rotationClock: Pick<RotationClock, 'soon'>
  readonly world: Pick<World, 'clock'>
  readonly environment: CloudEnvironment
  mintToken(audience: string, ttlSeconds: number): Promise<string>
  reset(): void
}

const CONFIG_FIELDS = {
  tenant_id: string('Tenant (directory) of the workloads: its GUID or one of its domain names', { max: 256 }),
  resource: string('Required audience of tokens: must be exactly the value of their aud claim', { max: 1_024 }),
  environment: string(
    'Cloud: CloudPublicCloud, CloudUSGovernmentCloud, CloudChinaCloud, CloudGermanCloud, the vendor’s names for ' +
      'these, or a cloud that the server’s configuration defines; the public cloud if unset',
    { max: 256 },
  ),
  client_id: string(
    'Client id of the application or identity that calls the cloud; empty: the machine’s own identity',
    { max: 256 },
  ),
  client_secret: string('Client secret of the application', { secret: true, max: 1_024 }),
  root_password_ttl: duration('Lifetime of secrets that rotate-root creates; 0: 4380 h'),
  max_retries: int('Retries of a failed call to the cloud, at most 10; 0: 3, negative: none'),
  retry_delay: signedDuration('Delay before the first retry; 0: 800 ms, negative: none. A login ends after 10 s'),
  max_retry_delay: signedDuration('Longest delay between retries; 0: 60 s, negative: unlimited'),
  require_resource_fields: bool(
    'Every login must give subscription_id and resource_group_name, whatever its role requires',
  ),
  accept_v2_tokens: bool('Accepts tokens of version 2.0 as well'),
  check_group_overage: bool(
    'Asks the directory about the bound_group_ids of the role if the caller has too many groups for its token to list',
  ),
  rotation_period: duration('Interval at which the server rotates client_secret, at least 10 s; 0: never'),
  rotation_schedule: string(
    'Rotation schedule as in cron: minute, hour, day, month, weekday, in UTC; excludes rotation_period',
  ),
  rotation_window: duration(
    'Time after a scheduled minute in which a rotation may start, at least 1 h; 0: any time. Needs rotation_schedule',
  ),
  disable_automated_rotation: bool('Disables rotation_period and rotation_schedule'),
  auth_type: string(
    'How this server authenticates to the cloud: root_creds (client_secret), plugin_wif (a token that it signs), msi ' +
      '(the identity of its machine), aks_wi or aks_wif (a workload identity token in a file). Empty uses the first ' +
      'that is configured: client_secret, identity_token_audience, the token file, the machine identity',
    { max: 32 },
  ),
  identity_token_audience: string(
    'Audience of the tokens that the server signs and presents instead of a secret; excludes client_secret',
    { max: 599 },
  ),
  identity_token_ttl: duration('Lifetime of these tokens, at most 24 h; 0: 1 h'),
  rotation_policy: string('Not supported: leave it empty'),
}

const read = endpoint({
  id: 'cloud-config-read',
  operation: 'read',
  path: 'config',
  capability: 'read',
  runsOn: 'any-node',
  summary: 'Returns the configuration of the mount',
  describe:
    'client_secret is included only for callers whose policies grant sudo on the path, and only while it is one that ' +
    'an operator wrote.',
  fields: {},
  response: {
    tenant_id: text('Tenant (directory)'),
    resource: text('Required audience of tokens'),
    environment: text('Cloud, as written; empty if unset'),
    client_id: text('Client id'),
    client_secret: optional(text('Client secret that an operator wrote; only for callers with sudo')),
    root_password_ttl: integer('Lifetime of new secrets, in seconds; 0: 4380 h'),
    root_password_expiration_date: optional(text('Expiration time of the secret that the server created, RFC 3339')),
    max_retries: integer('Retries, as written'),
    retry_delay: integer('Delay before the first retry, in nanoseconds, as written'),
    max_retry_delay: integer('Longest delay between retries, in nanoseconds, as written'),
    require_resource_fields: flag('Whether every login must give subscription_id and resource_group_name'),
    accept_v2_tokens: flag('Whether tokens of version 2.0 are accepted'),
    check_group_overage: flag('Whether the directory is asked if a token cannot list all groups'),
    auth_type: text('Authentication to the cloud, as written; empty: the first credential that is configured'),
    identity_token_audience: text('Audience of tokens that the server signs; empty: it signs none'),
    identity_token_ttl: integer('Lifetime of these tokens in seconds, as written; 0: 3600'),
    rotation_period: integer('Rotation interval in seconds; 0: never'),
    rotation_schedule: text('Rotation schedule; empty: none'),
    rotation_window: integer('Time after the scheduled time in which a rotation may start, in seconds; 0: no limit'),
    rotation_policy: text('Always empty'),
    disable_automated_rotation: flag('Whether rotation_period and rotation_schedule are disabled'),
    rotation_pending: flag('Whether a new secret is waiting until the directory accepts it'),
    from_environment: listOf(text('Field name'), 'Fields that are unset, and taken from the environment of the server'),
  },
  handler: async (cloud: CloudAuth, _args, request) => {
    const config = orNotFound(await cloud.configs.find())
    const warnings = configWarnings(config, cloud.world.clock.nowMs())
    const data = configBody(config, cloud.environment, request.caller?.hasSudo() === true)
    return warnings.length === 0 ? { data } : { data, warnings }
  },
})

const write = endpoint({
  id: 'cloud-config-write',
  operation: 'update',
  path: 'config',
  capability: 'create-or-update',
  runsOn: 'writer',
  writes: 'mount',
  summary: 'Configures the mount, or updates the given fields',
  describe:
    'tenant_id, resource, environment, client_id and client_secret come from the environment of the server if unset. ' +
    'The cloud is not contacted: whether a credential works shows only when it is first used.',
  fields: CONFIG_FIELDS,
  exists: async (cloud: CloudAuth) => (await cloud.configs.find()) !== undefined,
  handler: async (cloud: CloudAuth, args, { operation }) => {
    let warnings: readonly string[] = []
    const change = (found: CloudConfig | undefined): CloudConfig => {
      if ((operation === 'create') !== (found === undefined)) throw new DecisionOutdated()
      const changed = changedCloudConfig(args, cloud.world.clock.nowMs(), found)
      warnings = requireUsableConfig(changed, cloud.environment)
      return changed
    }
    const audience = args.identity_token_audience ?? ''
    if (audience !== '') {
      change(await cloud.configs.find())
      // Signs a token now. What prevents it shows at this write, and the keys are published before the cloud looks for
      // them.
      await cloud.mintToken(audience, DEFAULT_TOKEN_SECONDS)
    }
    await cloud.configs.change(change)
    cloud.rotationClock.soon()
    return warnings.length === 0 ? DONE : { warnings }
  },
})

const remove = endpoint({
  id: 'cloud-config-delete',
  operation: 'delete',
  path: 'config',
  capability: 'delete',
  runsOn: 'writer',
  writes: 'mount',
  summary: 'Deletes the configuration and its credential; roles are kept',
  fields: {},
  handler: async (cloud: CloudAuth) => {
    const warnings = warningsOfDeletion(await cloud.configs.delete())
    // Equal settings may be written again; they must not find answers of the deleted ones.
    cloud.reset()
    return warnings.length === 0 ? DONE : { warnings }
  },
})

/** Endpoints of the mount's configuration. A read shows no secret that the service made. */
export const CLOUD_CONFIG_ENDPOINTS: readonly Endpoint<CloudAuth>[] = [read, write, remove]
