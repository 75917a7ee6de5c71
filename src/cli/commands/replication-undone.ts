// `keywright operator replication undone`: what a cluster had and its new primary did not.
import { countIn, itemsIn, lineIn } from '../answer-members.ts'
import { cleanPath } from '../api-path.ts'
import { RemoteFailure, UsageError } from '../cli-error.ts'
import type { ApiRequest, Client } from '../client.ts'
import { formatColumns } from '../columns.ts'
import { command } from '../command.ts'
import { UNWRAPPED_OPTIONS } from '../common-options.ts'
import { connect } from '../connect.ts'
import { exactMember, type Json } from '../exact-json.ts'
import { aboutOperationToken, OPERATION_TOKEN_OPTION, readOperationToken } from '../operation-token.ts'
import { printAnswer, printDone } from '../output.ts'
import { printableLine } from '../terminal-text.ts'

/** Records that are asked for at once: as many as the server gives, since calls with an operation token are limited. */
const PAGE = 1_000

/** Makes requests. An operation token is in the body, and only a secondary for disaster recovery takes one. */
type Ways = {
  readonly list: () => ApiRequest
  readonly show: (id: string, after: number, values: boolean) => ApiRequest
  readonly remove: (id: string) => ApiRequest
}

/** Lists the sets, shows the records of one, or deletes one. */
export const replicationUndone = command({
  name: 'undone',
  summary: 'Show what this cluster had and its new primary did not: it was undone, and kept aside',
  usage: '',
  describe: [
    'A former primary that follows the promoted cluster loses what only it has written. These records are kept until ' +
      'they are deleted, with the keys that open them; no filter removes them. Without options the sets of them are ' +
      'listed; -show prints the records of one, with what each did to which entry.',
    'On a secondary for disaster recovery the command needs an operation token: give it with -operation-token. A ' +
      'batch token needs "sudo" on sys/replication/dr/secondary/undone/show for -values, and on …/undone/delete for ' +
      '-delete. On any other cluster it goes by the token of the caller, which needs "read" (for -delete, "delete") ' +
      'and "sudo" on sys/replication/undone and below.',
    aboutOperationToken('undone and below'),
  ],
  examples: [
    'operator replication undone -operation-token=@operation-token',
    'operator replication undone -operation-token=@operation-token -show=ID -values -format=json',
    'operator replication undone -delete=ID -yes',
  ],
  options: {
    ...OPERATION_TOKEN_OPTION,
    show: { kind: 'text', value: 'ID', about: 'Print the records of this set' },
    values: { kind: 'flag', about: 'With -show: print the values too, in base64. They are secrets' },
    delete: { kind: 'text', value: 'ID', about: 'Delete this set; needs -yes' },
    yes: { kind: 'flag', about: 'Confirm -delete: the records cannot be got back' },
    ...UNWRAPPED_OPTIONS,
  },
  args: { needed: [], most: 0 },
  run: async ({ io, options }) => {
    const { show, delete: removed, values, yes } = options
    if (show !== undefined && removed !== undefined) throw new UsageError('-show and -delete are two commands')
    if (values && show === undefined) throw new UsageError('-values goes with -show')
    if (removed !== undefined && !yes)
      throw new UsageError('the records will be gone for good: confirm -delete with -yes')
    const typed = options['operation-token']
    const ways = typed === undefined ? AS_CALLER : onSecondary(await readOperationToken(io, typed))
    const client = connect(io, options)
    if (removed !== undefined) {
      const { body } = await client.send(ways.remove(removed))
      await printDone(io, options, body, `Success! Deleted undone records: ${printableLine(removed)}`)
    } else if (show !== undefined) {
      const body = await allRecords(client, ways, show, values)
      await printAnswer(io, options, body, () => formatRecords(body, values))
    } else {
      const { body = null } = await client.send(ways.list())
      await printAnswer(io, options, body, () => formatSets(body))
    }
    return 0
  },
})

const LISTING = 'listing undone records'
const SHOWING = 'showing undone records'
const DELETING = 'deleting undone records'

const BELOW = 'sys/replication/undone'
const AS_CALLER: Ways = {
  list: () => ({ doing: LISTING, method: 'GET', path: BELOW }),
  show: (id, after, values) => ({
    doing: SHOWING,
    method: 'GET',
    path: `${BELOW}/${cleanPath(id)}`,
    query: [['after', `${after}`], ['limit', `${PAGE}`], ...(values ? [['values', 'true'] as const] : [])],
  }),
  remove: (id) => ({ doing: DELETING, method: 'DELETE', path: `${BELOW}/${cleanPath(id)}` }),
}

function onSecondary(token: string): Ways {
  const post = (doing: string, below: string, fields: object): ApiRequest => ({
    doing,
    method: 'POST',
    path: `sys/replication/dr/secondary/undone${below}`,
    body: JSON.stringify({ dr_operation_token: token, ...fields }),
  })
  return {
    list: () => post(LISTING, '', {}),
    show: (id, after, values) => post(SHOWING, '/show', { id, after, limit: PAGE, ...(values && { values }) }),
    remove: (id) => post(DELETING, '/delete', { id }),
  }
}

/** The last answer with the records of all of them. */
async function allRecords(client: Client, ways: Ways, id: string, values: boolean): Promise<Json> {
  const records: Json[] = []
  for (let after = 0; ; ) {
    const { body = null } = await client.send(ways.show(id, after, values))
    const data = exactMember(body, 'data')
    records.push(...itemsIn(data, 'records'))
    const next = countIn(data, 'next_after')
    if (next === undefined) return { data: { records } }
    if (next <= after) throw new RemoteFailure(`Error ${SHOWING}: the answer leads back to record ${next}`)
    after = next
  }
}

function formatSets(body: Json): string {
  const sets = itemsIn(exactMember(body, 'data'), 'undone')
  if (sets.length === 0) return 'Nothing was undone here, or all of it was deleted\n'
  return formatColumns(
    ['Id', 'Kept at', 'Records', 'Left out', 'Complete'],
    sets.map((set) => ['id', 'kept_at', 'records', 'records_left_out', 'complete'].map((name) => lineIn(set, name))),
  )
}

function formatRecords(body: Json, values: boolean): string {
  const rows = itemsIn(exactMember(body, 'data'), 'records').flatMap((record) =>
    itemsIn(record, 'operations').map((operation) => [
      lineIn(record, 'index'),
      lineIn(record, 'committed_at'),
      lineIn(operation, 'kind'),
      lineIn(operation, 'path'),
      ...(values ? [lineIn(operation, 'value')] : []),
    ]),
  )
  return formatColumns(['Index', 'Written at', 'Change', 'Path', ...(values ? ['Value'] : [])], rows)
}
