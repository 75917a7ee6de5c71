// `keywright operator replication …` on a primary: beginning and ending a set, and letting secondaries in and out.
import { callCommand, givenFields } from '../call-command.ts'
import { RemoteFailure, UsageError } from '../cli-error.ts'
import { command } from '../command.ts'
import { UNWRAPPED_OPTIONS } from '../common-options.ts'
import { connect } from '../connect.ts'
import { exactMember, type Json } from '../exact-json.ts'
import {
  ASKED_FOR,
  aboutCallerToken,
  aboutOperationToken,
  OPERATION_TOKEN_OPTION,
  operatorField,
} from '../operation-token.ts'
import { printAlone } from '../output.ts'
import { FAMILY_NAMES, FAMILY_OPTION, familyOf } from '../replication-status.ts'
import { printableLine } from '../terminal-text.ts'
import { readTypedText } from '../typed-text.ts'

/** `primary/enable`. */
export const replicationEnable = callCommand({
  name: 'enable',
  summary: 'Make this cluster the primary of a new set',
  usage: '',
  describe: [
    'A secondary for disaster recovery gets everything, and serves nobody until it is promoted. One for performance ' +
      'gets what the set shares, serves clients with tokens of its own, and hands writes to this cluster.',
    'The token needs "update" on sys/replication/FAMILY/primary/enable.',
  ],
  examples: [
    'operator replication enable',
    'operator replication enable -family=performance',
    'operator replication enable -primary-cluster-addr=https://keys.example.org:8201',
  ],
  options: {
    ...FAMILY_OPTION,
    'primary-cluster-addr': {
      kind: 'text',
      value: 'URL',
      about:
        'Address of the cluster port that secondaries are given, as of a load balancer in front of it; by default ' +
        'cluster_addr of the configuration',
    },
  },
  request: ({ options }) => ({
    doing: 'enabling replication',
    method: 'POST',
    path: `sys/replication/${familyOf(options)}/primary/enable`,
    body: JSON.stringify(givenFields(options, ['primary-cluster-addr'])),
  }),
  done: ({ options }) => `Success! This cluster is a primary: ${FAMILY_NAMES[familyOf(options)]}`,
})

/** `primary/disable` and `secondary/disable`. Neither can be undone, so they have to be confirmed. */
export const replicationDisable = callCommand({
  name: 'disable',
  summary: 'End the set that this cluster is the primary of, or take a secondary out of its set',
  usage: '',
  describe: [
    'The data stay as they are. On a primary every secondary is cut off for good: the authority of the set and its ' +
      'list of secondaries are destroyed, and a new set needs new activation tokens. The token needs "update" on ' +
      'sys/replication/FAMILY/primary/disable.',
    'With -secondary this cluster is a secondary, and goes on by itself with the data that it has.',
    `${aboutOperationToken('disable')} ${ASKED_FOR}`,
    aboutCallerToken('disable'),
  ],
  examples: [
    'operator replication disable -yes',
    'operator replication disable -secondary -yes -operation-token=@operation-token',
    'operator replication disable -family=performance -secondary -yes',
  ],
  options: {
    ...FAMILY_OPTION,
    ...OPERATION_TOKEN_OPTION,
    secondary: { kind: 'flag', about: 'Take this secondary out of its set' },
    yes: { kind: 'flag', about: 'Confirm that the secondaries are to be cut off, or that this one is to leave' },
  },
  request: async ({ io, options }) => {
    if (!options.yes) throw new UsageError(`${options.secondary ? LEAVES : CUTS_OFF}: confirm it with -yes`)
    const operator = options.secondary ? await operatorField(io, options) : {}
    return {
      doing: 'disabling replication',
      method: 'POST',
      path: `sys/replication/${familyOf(options)}/${options.secondary ? 'secondary' : 'primary'}/disable`,
      body: JSON.stringify(operator),
    }
  },
  done: ({ options }) => `Success! Replication is disabled: ${FAMILY_NAMES[familyOf(options)]}`,
})

const CUTS_OFF = 'every secondary of the set will be cut off for good'
const LEAVES = 'this cluster will be no copy of its primary any more'

/** Returns the id of a secondary. @throws UsageError if none was given */
function requireId(id: string | undefined): string {
  if (id === undefined || id === '') throw new UsageError('-id is missing: the name of the secondary')
  return id
}

const ID = { kind: 'text', value: 'ID', about: 'Name of the secondary in the set; you choose it' } as const

