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
  tenant_id: string('Directory that the callers belong to: its GUID, or a domain name of it', { max: 256 }),
  resource: string('Audience that tokens must be for, exactly as in their claim "aud"', { max: 1_024 }),
  environment: string(
    'CloudPublicCloud, CloudUSGovernmentCloud, CloudChinaCloud, CloudGermanCloud, the vendor’s ' +
      'names of them, or one that the configuration of the server defines; empty: the public cloud',
    { max: 256 },
  ),
  client_id: string('Application whose credential asks the cloud; empty: the machine’s own identity', { max: 256 }),
  client_secret: string('Its secret', { secret: true, max: 1_024 }),
  root_password_ttl: duration('Lifetime of secrets that rotate-root makes; 0: 4380 h'),
  max_retries: int('Further attempts of a call to the cloud; 0: three, negative: none'),
  retry_delay: signedDuration('Wait before the first of them; 0: 800 ms, negative: none. A login ends after 10 s'),
  max_retry_delay: signedDuration('Longest wait; 0: 60 s, negative: without a bound'),
  require_resource_fields: bool('A login names subscription_id and resource_group_name, whatever its role asks for'),
  accept_v2_tokens: bool('Tokens of version 2.0 are taken too'),
  check_group_overage: bool(
    'Where a token names too many groups to list, the directory is asked about those that ' + 'the role is bound to',
  ),
  rotation_period: duration('The secret is changed by the service this often; 0: not'),
  rotation_schedule: string('The same by minute, hour, day, month and weekday, in UTC; not with rotation_period'),
  rotation_window: duration('Time after a scheduled minute in which a change may begin; 0: any time'),
  disable_automated_rotation: bool('The two do nothing'),
  auth_type: string(
    'By what this server shows the cloud who it is: root_creds (client_secret), plugin_wif (a token that it signs), ' +
      'msi (the identity of its machine), aks_wi (a token that workload identity leaves in a file; also aks_wif). ' +
      'Empty: client_secret where there is one, then identity_token_audience, the file, the machine',
    { max: 32 },
  ),
  identity_token_audience: string(
    'The server signs tokens for this audience and shows them instead of a secret; not with client_secret',
    { max: 599 },
  ),
  identity_token_ttl: duration('Lifetime of these tokens, 24 h at most; 0: 1 h'),
  rotation_policy: string('Not offered: leave it empty'),
}

const read = endpoint({
  id: 'cloud-config-read',
  operation: 'read',
  path: 'config',
  capability: 'read',
  runsOn: 'any-node',
  summary: 'The configuration of the mount',
  describe:
    'The secret is there for callers whose policies grant sudo on the path, and only as long as it is one that an ' +
    'operator wrote.',
  fields: {},
  response: {
    tenant_id: text('Directory'),
    resource: text('Audience'),
    environment: text('Cloud, as written; empty: the public one'),
    client_id: text('Application'),
    client_secret: optional(text('What an operator wrote, to callers with sudo')),
    root_password_ttl: integer('Seconds'),
    root_password_expiration_date: optional(text('RFC 3339: end of the secret that rotate-root made')),
    max_retries: integer('Further attempts'),
    retry_delay: integer('Nanoseconds'),
    max_retry_delay: integer('Nanoseconds'),
    require_resource_fields: flag('Logins name the resource'),
    accept_v2_tokens: flag('Tokens of version 2.0 are taken'),
    check_group_overage: flag('The directory is asked about groups that a token does not list'),
    auth_type: text('As written; empty: the first credential that is configured'),
    identity_token_audience: text('Of tokens that the server signs; empty: it signs none'),
    identity_token_ttl: integer('Seconds, as written; 0: 3600'),
    rotation_period: integer('Seconds'),
    rotation_schedule: text('Times'),
    rotation_window: integer('Seconds'),
    rotation_policy: text('Always empty'),
    disable_automated_rotation: flag('Neither of them counts'),
    rotation_pending: flag('A new secret waits until the directory takes it'),
    from_environment: listOf(text('Name of a field'), 'What is empty here and comes from the server’s environment'),
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
  summary: 'Configures the mount, or changes what is sent',
  describe: 'The cloud is not asked: whether a credential is right shows with the first login.',
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
  summary: 'Forgets configuration and credential; roles stay',
  fields: {},
  handler: async (cloud: CloudAuth) => {
    const warnings = warningsOfDeletion(await cloud.configs.delete())
    // Equal settings may be written again; they must not find answers of the deleted ones.
    cloud.reset()
    return warnings.length === 0 ? DONE : { warnings }
  },
})

/** Read, write and delete of the configuration. */
export const CLOUD_CONFIG_ENDPOINTS: readonly Endpoint<CloudAuth>[] = [read, write, remove]
