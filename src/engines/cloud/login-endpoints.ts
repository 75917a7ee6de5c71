// The endpoints that log in, explain a failing login, and change the credential of the mount.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { string } from '../../api/fields.ts'
import type { Login } from '../../api/login.ts'
import { DONE } from '../../api/request.ts'
import { flag, group, integer, listOf, text } from '../../api/shape.ts'
import { cidrMatcher } from '../../lib/cidr.ts'
import type { LoginInput } from './attempt.ts'
import type { CheckResult } from './judge.ts'
import type { Rotation } from './rotation.ts'
import type { RotationClock } from './rotation-clock.ts'

/** The part of the mount that these endpoints use. */
type CloudAuth = {
  readonly rotation: Pick<Rotation, 'begin'>
  readonly rotationClock: Pick<RotationClock, 'soon'>
  logIn(input: LoginInput, requestId: string): Promise<Login>
  explain(
    input: LoginInput,
    requestId: string,
  ): Promise<{ readonly status: number; readonly reason: string; readonly results: readonly CheckResult[] }>
}

const MAX_FIELD_CHARACTERS = 2_048
const isAddress = cidrMatcher(['0.0.0.0/0', '::/0'])

const LOGIN_FIELDS = {
  role: string('Role to log in by; upper case counts as lower case', { default: '' }),
  jwt: string('Token that the cloud gave the workload', { secret: true, default: '' }),
  subscription_id: string('Subscription that the workload’s resource is in', {
    default: '',
    max: MAX_FIELD_CHARACTERS,
  }),
  resource_group_name: string('Resource group of it', { default: '', max: MAX_FIELD_CHARACTERS }),
  vm_name: string('Virtual machine that it is; not used where vmss_name is given', {
    default: '',
    max: MAX_FIELD_CHARACTERS,
  }),
  vmss_name: string('Scale set that it is in', { default: '', max: MAX_FIELD_CHARACTERS }),
  resource_id: string(
    'Any other resource: /subscriptions/GUID/resourceGroups/GROUP/providers/NAMESPACE/TYPE/NAME; not used where one ' +
      'of the names is given',
    { default: '', max: MAX_FIELD_CHARACTERS },
  ),
}

const login = endpoint({
  id: 'cloud-login',
  operation: 'update',
  path: 'login',
  capability: 'none',
  // A login makes a token, and the writing thread keeps the answers of the cloud.
  runsOn: 'writer',
  summary: 'Logs in',
  fields: LOGIN_FIELDS,
  givesToken: true,
  handler: async (cloud: CloudAuth, args, { remoteAddress, id }) => ({
    login: await cloud.logIn({ ...args, remoteAddress }, id),
  }),
})

const explain = endpoint({
  id: 'cloud-explain',
  operation: 'update',
  path: 'explain',
  capability: 'update',
  sudo: true,
  runsOn: 'writer',
  summary: 'Says which checks a login meets, without logging in',
  describe:
    'The checks are those of a login, in their order, and then what holds for the tokens of all methods; it would be ' +
    'refused by the first one that fails.',
  fields: {
    ...LOGIN_FIELDS,
    remote_address: string('Where the login comes from; empty: where this request does', { default: '', max: 64 }),
  },
  response: {
    allowed: flag('The login would succeed'),
    status: integer('Of the login’s answer'),
    reason: text('Of the refusal; empty where it is allowed'),
    checks: listOf(
      group(
        {
          name: text('What is checked'),
          verdict: text('passed, failed or not reached'),
          detail: text('What was found'),
        },
        'A check',
      ),
      'In the order of the login',
    ),
  },
  handler: async (cloud: CloudAuth, { remote_address, ...args }, request) => {
    if (remote_address !== '' && !isAddress(remote_address))
      throw fail('field_invalid', ['remote_address', 'expected an address such as 10.1.2.3'])
    const remoteAddress = remote_address === '' ? request.remoteAddress : remote_address
    const { status, reason, results } = await cloud.explain({ ...args, remoteAddress }, request.id)
    return { data: { allowed: status === 200, status, reason, checks: results } }
  },
})

const rotateRoot = endpoint({
  id: 'cloud-rotate-root',
  operation: 'update',
  path: 'rotate-root',
  capability: 'update',
  runsOn: 'writer',
  alsoAtRoot: true,
  summary: 'Makes a new secret for the application of the mount, which nobody else knows',
  describe:
    'It is used as soon as the directory takes it, within ten minutes or not at all; then the one that the service ' +
    'made before is removed. One that an operator wrote stays in the directory, and reading the configuration names ' +
    'it. MOUNT/rotate-root without auth/ before it is the same.',
  fields: {},
  handler: async (cloud: CloudAuth) => {
    try {
      await cloud.rotation.begin()
    } finally {
      // Also after a failure: what was begun must be taken back.
      cloud.rotationClock.soon()
    }
    return DONE
  },
})

/** The endpoints `login`, `explain` and `rotate-root`. */
export const CLOUD_LOGIN_ENDPOINTS: readonly Endpoint<CloudAuth>[] = [login, explain, rotateRoot]