/** `primary/secondary-token`. The token alone is on standard output, so that a shell can keep it in a variable. */
export const replicationSecondaryToken = command({
  name: 'secondary-token',
  summary: 'Print an activation token, which lets one cluster in as a secondary, once',
  usage: '',
  describe: [
    'Whoever has the token can get a copy of all data; with -family=performance, of what the set shares, root key ' +
      'included, and can ask for changes in the name of any caller. It is printed alone; warnings go to standard ' +
      'error. `operator replication activate` on the other cluster takes it.',
    'With -secondary-public-key the token is encrypted for one cluster, which then needs no way to the API of this ' +
      'one: `operator replication public-key` there prints the key.',
    'What the id stood for before is refused from now on. With -family=performance its filter ends, too, and a ' +
      'warning says so: write it again before the new token is used, or the secondary gets everything.',
    'The token of the caller needs "update" and "sudo" on sys/replication/FAMILY/primary/secondary-token.',
  ],
  examples: [
    'operator replication secondary-token -id=site-b > activation-token',
    'operator replication secondary-token -id=site-b -ttl=10m -secondary-public-key=@site-b.key',
    'operator replication secondary-token -family=performance -id=region-b > activation-token',
  ],
  options: {
    ...FAMILY_OPTION,
    id: ID,
    ttl: { kind: 'text', value: 'DURATION', about: 'Time within which the token has to be used; 30m by default' },
    'secondary-public-key': {
      kind: 'text',
      value: 'TEXT|@FILE|-',
      about: 'Public key of the secondary, as text, in a file, or on standard input',
    },
    ...UNWRAPPED_OPTIONS,
  },
  args: { needed: [], most: 0 },
  run: async ({ io, options }) => {
    const { ttl, 'secondary-public-key': key } = options
    const fields = {
      id: requireId(options.id),
      ...(ttl === undefined ? {} : { ttl }),
      ...(key === undefined ? {} : { secondary_public_key: await readTypedText(io, key) }),
    }
    const path = `sys/replication/${familyOf(options)}/primary/secondary-token`
    const request = {
      doing: 'issuing an activation token',
      method: 'POST',
      path,
      body: JSON.stringify(fields),
    } as const
    const { body = null } = await connect(io, options).send(request)
    await printAlone(io, options, body, activationTokenIn(body))
    return 0
  },
})

/** Returns the token: wrapped, or encrypted for the key. @throws RemoteFailure if there is neither */
function activationTokenIn(body: Json): string {
  const token = exactMember(exactMember(body, 'wrap_info'), 'token') ?? exactMember(exactMember(body, 'data'), 'token')
  if (typeof token === 'string' && token !== '') return token
  throw new RemoteFailure('Error issuing an activation token: the answer has none')
}

/** `primary/revoke-secondary`. */
export const replicationRevoke = callCommand({
  name: 'revoke',
  summary: 'Cut off a secondary, or withdraw an activation token that is not used yet',
  usage: '',
  describe: [
    'What was copied stays with the secondary. The same id can be used again for a new token; a filter of it ends ' +
      'with the revocation. A secondary for disaster recovery that was promoted in the place of a performance ' +
      'secondary follows by the id of that one, and is cut off with it.',
    'The token of the caller needs "update" on sys/replication/FAMILY/primary/revoke-secondary.',
  ],
  examples: ['operator replication revoke -id=site-b'],
  options: { ...FAMILY_OPTION, id: ID },
  request: ({ options }) => ({
    doing: 'revoking a secondary',
    method: 'POST',
    path: `sys/replication/${familyOf(options)}/primary/revoke-secondary`,
    body: JSON.stringify({ id: requireId(options.id) }),
  }),
  done: ({ options }) => `Success! Revoked secondary: ${printableLine(options.id ?? '')}`,
})

/** `primary/rotate-authority`. */
export const replicationRotateAuthority = callCommand({
  name: 'rotate-authority',
  summary: 'Have the authority of the set followed by another one, while the links go on',
  usage: '',
  describe: [
    'A primary does it by itself when two thirds of the ten years of its authority are over. What is printed are the ' +
      'secondaries that have not stored the next authority yet: it signs certificates once they have, or were ' +
      'revoked. The token needs "update" and "sudo" on sys/replication/FAMILY/primary/rotate-authority.',
  ],
  examples: ['operator replication rotate-authority'],
  options: { ...FAMILY_OPTION },
  request: ({ options }) => ({
    doing: 'rotating the authority of the set',
    method: 'POST',
    path: `sys/replication/${familyOf(options)}/primary/rotate-authority`,
    body: '{}',
  }),
})
