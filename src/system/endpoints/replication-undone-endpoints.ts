// Records that this cluster had and its new primary did not. They were kept aside before they were undone, and an
// operator looks here what has to be done again: on a secondary for disaster recovery with an operation token, on any
// other cluster below sys/replication/undone with sudo, since the values are those of sys/raw. A batch token whose
// policy is for failing over must not read them: on such a secondary it needs sudo for the values, and to delete.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { bool, int, string } from '../../api/fields.ts'
import { orNotFound } from '../../api/named-things.ts'
import { type Answer, DONE } from '../../api/request.ts'
import { choice, flag, group, integer, listOf, optional, text } from '../../api/shape.ts'
import { encodeBase64 } from '../../lib/base64.ts'
import type { UndoneOperation, UndoneRecord, UndoneSet } from '../replication-operations.ts'
import { DR_OPERATION, OPERATION_TOKEN_FIELD } from './dr-operation.ts'
import { carryOut, type ReplicationSystem } from './replication-family.ts'

const SET = {
  id: text('Name of the set of records'),
  kept_at: text('When they were kept aside, RFC 3339'),
  finished: flag('False while they are being kept, or where that was broken off; nothing was undone then'),
  cluster_id: text('Id of the set for replication that the cluster was in'),
  written_here: flag('True if this cluster wrote them as a primary; false if it had them from its former primary'),
  records: integer('Records that were found'),
  records_left_out: integer('Those of them that are not kept, for lack of room'),
  operations: integer('Changes of entries in all of them'),
  first_index: integer('Index of the first one in the log of this cluster'),
  last_index: integer('Index of the last one'),
  bytes: integer('Bytes that are kept'),
  complete: flag('False if records are left out, or may be missing'),
  missing_up_to: optional(
    integer('The log of this cluster did not reach back further: records up to this index may be missing'),
  ),
  fork_index: integer('Index of the last record that both clusters have, in the log of the former primary'),
  fork_history_id: text('Id of the history of that log, in hexadecimal'),
}

const CHANGE = {
  kind: choice(['put', 'delete'], 'What was done to the entry'),
  class: choice(['replicated', 'local'], 'Which clusters get the entry'),
  mount: text('UUID of the mount that the entry belongs to, or system'),
  path: text('Path of the entry, as sys/raw names it'),
  readable: flag('True if the value can be shown: not where it was deleted, and not for keys of the server and audit'),
  value: optional(text('The value in base64, if it was asked for and can be shown')),
}

const RECORD = {
  index: integer('Index in the log of this cluster'),
  primary_index: optional(integer('Index in the log of the primary that wrote it, if that was another cluster')),
  committed_at: text('When it was written, RFC 3339, by the clock of the server that wrote it'),
  operations: listOf(group(CHANGE, 'A change of an entry'), 'What it did, in one step'),
}

const LIST = { undone: listOf(group(SET, 'A set of records'), 'All that are kept, oldest first') }
const PAGE = {
  records: listOf(group(RECORD, 'A record'), 'Records behind the given index, in order'),
  next_after: optional(integer('Value of "after" for the records that follow; missing: these were the last')),
}

const ID_FIELD = { id: string('Name of the set of records', { required: true }) }
const PAGE_FIELDS = {
  after: int('Shows only records behind this index', { default: 0, min: 0 }),
  limit: int('Maximum number of records', { default: 100, min: 1, max: 1_000 }),
  values: bool('Shows the values in clear too, which are secrets', { default: false }),
}

const FEWER =
  'An answer has fewer records than the limit where these are long. The values are those of sys/raw: who may ask for ' +
  'them can read keys of engines.'
const SUDO = 'A batch token in place of the operation token needs "sudo" on the path too'
const GONE = 'What was kept cannot be got back then.'

async function listed(system: ReplicationSystem): Promise<Answer> {
  const sets = await carryOut(system, 'dr', ({ undone }) => undone.list())
  return { data: { undone: sets.map(setBody) } }
}

type Wanted = { readonly id: string; readonly after: number; readonly limit: number; readonly values: boolean }

async function shown(system: ReplicationSystem, { id, after, limit, values }: Wanted): Promise<Answer> {
  const wanted = { id, after, limit, withValues: values }
  const { records, isEnd } = orNotFound(await carryOut(system, 'dr', ({ undone }) => undone.show(wanted)))
  const next = isEnd ? {} : { next_after: records.at(-1)?.index ?? after }
  return { data: { records: records.map(recordBody), ...next } }
}

async function deleted(system: ReplicationSystem, id: string): Promise<Answer> {
  orNotFound((await carryOut(system, 'dr', ({ undone }) => undone.remove(id))) || undefined)
  return DONE
}

const time = (ms: number): string => new Date(ms).toISOString()

