// `keywright namespace …`: the namespaces below the one that the options name (docs/namespaces.md).
import { asciiTrim } from '../../lib/ascii.ts'
import { cleanPath } from '../api-path.ts'
import { callCommand, givenFields } from '../call-command.ts'
import { RemoteFailure, UsageError } from '../cli-error.ts'
import { formatColumns } from '../columns.ts'
import type { CommandGroup } from '../command.ts'
import { exactMember, isList, isMembers, type Json, type JsonMembers, plainText } from '../exact-json.ts'
import { readInputText, STDIN } from '../input.ts'
import { namedValues } from '../named-values.ts'
import { formatList } from '../output.ts'
import { printableLine } from '../terminal-text.ts'

const PATH = 'sys/namespaces'
const LOCKS = `${PATH}/api-lock`

const DETAILED = {
  detailed: { kind: 'flag', about: 'Also show the ID, the state and the metadata of each' },
} as const

/** `scan` is told by the query, as `list` is: proxies may refuse the method. */
const lister = (name: 'list' | 'scan', summary: string, describe: readonly string[]) =>
  callCommand({
    name,
    summary,
    usage: '',
    describe,
    examples: [`namespace ${name}`, `namespace ${name} -detailed`, `namespace ${name} -ns=team`],
    options: DETAILED,
    request: () => ({ doing: 'listing the namespaces', method: 'GET', path: PATH, query: [[name, 'true']] }),
    missing: () => 'No namespaces found',
    part: (body, { options }) => (options.detailed ? detailsOf(body) : namesOf(body)),
    table: (body, { options }) => (options.detailed ? detailTable(detailsOf(body)) : formatList('Keys', namesOf(body))),
  })

const list = lister('list', 'List the namespaces directly below', [])
const scan = lister('scan', 'List the namespaces on all levels below', [
  'The token needs the capability "scan" on sys/namespaces; "list" is not enough.',
])

/** @throws RemoteFailure for an answer without names, which cannot be from this endpoint */
function namesOf(body: Json): readonly Json[] {
  const names = exactMember(exactMember(body, 'data'), 'keys')
  if (!isList(names)) throw new RemoteFailure('Error listing the namespaces: the answer has no names')
  return names
}

/** Returns the namespaces by name. @throws RemoteFailure */
function detailsOf(body: Json): JsonMembers {
  const details = exactMember(exactMember(body, 'data'), 'key_info')
  if (!isMembers(details)) throw new RemoteFailure('Error listing the namespaces: the answer has no details')
  return details
}

function detailTable(details: JsonMembers): string {
  const rows = Object.entries(details).map(([name, one]) => [
    name,
    exactMember(one, 'id'),
    exactMember(one, 'locked'),
    exactMember(one, 'tainted'),
    metadataText(exactMember(one, 'custom_metadata')),
  ])
  return formatColumns(['Name', 'ID', 'Locked', 'Being deleted', 'Metadata'], rows)
}

function metadataText(metadata: Json | undefined): string {
  if (!isMembers(metadata)) return ''
  return Object.entries(metadata)
    .map(([name, value]) => `${name}=${plainText(value)}`)
    .join(' ')
}

/** The paragraph of all commands whose argument is one name. */
const ONE_NAME = 'NAME is one name. For the namespace team/a, NAME is a and -namespace is team.'

const lookup = callCommand({
  name: 'lookup',
  summary: 'Show a namespace',
  usage: 'NAME',
  completes: ['namespace'],
  describe: [ONE_NAME],
  examples: ['namespace lookup team', 'namespace lookup -ns=team a'],
  request: ({ args: [name = ''] }) => ({ doing: `looking up namespace ${name}`, method: 'GET', path: pathOf(name) }),
  missing: ({ args: [name = ''] }) => `No namespace named: ${cleanPath(name)}`,
})

const METADATA = {
  'custom-metadata': { kind: 'texts', value: 'NAME=VALUE', about: 'Metadata of the namespace' },
} as const

const create = callCommand({
  name: 'create',
  summary: 'Create a namespace',
  usage: 'NAME',
  describe: [
    ONE_NAME,
    'A namespace that exists stays, and its metadata becomes what is given here: without -custom-metadata it has ' +
      'none afterwards.',
  ],
  examples: ['namespace create team', 'namespace create -ns=team -custom-metadata=owner=kim a'],
  options: METADATA,
  request: ({ options, args: [name = ''] }) => {
    const custom_metadata = namedValues('custom-metadata', options['custom-metadata'])
    return {
      doing: `creating namespace ${name}`,
      method: 'PUT',
      path: pathOf(name),
      body: JSON.stringify({ custom_metadata }),
    }
  },
})

