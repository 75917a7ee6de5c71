// sys/replication/dr: how a set changes hands (Interface 3.1, 4.4). What a secondary is told takes an operation token,
// since it knows no other caller.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { bool, string } from '../../api/fields.ts'
import { DR_OPERATION, OPERATION_TOKEN_FIELD } from './dr-operation.ts'
import { carryOut, changed, OPERATION, type ReplicationSystem } from './replication-family.ts'
import { ACTIVATION, givenBy } from './replication-secondary-endpoints.ts'

const PROMOTED = 'This cluster becomes the primary of its set: requests may fail for a moment'
const TOLD = 'The former primary knows, and writes nothing any more: demote it, and give it a token of this cluster'
const UNTOLD =
  'The former primary does not know yet: it is called until it does, and writes nothing from then on. If it serves ' +
  'clients meanwhile, what they write there is lost to the set'
const NOBODY_TOLD =
  'This cluster followed nobody, so no former primary is told. If another cluster of the set is a primary, demote ' +
  'that one: it goes on writing until then'
const TOLD_FORMER = { told: TOLD, untold: UNTOLD, nobody: NOBODY_TOLD }
const DEMOTED =
  'This cluster becomes a secondary that follows nobody, and serves no client: give it a primary with ' +
  '"secondary/update-primary"'
const LEFT =
  'This cluster has left its set, and goes on by itself with the data that it has. Its former primary still has it ' +
  'in its list: revoke it there'
const FOLLOWS =
  'The primary has let this cluster in: what differs is sent in the background, and the status shows how far'
const FOLLOWS_NOBODY = 'This cluster follows nobody any more; its data stay as they are'

const FORCE_PROMOTION =
  'Promotes the cluster whatever it lacks, and although its primary may go on; loses what is missing'

const demote: Endpoint<ReplicationSystem> = endpoint({
  ...OPERATION,
  id: 'replication-dr-primary-demote',
  path: 'replication/dr/primary/demote',
  alwaysWarns: true,
  neverWrapped: true,
  summary: 'Makes this primary a secondary that follows nobody; its data stay',
  describe:
    'Secondaries that are connected get the rest of the log first, for at most five seconds. The cluster stays in ' +
    'its set: secondary/update-primary with a token of the new primary lets it follow, and moves only what differs.',
  fields: {},
  handler: async (system: ReplicationSystem) => {
    await carryOut(system, 'dr', (operations) => operations.demote('dr'))
    return { ...changed(DEMOTED), isOnlyCopy: true }
  },
})

const PROMOTE = 'replication/dr/secondary/promote'
const promote: Endpoint<ReplicationSystem> = endpoint({
  ...DR_OPERATION,
  id: 'replication-dr-secondary-promote',
  path: PROMOTE,
  neverWrapped: true,
  alwaysWarns: true,
  summary: 'Makes this secondary the primary of its set',
  describe:
    'A primary that can be reached hands over: it writes nothing any more, and nothing is lost. Where it cannot be ' +
    'reached, the cluster is promoted at once if it has all that the primary was known to have; else the answer is ' +
    '503 and says what is missing, and force promotes it. Other secondaries need new tokens.',
  fields: {
    ...OPERATION_TOKEN_FIELD,
    primary_cluster_addr: string(
      'Address of the cluster port, https://host:port, that secondaries use first; default: as in the configuration',
      { default: '' },
    ),
    force: bool(FORCE_PROMOTION, { default: false }),
  },
  handler: async (system: ReplicationSystem, args, request) => {
    await system.operationTokens.require(args.dr_operation_token, PROMOTE, request)
    const given = { clusterAddress: args.primary_cluster_addr, force: args.force }
    const told = await carryOut(system, 'dr', (operations) => operations.promote('dr', given))
    return { ...changed(PROMOTED, TOLD_FORMER[told]), isOnlyCopy: true }
  },
})

const DISABLE = 'replication/dr/secondary/disable'
const disable: Endpoint<ReplicationSystem> = endpoint({
  ...DR_OPERATION,
  id: 'replication-dr-secondary-disable',
  path: DISABLE,
  neverWrapped: true,
  alwaysWarns: true,
  summary: 'Takes this secondary out of its set; it goes on by itself with the data that it has',
  fields: OPERATION_TOKEN_FIELD,
  handler: async (system: ReplicationSystem, { dr_operation_token: token }, request) => {
    await system.operationTokens.require(token, DISABLE, request)
    await carryOut(system, 'dr', (operations) => operations.disableSecondary('dr'))
    return { ...changed(LEFT), isOnlyCopy: true }
  },
})

const UPDATE = 'replication/dr/secondary/update-primary'
const updatePrimary: Endpoint<ReplicationSystem> = endpoint({
  ...DR_OPERATION,
  id: 'replication-dr-secondary-update-primary',
  path: UPDATE,
  alwaysWarns: true,
  summary: 'Gives this secondary another primary of its set; what differs is sent, and nothing is copied anew',
  describe:
    'What this cluster wrote and its new primary does not have is undone, and kept aside. A primary that cannot be ' +
    'reached, or refuses, changes nothing here. With a blank token the cluster follows nobody from now on.',
  fields: {
    ...OPERATION_TOKEN_FIELD,
    ...ACTIVATION,
    token: string('Activation token of the new primary; blank: the cluster forgets the one that it has', {
      required: true,
      secret: true,
    }),
    force: bool('Takes a token of another set too, if this cluster follows nobody', { default: false }),
  },
  handler: async (system: ReplicationSystem, args, request) => {
    await system.operationTokens.require(args.dr_operation_token, UPDATE, request)
    const given = givenBy(args)
    await carryOut(system, 'dr', (operations) => operations.updatePrimary('dr', given, args.force))
    return changed(given.token.trim() === '' ? FOLLOWS_NOBODY : FOLLOWS)
  },
})

/** What changes who is the primary of a set for disaster recovery. */
export const CHANGING_ENDPOINTS: readonly Endpoint<ReplicationSystem>[] = [demote, promote, disable, updatePrimary]
