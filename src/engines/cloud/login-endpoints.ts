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
  role: string('Name of the role to log in with, case-insensitive', { default: '' }),
  jwt: string('Identity token (JWT) that the cloud gave the workload', { secret: true, default: '' }),
  subscription_id: string('Subscription of the workload’s resource', {
    default: '',
    max: MAX_FIELD_CHARACTERS,
  }),
  resource_group_name: string('Resource group of the workload’s resource', { default: '', max: MAX_FIELD_CHARACTERS }),
  vm_name: string('Name of the workload’s virtual machine; ignored if vmss_name is given', {
    default: '',
    max: MAX_FIELD_CHARACTERS,
  }),
  vmss_name: string('Name of the scale set of the workload’s virtual machine', {
    default: '',
    max: MAX_FIELD_CHARACTERS,
  }),
  resource_id: string(
    'Id of any other resource: /subscriptions/GUID/resourceGroups/GROUP/providers/NAMESPACE/TYPE/NAME; ignored if ' +
      'vm_name or vmss_name is given',
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
  writes: 'both',
  summary: 'Logs in a workload with its cloud identity',
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
  // The server may have to change the key by which it shows the cloud who it is.
  writes: 'cluster',
  summary: 'Shows which checks a login would pass or fail, without logging in',
  describe:
    'Runs the checks of a login in their order, then those that apply to tokens of all login methods. A login is ' +
    'refused by the first check that fails.',
  fields: {
    ...LOGIN_FIELDS,
    remote_address: string('Client address of the login; empty: that of this request', { default: '', max: 64 }),
  },
  response: {
    allowed: flag('Whether the login would succeed'),
    status: integer('HTTP status that the login would return'),
    reason: text('Reason for the refusal; empty if the login would succeed'),
    checks: listOf(
      group(
        {
          name: text('Name of the check'),
          verdict: text('Verdict: passed, failed or not reached'),
          detail: text('What the check found'),
        },
        'One check',
      ),
      'Checks, in the order in which a login runs them',
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
  writes: 'mount',
  alsoAtRoot: true,
  summary: 'Creates a new client secret for the application, known only to this server',
  describe:
    'The server uses the new secret as soon as the directory accepts it, or discards it after ten minutes. Once it ' +
    'is in use, the previous secret is removed if the server created it. A secret that an operator wrote stays in ' +
    'the directory, and a read of the configuration names it. The path also works without the prefix auth/.',
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
