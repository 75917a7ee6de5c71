// sys/replication/{reindex,recover,merkle-check}: repairs of the tree and of a link, also on a secondary for disaster
// recovery, with an operation token (Interface 4.4). The tree is there whether a cluster replicates or not, so any can
// check it and make it anew.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { type Args, bool } from '../../api/fields.ts'
import type { Answer } from '../../api/request.ts'
import { flag, group, integer, listOf, mapOf, nullable, text } from '../../api/shape.ts'
import type { CheckedClass, TreeReport } from '../../storage/contract.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import { requireReplicationOn } from '../replication-gates.ts'
import type { WithServices } from '../services.ts'
import type { System as Whole } from '../system.ts'
import type { Checked } from '../tree-checks.ts'
import { DR_OPERATION, OPERATION_TOKEN_FIELD } from './dr-operation.ts'
import { changed, OPERATION } from './replication-family.ts'

type System = Pick<Whole, 'edition' | 'facts' | 'operationTokens' | 'replication'> &
  WithServices<'replication' | 'treeChecks'>

const IS_BEGUN =
  'The reindex has begun and may take long. Requests go on, the status shows how far it is, and the log of the ' +
  'server what it found'
const RECOVERS = 'The secondary calls its primary again: the status shows what comes of it'
const IS_MENDED =
  'What is wrong is being repaired from the primary: the tree is made anew, then compared. Check again afterwards'
const IS_WRONG =
  'The tree does not fit the entries, and nothing is repaired by itself here. Before a reindex, see whether a ' +
  'secondary has what is damaged: the runbook "Repair by reindex" leads through it'

const REINDEX = {
  diff: bool('Look at the stored bytes of each entry too, and make wrong leaves anew', { default: false }),
  force: bool('As diff, and nothing of the tree of before is kept', { default: false }),
  skip_flush: bool('Store the new tree later: if the server is killed before, a new reindex may be needed', {
    default: false,
  }),
}

/** @throws Refusal if replication is switched off */
function requireOn({ facts }: System): void {
  if (facts.replicationEnabled === false) throw fail('replication_off', [])
}

function begin({ services }: System, { diff, force, skip_flush: skipFlush }: Args<typeof REINDEX>): Answer {
  services.treeChecks.begin({ mode: force ? 'whole' : diff ? 'values' : 'leaves', skipFlush })
  services.replication.forget()
  return changed(IS_BEGUN)
}

const reindexAt = (path: string, id: string, family?: ReplicationFamily): Endpoint<System> =>
  endpoint({
    ...OPERATION,
    sudo: true,
    alwaysWarns: true,
    id,
    path,
    summary: 'Compares the tree over all entries with them, and makes anew what is wrong, in the background',
    describe:
      'Replication finds by this tree what differs between two clusters. It is derived: no entry is changed. On a ' +
      'primary an entry that is damaged keeps its leaf, so that its secondaries do not take the damage; the log and ' +
      'the status name it. A secondary fetches what is damaged from its primary.',
    fields: REINDEX,
    handler: (system: System, args) => {
      if (family === undefined) requireOn(system)
      else requireReplicationOn(system, family)
      return begin(system, args)
    },
  })

const reindexOfDr = endpoint({
  ...DR_OPERATION,
  alwaysWarns: true,
  id: 'replication-dr-secondary-reindex',
  path: 'replication/dr/secondary/reindex',
  summary: 'As replication/reindex, on a secondary for disaster recovery',
  fields: { ...OPERATION_TOKEN_FIELD, ...REINDEX },
  handler: async (system: System, args, request) => {
    await system.operationTokens.require(args.dr_operation_token, 'replication/dr/secondary/reindex', request)
    return begin(system, args)
  },
})

async function recover(system: System): Promise<Answer> {
  await system.replication.recover()
  system.services.replication.forget()
  return changed(RECOVERS)
}

const recoverHere = endpoint({
  ...OPERATION,
  alwaysWarns: true,
  id: 'replication-recover',
  path: 'replication/recover',
  summary: 'Has a secondary that stopped after an error call its primary again, without waiting for the next try',
  fields: {},
  handler: (system: System) => {
    requireOn(system)
    return recover(system)
  },
})

const recoverOfDr = endpoint({
  ...DR_OPERATION,
  alwaysWarns: true,
  id: 'replication-dr-secondary-recover',
  path: 'replication/dr/secondary/recover',
  summary: 'As replication/recover, on a secondary for disaster recovery',
  fields: OPERATION_TOKEN_FIELD,
  handler: async (system: System, args, request) => {
    await system.operationTokens.require(args.dr_operation_token, 'replication/dr/secondary/recover', request)
    return recover(system)
  },
})

