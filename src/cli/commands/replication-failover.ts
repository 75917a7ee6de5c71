// `keywright operator replication …`: a set changes hands. A secondary for disaster recovery is told so with an
// operation token, one for performance with a token of its own.
import { ABOUT_ACTIVATION_TOKEN, ACTIVATION_OPTIONS, ACTIVATION_USAGE, waysToPrimary } from '../activation.ts'
import { givenFields } from '../call-command.ts'
import { UsageError } from '../cli-error.ts'
import { command } from '../command.ts'
import { UNWRAPPED_OPTIONS } from '../common-options.ts'
import { connect } from '../connect.ts'
import type { CliIo } from '../io.ts'
import {
  ASKED_FOR,
  aboutCallerToken,
  aboutOperationToken,
  OPERATION_TOKEN_OPTION,
  operatorField,
  operatorFieldAndToken,
} from '../operation-token.ts'
import type { OptionTable, OptionValues } from '../options.ts'
import { printDone } from '../output.ts'
import { FAMILY_NAMES, FAMILY_OPTION, type FamilyName, familyOf } from '../replication-status.ts'
import { waitUntilFollowing } from '../replication-wait.ts'

/** The option of commands that promote. */
export const CLUSTER_ADDRESS_OPTION = {
  'primary-cluster-addr': {
    kind: 'text',
    value: 'URL',
    about:
      'Address of the cluster port of the new primary that secondaries are given; by default cluster_addr of its ' +
      'configuration',
  },
} as const satisfies OptionTable

/** `secondary/promote`. It is sent once: a repetition would hide why the first one failed. */
export const replicationPromote = command({
  name: 'promote',
  summary: 'Make this secondary the primary of its set',
  usage: '',
  describe: [
    'A primary that can be reached hands over first, and nothing is lost. Where it cannot be reached, the secondary ' +
      'is promoted if it has all that the primary was known to have. Otherwise the server refuses with 503 and says ' +
      'what is missing; -force promotes it all the same, and loses that. `operator replication switchover` takes all ' +
      'steps of a planned change for disaster recovery.',
    'A former primary for disaster recovery is told, and writes nothing from then on. One for performance is not: ' +
      'demote it, before the promotion or right behind it.',
    'A promotion for performance ends the filters of all secondaries, and each needs a new token: write its filter ' +
      'between `operator replication secondary-token` and `operator replication update-primary`. One from which a ' +
      'filter keeps something is refused with 503.',
    `${aboutOperationToken('promote')} ${ASKED_FOR}`,
    aboutCallerToken('promote'),
  ],
  examples: [
    'operator replication promote -operation-token=@operation-token',
    'operator replication promote -force -yes -operation-token=@operation-token',
    'operator replication promote -family=performance',
  ],
  options: {
    ...FAMILY_OPTION,
    ...OPERATION_TOKEN_OPTION,
    ...CLUSTER_ADDRESS_OPTION,
    force: { kind: 'flag', about: 'Promote it whatever it lacks, and although its primary may go on; needs -yes' },
    yes: { kind: 'flag', about: 'Confirm -force: what is missing here is to be lost' },
    ...UNWRAPPED_OPTIONS,
  },
  args: { needed: [], most: 0 },
  run: async ({ io, options }) => {
    if (options.force && !options.yes)
      throw new UsageError('what this cluster does not have will be lost for good: confirm it with -yes')
    const family = familyOf(options)
    const operator = await operatorField(io, options)
    const request = {
      doing: 'promoting the secondary',
      method: 'POST',
      path: `sys/replication/${family}/secondary/promote`,
      body: JSON.stringify({ ...operator, ...givenFields(options, ['primary-cluster-addr', 'force']) }),
    } as const
    const { body } = await connect(io, options).with({ retries: 0 }).send(request)
    await printDone(io, options, body, `Success! This cluster is the primary of its set: ${FAMILY_NAMES[family]}`)
    return 0
  },
})

/** `primary/demote`. Clients are served no more, or less, so it has to be confirmed. */
export const replicationDemote = command({
  name: 'demote',
  summary: 'Make this primary a secondary that follows nobody',
  usage: '',
  describe: [
    'Connected secondaries get the rest of the log first: the command waits for that up to five seconds, and warns ' +
      'where not all is known to be there. One that lacks something is not promoted without -force, and this cluster ' +
      'sends nothing any more: promote another one, or this one again, with -force, if no other was promoted. The ' +
      'filters of the set end with a demotion.',
    'The data stay, and the cluster stays in its set: ' +
      '`operator replication update-primary` lets it follow another primary of the set, and moves only what differs.',
    'A secondary for disaster recovery serves no client. One for performance goes on with its own tokens and leases, ' +
      'and answers what it can: writes of what the set shares are 503 until it has a primary.',
    'The token needs "update" on sys/replication/FAMILY/primary/demote.',
  ],
  examples: ['operator replication demote -yes', 'operator replication demote -family=performance -yes'],
  options: {
    ...FAMILY_OPTION,
    yes: { kind: 'flag', about: 'Confirm that clients are to be served no more, or can write nothing that is shared' },
    ...UNWRAPPED_OPTIONS,
  },
  args: { needed: [], most: 0 },
  run: async ({ io, options }) => {
    const family = familyOf(options)
    if (!options.yes) throw new UsageError(`${DEMOTED[family]}: confirm it with -yes`)
    const path = `sys/replication/${family}/primary/demote`
    const request = { doing: 'demoting the primary', method: 'POST', path, body: '{}' } as const
    const { body } = await connect(io, options).with({ retries: 0 }).send(request)
    await printDone(
      io,
      options,
      body,
      `Success! This cluster is a secondary without a primary: ${FAMILY_NAMES[family]}`,
    )
    return 0
  },
})