const setBody = (set: UndoneSet) => ({
  id: set.id,
  kept_at: time(set.atMs),
  finished: set.isWhole,
  cluster_id: set.setId,
  written_here: set.isOwnLog,
  records: set.records,
  records_left_out: set.leftOut,
  operations: set.operations,
  first_index: set.firstIndex,
  last_index: set.lastIndex,
  bytes: set.bytes,
  complete: set.isWhole && set.leftOut === 0 && set.missingUpTo === 0,
  ...(set.missingUpTo === 0 ? {} : { missing_up_to: set.missingUpTo }),
  fork_index: set.fork.index,
  fork_history_id: Buffer.from(set.fork.historyId, 'base64').toString('hex'),
})

const recordBody = ({ index, primaryIndex, committedAtMs, operations }: UndoneRecord) => ({
  index,
  ...(primaryIndex === undefined ? {} : { primary_index: primaryIndex }),
  committed_at: time(committedAtMs),
  operations: operations.map(changeBody),
})

function changeBody({ kind, class: storageClass, mount, path, isOpen, value }: UndoneOperation) {
  const body = { kind, class: storageClass, mount, path, readable: isOpen }
  if (value === undefined) return body
  const shownValue = encodeBase64(value)
  value.fill(0)
  return { ...body, value: shownValue }
}

const SECONDARY = 'replication/dr/secondary/undone'
const listOnSecondary: Endpoint<ReplicationSystem> = endpoint({
  ...DR_OPERATION,
  id: 'replication-dr-secondary-undone',
  path: SECONDARY,
  summary: 'Lists what this cluster had and its new primary did not, by the times when that was undone',
  fields: OPERATION_TOKEN_FIELD,
  response: LIST,
  handler: async (system: ReplicationSystem, { dr_operation_token: token }, request) => {
    await system.operationTokens.require(token, SECONDARY, request)
    return listed(system)
  },
})

const SHOW = `${SECONDARY}/show`
const showOnSecondary: Endpoint<ReplicationSystem> = endpoint({
  ...DR_OPERATION,
  id: 'replication-dr-secondary-undone-show',
  path: SHOW,
  summary: 'Shows records that were undone, in the order in which they were written',
  describe: `${FEWER} ${SUDO} to see them.`,
  fields: { ...OPERATION_TOKEN_FIELD, ...ID_FIELD, ...PAGE_FIELDS },
  response: PAGE,
  handler: async (system: ReplicationSystem, { dr_operation_token: token, ...wanted }, request) => {
    await system.operationTokens.require(token, SHOW, request, wanted.values)
    return shown(system, wanted)
  },
})

const DELETE = `${SECONDARY}/delete`
const deleteOnSecondary: Endpoint<ReplicationSystem> = endpoint({
  ...DR_OPERATION,
  id: 'replication-dr-secondary-undone-delete',
  path: DELETE,
  summary: 'Deletes a set of undone records',
  describe: `${GONE} ${SUDO}.`,
  fields: { ...OPERATION_TOKEN_FIELD, ...ID_FIELD },
  handler: async (system: ReplicationSystem, { dr_operation_token: token, id }, request) => {
    await system.operationTokens.require(token, DELETE, request, true)
    return deleted(system, id)
  },
})

/** Only the thread that writes has the key that they are sealed by. */
const ELSEWHERE = { sudo: true, runsOn: 'writer', writes: 'node', offeredIn: 'root' } as const
const ONE = { ...ELSEWHERE, path: 'replication/undone/:id' } as const

const list: Endpoint<ReplicationSystem> = endpoint({
  ...ELSEWHERE,
  id: 'replication-undone-list',
  operation: 'read',
  capability: 'read',
  path: 'replication/undone',
  summary: 'Lists what this cluster had and its primary of that time did not, by the times when that was undone',
  describe: `On a secondary for disaster recovery: sys/${SECONDARY}.`,
  fields: {},
  response: LIST,
  handler: (system: ReplicationSystem) => listed(system),
})

const show: Endpoint<ReplicationSystem> = endpoint({
  ...ONE,
  id: 'replication-undone-show',
  operation: 'read',
  capability: 'read',
  summary: 'Shows records that were undone, in the order in which they were written',
  describe: FEWER,
  fields: { ...ID_FIELD, ...PAGE_FIELDS },
  response: PAGE,
  handler: (system: ReplicationSystem, wanted) => shown(system, wanted),
})

const remove: Endpoint<ReplicationSystem> = endpoint({
  ...ONE,
  id: 'replication-undone-delete',
  operation: 'delete',
  capability: 'delete',
  summary: 'Deletes a set of undone records',
  describe: GONE,
  fields: ID_FIELD,
  handler: (system: ReplicationSystem, { id }) => deleted(system, id),
})

/** List, show and delete, on secondaries for disaster recovery and elsewhere. */
export const UNDONE_ENDPOINTS: readonly Endpoint<ReplicationSystem>[] = [
  listOnSecondary,
  showOnSecondary,
  deleteOnSecondary,
  list,
  show,
  remove,
]