const PAGE = {
  corrupted: flag('The hash that is kept of the page is not that of its subpages'),
  subpages: listOf(integer('Number, 0 to 255'), 'Subpages that do not fit the entries in them'),
}
const SUBTREE = {
  tree_type: text('replicated or local'),
  root_hash: text('SHA-256 over the subtree, base64'),
  corrupted_subtree_root: flag('A hash that is kept is not that of the pages below it'),
  corrupted_index_tuples_map: nullable(
    mapOf(group(PAGE, 'A page'), 'Pages with something wrong, by their numbers; of all mounts together. Null: none'),
  ),
}
const REPORT = {
  merkle_corruption_report: group(
    {
      corrupted_root: flag('The same of one of the subtrees'),
      corrupted_tree_map: group(
        { '1': group(SUBTREE, 'What secondaries of both families get'), '2': group(SUBTREE, 'What DR alone gets') },
        'The subtrees',
      ),
      corrupted_entries: integer('Entries whose stored bytes are not those that their leaf was made of'),
      checked_entries: integer('Entries that were looked at'),
      last_corruption_check_epoch: text('When the check ended, RFC 3339'),
    },
    'What was found',
  ),
}

const MERKLE_CHECK = {
  response: REPORT,
  summary: 'Compares the tree over all entries with their stored bytes, and says where they do not fit',
}

async function check({ services }: System): Promise<Answer> {
  const checked = await services.treeChecks.check()
  services.replication.forget()
  const warnings = warningsOf(checked)
  return { data: { merkle_corruption_report: shown(checked) }, ...(warnings.length === 0 ? {} : { warnings }) }
}

function warningsOf({ report, isMended }: Checked): string[] {
  if (isMended) return [IS_MENDED]
  const { replicated, local } = report.classes
  const isSound = [replicated, local].every(({ isRootWrong, wrongPages }) => !isRootWrong && wrongPages.length === 0)
  return isSound && report.wrongEntries.count === 0 ? [] : [IS_WRONG]
}

function shown({ report, atMs }: Checked): object {
  const { classes, wrongEntries, entries } = report satisfies TreeReport
  const { replicated, local } = classes
  return {
    corrupted_root: replicated.isRootWrong || local.isRootWrong,
    corrupted_tree_map: { '1': subtree('replicated', replicated), '2': subtree('local', local) },
    corrupted_entries: wrongEntries.count,
    checked_entries: entries,
    last_corruption_check_epoch: new Date(atMs).toISOString(),
  }
}

function subtree(type: string, { root, isRootWrong, wrongPages }: CheckedClass): object {
  const pages = wrongPages.map(({ page, isHashWrong, places }) => [
    String(page),
    { corrupted: isHashWrong, subpages: places },
  ])
  return {
    tree_type: type,
    root_hash: root.toString('base64'),
    corrupted_subtree_root: isRootWrong,
    corrupted_index_tuples_map: pages.length === 0 ? null : Object.fromEntries(pages),
  }
}

const checkHere = endpoint({
  ...OPERATION,
  ...MERKLE_CHECK,
  id: 'replication-merkle-check',
  path: 'replication/merkle-check',
  fields: {},
  handler: (system: System) => {
    requireOn(system)
    return check(system)
  },
})

const checkOfDr = endpoint({
  ...DR_OPERATION,
  ...MERKLE_CHECK,
  id: 'replication-dr-secondary-merkle-check',
  path: 'replication/dr/secondary/merkle-check',
  fields: OPERATION_TOKEN_FIELD,
  handler: async (system: System, args, request) => {
    await system.operationTokens.require(args.dr_operation_token, 'replication/dr/secondary/merkle-check', request)
    return check(system)
  },
})

/** Reindex, recover and merkle-check. */
export const REPLICATION_REPAIR_ENDPOINTS: readonly Endpoint<System>[] = [
  reindexAt('replication/reindex', 'replication-reindex'),
  reindexAt('replication/dr/reindex', 'replication-dr-reindex', 'dr'),
  reindexAt('replication/performance/reindex', 'replication-performance-reindex', 'performance'),
  reindexOfDr,
  recoverHere,
  recoverOfDr,
  checkHere,
  checkOfDr,
]
