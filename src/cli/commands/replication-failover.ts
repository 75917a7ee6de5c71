// `keywright operator replication …`: a set changes hands. A secondary is told so with an operation token.
import { ABOUT_ACTIVATION_TOKEN, ACTIVATION_OPTIONS, ACTIVATION_USAGE, waysToPrimary } from '../activation.ts'
import { givenFields } from '../call-command.ts'
import { UsageError } from '../cli-error.ts'
import { command } from '../command.ts'
import { UNWRAPPED_OPTIONS } from '../common-options.ts'
import { connect } from '../connect.ts'
import {
  ABOUT_OPERATION_TOKEN,
  OPERATION_TOKEN_OPTION,
  readBothTokens,
  readOperationToken,
} from '../operation-token.ts'
import type { OptionTable } from '../options.ts'
import { printDone } from '../output.ts'
import { FAMILY_NAMES, FAMILY_OPTION, familyOf } from '../replication-status.ts'
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
      'steps of a planned change.',
    ABOUT_OPERATION_TOKEN,
  ],
  examples: [
    'operator replication promote -operation-token=@operation-token',
    'operator replication promote -force -yes -operation-token=@operation-token',
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
    const token = await readOperationToken(io, options['operation-token'])
    const request = {
      doing: 'promoting the secondary',
      method: 'POST',
      path: `sys/replication/${family}/secondary/promote`,
      body: JSON.stringify({ dr_operation_token: token, ...givenFields(options, ['primary-cluster-addr', 'force']) }),
    } as const
    const { body } = await connect(io, options).with({ retries: 0 }).send(request)
    await printDone(io, options, body, `Success! This cluster is the primary of its set: ${FAMILY_NAMES[family]}`)
    return 0
  },
})

/** `primary/demote`. Clients are served no more, so it has to be confirmed. */
export const replicationDemote = command({
  name: 'demote',
  summary: 'Make this primary a secondary that follows nobody',
  usage: '',
  describe: [
    'Connected secondaries get the rest of the log first. The data stay, and the cluster stays in its set: ' +
      '`operator replication update-primary` lets it follow another primary of the set, and moves only what differs. ' +
      'The token needs "update" on sys/replication/FAMILY/primary/demote.',
  ],
  examples: ['operator replication demote -yes'],
  options: {
    ...FAMILY_OPTION,
    yes: { kind: 'flag', about: 'Confirm that this cluster is to serve no client any more' },
    ...UNWRAPPED_OPTIONS,
  },
  args: { needed: [], most: 0 },
  run: async ({ io, options }) => {
    if (!options.yes) throw new UsageError('this cluster will serve no client any more: confirm it with -yes')
    const family = familyOf(options)
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

/** `secondary/update-primary`. It is sent once, as an activation is. */
export const replicationUpdatePrimary = command({
  name: 'update-primary',
  summary: 'Let this secondary follow another primary of its set',
  usage: ACTIVATION_USAGE,
  describe: [
    'Nothing is copied anew: what differs is sent, and what this cluster wrote that its new primary does not have is ' +
      'undone. If the server refuses, nothing was changed.',
    ABOUT_ACTIVATION_TOKEN,
    ABOUT_OPERATION_TOKEN,
    'With -none no activation token is read: the cluster follows nobody from now on.',
  ],
  examples: [
    'operator replication update-primary -wait -operation-token=@operation-token @activation-token',
    'operator replication update-primary -none -operation-token=@operation-token',
  ],
  options: {
    ...OPERATION_TOKEN_OPTION,
    none: { kind: 'flag', about: 'Follow nobody from now on' },
    force: { kind: 'flag', about: 'Take a token of another set too, whose data take the place of those here' },
    wait: { kind: 'flag', about: 'Wait until this cluster follows the new primary' },
    ...ACTIVATION_OPTIONS,
  },
  args: { needed: [], most: 1 },
  run: async ({ io, options, args }) => {
    if (options.none && (args.length > 0 || options.wait))
      throw new UsageError('with -none there is no activation token, and nothing to wait for')
    const family = familyOf(options)
    const [operationToken, token] = options.none
      ? [await readOperationToken(io, options['operation-token']), '']
      : await readBothTokens(io, options['operation-token'], args[0])
    const fields = { dr_operation_token: operationToken, token, ...waysToPrimary(options) }
    const client = connect(io, options)
    const request = {
      doing: 'changing the primary',
      method: 'POST',
      path: `sys/replication/${family}/secondary/update-primary`,
      body: JSON.stringify({ ...fields, ...givenFields(options, ['force']) }),
    } as const
    const { body } = await client.with({ retries: 0 }).send(request)
    await printDone(io, options, body, `Success! ${options.none ? FOLLOWS_NOBODY : FOLLOWS}: ${FAMILY_NAMES[family]}`)
    if (options.wait) await waitUntilFollowing(io, client, family, 'has its new primary')
    return 0
  },
})

const FOLLOWS = 'This cluster has a new primary'
const FOLLOWS_NOBODY = 'This cluster follows nobody'
