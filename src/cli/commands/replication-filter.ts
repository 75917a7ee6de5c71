// `keywright operator replication filter …`: which mounts and namespaces a secondary for performance gets.
import { linesIn } from '../answer-members.ts'
import { callCommand } from '../call-command.ts'
import { UsageError } from '../cli-error.ts'
import type { ApiRequest } from '../client.ts'
import { formatColumns } from '../columns.ts'
import { type CommandGroup, command } from '../command.ts'
import { UNWRAPPED_OPTIONS } from '../common-options.ts'
import { connect } from '../connect.ts'
import { exactMember, type Json } from '../exact-json.ts'
import { type CliIo, writeAll } from '../io.ts'
import type { OptionTable, OptionValues } from '../options.ts'
import { printAnswer } from '../output.ts'
import { printableLine } from '../terminal-text.ts'

const FILTER = 'sys/replication/performance/primary/paths-filter'

const ID = {
  id: {
    kind: 'text',
    value: 'ID',
    about: 'Name of the secondary in the set, or the id of the cluster that came by that name',
  },
} as const satisfies OptionTable

/** A change is first shown. */
const CHANGE = {
  ...ID,
  'dry-run': { kind: 'flag', about: 'Only show what would appear on the secondary, and what would vanish' },
  yes: { kind: 'flag', about: 'Confirm the change: what vanishes is removed from the secondary at once' },
} as const satisfies OptionTable

const ABOUT_CHANGE =
  'First it is shown what would appear on the secondary, and what would vanish. Without -yes nothing is changed: the ' +
  'exit code is 0 then with -dry-run, else 1.'

/**
 * The path with the id as its end, as it is: a mended one may be that of another secondary.
 * @throws UsageError if none was given, or one that no path can have
 */
function at(path: string, { id = '' }: { readonly id: string | undefined }): string {
  if (id === '') throw new UsageError('-id is missing: the name of the secondary')
  if (!id.isWellFormed() || id.split('/').some((part) => ['', '.', '..'].includes(part)))
    throw new UsageError('-id cannot be part of a path: give the id of the cluster instead, while it is connected')
  return `${path}/${id}`
}

/** Without a filter the answer is empty, and that is no failure. */
const read = command({
  name: 'read',
  summary: 'Show the filter of a secondary',
  usage: '',
  describe: ['The token needs "read" on sys/replication/performance/primary/paths-filter/ID.'],
  examples: ['operator replication filter read -id=region-b'],
  options: { ...ID, ...UNWRAPPED_OPTIONS },
  args: { needed: [], most: 0 },
  run: async ({ io, options }) => {
    const path = at(FILTER, options)
    const { body = {} } = await connect(io, options).send({ doing: 'reading the filter', method: 'GET', path })
    await printAnswer(io, options, body, () => formatFilter(exactMember(body, 'data'), options.id))
    return 0
  },
})

function formatFilter(filter: Json | undefined, id = ''): string {
  const mode = exactMember(filter, 'mode')
  if (mode === undefined) return `No filter: ${printableLine(id)} gets everything\n`
  const paths = linesIn(filter, 'paths')
  if (paths.length > 0)
    return formatColumns(
      ['Mode', 'Path'],
      paths.map((path) => [mode, path]),
    )
  return mode === 'allow'
    ? 'allow, without a path: it gets no mount and no namespace\n'
    : 'deny, without a path: it gets everything\n'
}

const write = command({
  name: 'write',
  summary: 'Set which mounts and namespaces a secondary gets',
  usage: '[PATH…]',
  describe: [
    'A path is that of a mount or of a namespace, from the root; a namespace stands for all that is in it, and a ' +
      'login method is named by auth/NAME/. The list takes the place of the one before. What is filtered never ' +
      'leaves the primary; policies and identities of the namespaces that are there do.',
    ABOUT_CHANGE,
    'The token needs "update" on sys/replication/performance/primary/paths-filter/ID.',
  ],
  examples: [
    'operator replication filter write -id=region-b -mode=deny -dry-run kv-eu/ team-eu/',
    'operator replication filter write -id=region-b -mode=deny -yes kv-eu/ team-eu/ auth/staff-eu/',
    'operator replication filter write -id=region-b -mode=allow -yes shared/',
  ],
  options: {
    ...CHANGE,
    mode: {
      kind: 'text',
      value: 'allow|deny',
      oneOf: ['allow', 'deny'],
      about: 'allow: the secondary gets nothing but the paths; deny: all but them',
    },
    ...UNWRAPPED_OPTIONS,
  },
  args: { needed: [], most: Number.POSITIVE_INFINITY },
  completes: ['path'],
  run: async ({ io, options, args }) => {
    const { mode } = options
    if (mode === undefined) throw new UsageError('-mode is missing: allow or deny')
    const filter = { mode, paths: args }
    return await change(io, options, filter, {
      request: (path) => ({ doing: 'writing the filter', method: 'POST', path, body: JSON.stringify(filter) }),
      done: (id) => `Success! Wrote the filter of ${id}`,
    })
  },
})

