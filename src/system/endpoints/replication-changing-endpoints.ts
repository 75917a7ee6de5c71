// sys/replication/dr: how a set changes hands (Interface 3.1, 4.4). What a secondary is told takes an operation token,
// since it knows no other caller.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import type { ToldFormer } from '../replication-operations.ts'
import { DR_OPERATION, OPERATION_TOKEN_FIELD } from './dr-operation.ts'
import {
  CHANGE,
  demoteEndpoint,
  followAnother,
  leaveSet,
  PROMOTION,
  promoted,
  UPDATE,
  UPDATE_PRIMARY,
} from './replication-changes.ts'
import { carryOut, type ReplicationSystem } from './replication-family.ts'

const TOLD = 'The former primary knows, and writes nothing any more: demote it, and give it a token of this cluster'
const UNTOLD =
  'The former primary does not know yet: it is called until it does, and writes nothing from then on. If it serves ' +
  'clients meanwhile, what they write there is lost to the set'
const NOBODY_TOLD =
  'This cluster followed nobody, so no former primary is told. If another cluster of the set is a primary, demote ' +
  'that one: it goes on writing until then'
const OTHERS_UNTOLD =
  'A primary from before the last one does not know that it was replaced: it is called until it does, and ' +
  '"former_primary" of the status says why it does not. See that it serves no client'
const TOLD_FORMER: Readonly<Record<ToldFormer, string>> = { told: TOLD, untold: UNTOLD, nobody: NOBODY_TOLD }

const PROMOTE = 'replication/dr/secondary/promote'
const promote: Endpoint<ReplicationSystem> = endpoint({
  ...DR_OPERATION,
  ...CHANGE,
  id: 'replication-dr-secondary-promote',
  path: PROMOTE,
  summary: 'Makes this secondary the primary of its set',
  describe:
    'A primary that can be reached hands over: it writes nothing any more, and nothing is lost. Where it cannot be ' +
    'reached, the cluster is promoted at once if it has all that the primary was known to have; else the answer is ' +
    '503 and says what is missing, and force promotes it. Other secondaries need new tokens.',
  fields: { ...OPERATION_TOKEN_FIELD, ...PROMOTION },
  handler: async (system: ReplicationSystem, args, request) => {
    await system.operationTokens.require(args.dr_operation_token, PROMOTE, request)
    const given = { clusterAddress: args.primary_cluster_addr, force: args.force }
    const { former, others } = await carryOut(system, 'dr', (operations) => operations.promote('dr', given))
    return promoted(TOLD_FORMER[former], ...(others === 0 ? [] : [OTHERS_UNTOLD]))
  },
})

const DISABLE = 'replication/dr/secondary/disable'
const disable: Endpoint<ReplicationSystem> = endpoint({
  ...DR_OPERATION,
  ...CHANGE,
  id: 'replication-dr-secondary-disable',
  path: DISABLE,
  summary: 'Takes this secondary out of its set; it goes on by itself with the data that it has',
  fields: OPERATION_TOKEN_FIELD,
  handler: async (system: ReplicationSystem, { dr_operation_token: token }, request) => {
    await system.operationTokens.require(token, DISABLE, request)
    return leaveSet(system, 'dr')
  },
})

const UPDATE_PATH = 'replication/dr/secondary/update-primary'
const updatePrimary: Endpoint<ReplicationSystem> = endpoint({
  ...DR_OPERATION,
  ...UPDATE_PRIMARY,
  id: 'replication-dr-secondary-update-primary',
  path: UPDATE_PATH,
  alwaysWarns: true,
  fields: { ...OPERATION_TOKEN_FIELD, ...UPDATE },
  handler: async (system: ReplicationSystem, args, request) => {
    await system.operationTokens.require(args.dr_operation_token, UPDATE_PATH, request)
    return followAnother(system, 'dr', args)
  },
})

/** What changes who is the primary of a set for disaster recovery. */
export const CHANGING_ENDPOINTS: readonly Endpoint<ReplicationSystem>[] = [
  demoteEndpoint('dr'),
  promote,
  disable,
  updatePrimary,
]