const patch = callCommand({
  name: 'patch',
  summary: 'Change the metadata of a namespace',
  usage: 'NAME',
  completes: ['namespace'],
  describe: [ONE_NAME, 'Metadata that is not named stays as it is.'],
  examples: ['namespace patch -custom-metadata=owner=kim team', 'namespace patch -remove-custom-metadata=owner team'],
  options: {
    ...METADATA,
    'remove-custom-metadata': { kind: 'texts', value: 'NAME', about: 'Metadata to remove' },
  },
  request: ({ options, args: [name = ''] }) => {
    const { 'custom-metadata': given, 'remove-custom-metadata': removed } = options
    if (given.length + removed.length === 0)
      throw new UsageError('there is nothing to change: add -custom-metadata or -remove-custom-metadata')
    const nulls = Object.fromEntries(removed.map((each) => [each, null]))
    const custom_metadata = { ...nulls, ...namedValues('custom-metadata', given) }
    return {
      doing: `changing namespace ${name}`,
      method: 'PATCH',
      path: pathOf(name),
      body: JSON.stringify({ custom_metadata }),
    }
  },
})

const remove = callCommand({
  name: 'delete',
  summary: 'Delete a namespace with everything in it: mounts, policies, tokens, identities',
  usage: 'NAME',
  completes: ['namespace'],
  describe: [
    ONE_NAME,
    'It must have no namespaces below it. The server answers at once and deletes in the background: until it is ' +
      'done, `namespace lookup` shows the namespace as tainted.',
  ],
  examples: ['namespace delete team', 'namespace delete -ns=team a'],
  request: ({ args: [name = ''] }) => ({ doing: `deleting namespace ${name}`, method: 'DELETE', path: pathOf(name) }),
  // The answer to an unknown name is a warning without data, and no error.
  table: (body, { args: [name = ''] }) => {
    const isThere = isMembers(exactMember(body, 'data'))
    const shown = printableLine(cleanPath(name))
    return isThere
      ? `Success! Scheduled the deletion of namespace: ${shown}/\n`
      : `There is no namespace to delete: ${shown}/\n`
  },
})

const lock = callCommand({
  name: 'lock',
  summary: 'Refuse all requests in a namespace and below it',
  usage: '[PATH]',
  completes: ['namespace'],
  describe: [
    'PATH may have several names; without it the namespace of the options is locked. The server answers everything ' +
      'there with 503 until it is unlocked. Keep the unlock key that is printed: it is shown only once. A token with ' +
      '"sudo" on sys/namespaces/api-lock/unlock can unlock without it.',
  ],
  examples: ['namespace lock team/a', 'namespace lock -ns=team/a'],
  request: ({ args: [path] }) => ({
    doing: `locking ${named(path)}`,
    method: 'POST',
    path: `${LOCKS}/lock${below(path)}`,
  }),
})

const unlock = callCommand({
  name: 'unlock',
  summary: 'Allow requests in a locked namespace again',
  usage: '[PATH]',
  completes: ['namespace'],
  describe: ['PATH may have several names; without it the namespace of the options is unlocked.'],
  examples: ['namespace unlock -unlock-key=- team/a', 'namespace unlock -ns=team/a'],
  options: {
    'unlock-key': {
      kind: 'text',
      value: 'KEY',
      about: 'Key that `lock` printed; - reads standard input. Without it the token needs "sudo"',
    },
  },
  request: async ({ io, options, args: [path] }) => {
    const { 'unlock-key': typed } = options
    const unlock_key = typed === STDIN ? asciiTrim(await readInputText(io, STDIN)) : typed
    return {
      doing: `unlocking ${named(path)}`,
      method: 'POST',
      path: `${LOCKS}/unlock${below(path)}`,
      body: JSON.stringify(givenFields({ unlock_key }, ['unlock_key'])),
    }
  },
  done: ({ args: [path] }) => `Success! Unlocked ${printableLine(named(path))}`,
})

const pathOf = (name: string): string => `${PATH}/${cleanPath(name)}`
const below = (path: string | undefined): string => (path === undefined ? '' : `/${cleanPath(path)}`)
const named = (path: string | undefined): string =>
  path === undefined ? 'the namespace' : `namespace: ${cleanPath(path)}/`

/** `keywright namespace`. */
export const NAMESPACE_COMMANDS: CommandGroup = {
  name: 'namespace',
  summary: 'List, create, lock and delete namespaces',
  members: [list, scan, lookup, create, patch, remove, lock, unlock],
}