const DEMOTED: Readonly<Record<FamilyName, string>> = {
  dr: 'this cluster will serve no client any more',
  performance: 'this cluster will write nothing that the set shares until it has a primary',
}

const UPDATE_OPTIONS = {
  ...OPERATION_TOKEN_OPTION,
  none: { kind: 'flag', about: 'Follow nobody from now on' },
  'primary-addr': {
    kind: 'texts',
    value: 'URL',
    about:
      'With -family=performance, instead of an activation token: a cluster address where the primary is now; they ' +
      'are tried in their order',
  },
  force: { kind: 'flag', about: 'Take a token of another set too, whose data take the place of those here' },
  wait: { kind: 'flag', about: 'Wait until this cluster follows the new primary' },
  ...ACTIVATION_OPTIONS,
} as const satisfies OptionTable

/** `secondary/update-primary`. It is sent once, as an activation is. */
export const replicationUpdatePrimary = command({
  name: 'update-primary',
  summary: 'Let this secondary follow another primary of its set',
  usage: ACTIVATION_USAGE,
  describe: [
    'Nothing is copied anew: what differs is sent, and what this cluster wrote that its new primary does not have is ' +
      'undone. If the server refuses, nothing was changed.',
    ABOUT_ACTIVATION_TOKEN,
    'With -none no activation token is read: the cluster follows nobody from now on.',
    'With -family=performance and -primary-addr none is read either. That is enough where the primary has other ' +
      'addresses, or where a secondary for disaster recovery took its place, which has its certificates.',
    `${aboutOperationToken('update-primary')} ${ASKED_FOR}`,
    aboutCallerToken('update-primary'),
  ],
  examples: [
    'operator replication update-primary -wait -operation-token=@operation-token @activation-token',
    'operator replication update-primary -none -operation-token=@operation-token',
    'operator replication update-primary -family=performance -wait -primary-addr=https://b:8201',
  ],
  options: UPDATE_OPTIONS,
  args: { needed: [], most: 1 },
  run: async ({ io, options, args }) => {
    requireOneWay(options, args)
    const family = familyOf(options)
    const fields = await primaryFields(io, options, args[0])
    const client = connect(io, options)
    const request = {
      doing: 'changing the primary',
      method: 'POST',
      path: `sys/replication/${family}/secondary/update-primary`,
      body: JSON.stringify({ ...fields, ...givenFields(options, ['force']) }),
    } as const
    const { body } = await client.with({ retries: 0 }).send(request)
    await printDone(io, options, body, `Success! ${doneBy(options)}: ${FAMILY_NAMES[family]}`)
    if (options.wait) await waitUntilFollowing(io, client, family, 'has its new primary')
    return 0
  },
})

type UpdateValues = OptionValues<typeof UPDATE_OPTIONS>

/** @throws UsageError where options say different things */
function requireOneWay(options: UpdateValues, args: readonly string[]): void {
  const { none, wait, force, family, 'primary-addr': addresses } = options
  if (none && (args.length > 0 || wait))
    throw new UsageError('with -none there is no activation token, and nothing to wait for')
  if (addresses.length === 0) return
  if (family === 'dr') throw new UsageError('-primary-addr goes with -family=performance: give an activation token')
  if (none || force || args.length > 0)
    throw new UsageError(
      'with -primary-addr the primary stays the same: leave out the activation token, -none and -force',
    )
}

/** The fields that say who the primary is. @throws CliError */
async function primaryFields(io: CliIo, options: UpdateValues, typed: string | undefined): Promise<object> {
  const { none, 'primary-addr': addresses } = options
  if (addresses.length > 0) return { ...(await operatorField(io, options)), update_primary_addrs: addresses }
  const token = none ? { ...(await operatorField(io, options)), token: '' } : undefined
  return { ...(token ?? (await operatorFieldAndToken(io, options, typed))), ...waysToPrimary(options) }
}

function doneBy({ none, 'primary-addr': addresses }: UpdateValues): string {
  if (none) return 'This cluster follows nobody'
  return addresses.length > 0 ? 'This cluster follows its primary at the new address' : 'This cluster has a new primary'
}