const remove = command({
  name: 'delete',
  summary: 'Remove the filter of a secondary: it gets everything',
  usage: '',
  describe: [
    'Mounts and namespaces that it lacks are copied, and show on it once they are whole.',
    ABOUT_CHANGE,
    'The token needs "update" and "delete" on sys/replication/performance/primary/paths-filter/ID.',
  ],
  examples: [
    'operator replication filter delete -id=region-b -dry-run',
    'operator replication filter delete -id=region-b -yes',
  ],
  options: { ...CHANGE, ...UNWRAPPED_OPTIONS },
  args: { needed: [], most: 0 },
  // To forbid nothing comes to the same.
  run: ({ io, options }) =>
    change(
      io,
      options,
      { mode: 'deny', paths: [] },
      {
        request: (path) => ({ doing: 'removing the filter', method: 'DELETE', path }),
        done: (id) => `Success! ${id} has no filter`,
      },
    ),
})

/** What a change does once it is confirmed. */
type Change = { readonly request: (path: string) => ApiRequest; readonly done: (id: string) => string }

/** Shows what would come of the filter, and makes the change. @throws UsageError where it is neither wanted nor not */
async function change(
  io: CliIo,
  options: OptionValues<typeof CHANGE & typeof UNWRAPPED_OPTIONS>,
  filter: object,
  { request, done }: Change,
): Promise<0> {
  const path = at(FILTER, options)
  const { id = '', yes, 'dry-run': isDryRun, format } = options
  if (yes && isDryRun) throw new UsageError('-yes and -dry-run are two commands')
  const client = connect(io, options)
  const body = JSON.stringify({ ...filter, dry_run: true })
  const effect = await client.send({ doing: 'trying the filter', method: 'POST', path, body })
  await printAnswer(io, options, effect.body ?? null, formatEffect)
  if (isDryRun) return 0
  if (!yes) throw new UsageError('nothing was changed: confirm it with -yes')
  await client.send(request(path))
  if (format === 'table' && options.field === undefined) await writeAll(io.stdout, `\n${done(printableLine(id))}\n`)
  return 0
}

const CHANGES = [
  ['would_appear', 'appears'],
  ['would_vanish', 'vanishes'],
] as const

function formatEffect(body: Json): string {
  const data = exactMember(body, 'data')
  const rows = CHANGES.flatMap(([member, says]) => linesIn(data, member).map((path) => [says, path]))
  return rows.length === 0 ? 'Nothing changes for the secondary now\n' : formatColumns(['Change', 'Path'], rows)
}

const show = callCommand({
  name: 'show',
  summary: 'Show what is kept from a secondary now',
  usage: '',
  describe: [
    'Mounts that were made since the filter are among them, and those in namespaces. With -secondary the secondary ' +
      'itself is asked, which asks its primary: it keeps no names of what is filtered.',
    'The token needs "read" on sys/replication/performance/primary/dynamic-filter/ID; with -secondary, on ' +
      'sys/replication/performance/secondary/dynamic-filter/ID.',
  ],
  examples: [
    'operator replication filter show -id=region-b',
    'operator replication filter show -secondary -id=region-b',
  ],
  options: { ...ID, secondary: { kind: 'flag', about: 'The server is the secondary' } },
  request: ({ options }) => ({
    doing: 'reading what is filtered',
    method: 'GET',
    path: at(`sys/replication/performance/${options.secondary ? 'secondary' : 'primary'}/dynamic-filter`, options),
  }),
  table: (body) => formatFiltered(exactMember(body, 'data')),
})

function formatFiltered(data: Json | undefined): string {
  const rows = ['namespace', 'mount'].flatMap((what) =>
    linesIn(data, `dynamic_filtered_${what}s`).map((path) => [what, path]),
  )
  return rows.length === 0 ? 'Nothing is filtered now\n' : formatColumns(['Kind', 'Path'], rows)
}

/** The commands of filters. */
export const REPLICATION_FILTER_COMMANDS: CommandGroup = {
  name: 'filter',
  summary: 'Show and set which mounts and namespaces a secondary for performance gets',
  members: [read, write, remove, show],
}
