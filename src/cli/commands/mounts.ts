// `keywright secrets …` and `keywright auth …`. Engines and login methods are mounted, tuned and moved alike, so one
// list of commands is made twice.

import { shownValue } from '../answer-rows.ts'
import { cleanPath } from '../api-path.ts'
import { callCommand, givenFields } from '../call-command.ts'
import { RemoteFailure } from '../cli-error.ts'
import type { Client } from '../client.ts'
import { formatColumns } from '../columns.ts'
import { type CommandGroup, command } from '../command.ts'
import { UNWRAPPED_OPTIONS } from '../common-options.ts'
import { connect } from '../connect.ts'
import { exactMember, isMembers, type Json, type JsonMembers, plainText } from '../exact-json.ts'
import { writeAll } from '../io.ts'
import { configFields, LOGIN_MOUNT_OPTIONS, MOUNT_OPTIONS, mountFields } from '../mount-options.ts'
import type { OptionTable } from '../options.ts'
import { printAnswer } from '../output.ts'
import { pathHelpRequest, showPathHelp } from './path-help.ts'

/** The differences between engines and login methods, in words and paths. */
type Kind = {
  readonly group: 'secrets' | 'auth'
  readonly summary: string
  /** The noun in messages, behind "the". */
  readonly thing: string
  /** The path that manages the mounts. */
  readonly path: string
  /** The prefix of their paths in requests. */
  readonly prefix: string
  readonly type: string
  /** A mount path for the examples. */
  readonly example: string
  /** Options beside those of all mounts. */
  readonly settings: OptionTable
}

const SECRETS: Kind = {
  group: 'secrets',
  summary: 'Enable, tune and move secrets engines',
  thing: 'secrets engine',
  path: 'sys/mounts',
  prefix: '',
  type: 'transit',
  example: 'transit',
  settings: {},
}
const AUTH: Kind = {
  group: 'auth',
  summary: 'Enable, tune and move auth methods',
  thing: 'auth method',
  path: 'sys/auth',
  prefix: 'auth/',
  type: 'userpass',
  example: 'userpass',
  settings: LOGIN_MOUNT_OPTIONS,
}

/** Replication, seal wrapping and entropy are set once, when the mount is made. */
const enable = ({ group, thing, path, prefix, type, example, settings }: Kind) =>
  callCommand({
    name: 'enable',
    summary: `Enable ${article(thing)}`,
    usage: 'TYPE',
    describe: ['Without -path it is mounted at a path named after its type.'],
    examples: [`${group} enable ${type}`, `${group} enable -path=team/${example} -description=orders ${type}`],
    options: {
      path: { kind: 'text', value: 'PATH', about: 'Mount path; default: the name of the type' },
      local: {
        kind: 'flag',
        about: 'Keep the mount from secondaries for performance; those for disaster recovery get it',
      },
      'seal-wrap': { kind: 'flag', about: 'Also wrap its data with the seal' },
      'external-entropy-access': { kind: 'flag', about: 'Allow it to use the entropy source of the seal' },
      'force-no-cache': { kind: 'flag', about: 'Disable caching for the mount' },
      ...MOUNT_OPTIONS,
      ...(settings as Record<never, never>),
    },
    request: ({ options, args: [wanted = ''] }) => {
      const config = { ...configFields(options), ...givenFields(options, ['force-no-cache']) }
      const body = JSON.stringify({
        type: wanted,
        ...mountFields(options),
        ...givenFields(options, ['local', 'seal-wrap', 'external-entropy-access']),
        ...(Object.keys(config).length === 0 ? {} : { config }),
      })
      const at = mountPath(options.path ?? wanted, prefix)
      return { doing: `enabling the ${thing} ${wanted}`, method: 'POST', path: `${path}/${at}`, body }
    },
    done: ({ options, args: [wanted = ''] }) =>
      `Success! Enabled the ${wanted} ${thing} at: ${prefix}${mountPath(options.path ?? wanted, prefix)}/`,
  })

const disable = ({ group, thing, path, prefix, example }: Kind) =>
  callCommand({
    name: 'disable',
    summary: `Disable ${article(thing)}: delete all its data and revoke its leases`,
    usage: 'PATH',
    completes: [group],
    examples: [`${group} disable team/${example}`],
    request: ({ args: [typed = ''] }) => ({
      doing: `disabling the ${thing} at ${typed}`,
      method: 'DELETE',
      path: `${path}/${mountPath(typed, prefix)}`,
    }),
    done: ({ args: [typed = ''] }) =>
      `Success! Disabled the ${thing} (if it existed) at: ${prefix}${mountPath(typed, prefix)}/`,
  })

/** A tune request has the members of `config` at its top, where a mount request has them in an object. */
const tune = ({ group, thing, path, prefix, example, settings }: Kind) =>
  callCommand({
    name: 'tune',
    summary: `Change the settings of ${article(thing)}`,
    usage: 'PATH',
    completes: [group],
    describe: ['Settings that are not given stay unchanged.'],
    examples: [`${group} tune -default-lease-ttl=1h ${example}`],
    options: { ...MOUNT_OPTIONS, ...(settings as Record<never, never>) },
    request: ({ options, args: [typed = ''] }) => ({
      doing: `tuning the ${thing} at ${typed}`,
      method: 'POST',
      path: `${path}/${mountPath(typed, prefix)}/tune`,
      body: JSON.stringify({ ...mountFields(options), ...configFields(options) }),
    }),
    done: ({ args: [typed = ''] }) => `Success! Tuned the ${thing} at: ${prefix}${mountPath(typed, prefix)}/`,
  })

const list = ({ group, thing, path }: Kind) =>
  callCommand({
    name: 'list',
    summary: `List the enabled ${thing}s`,
    usage: '',
    examples: [`${group} list`, `${group} list -detailed`],
    options: { detailed: { kind: 'flag', about: 'Also show lifetimes, settings and versions' } },
    request: () => ({ doing: `listing the ${thing}s`, method: 'GET', path }),
    part: (body) => mountsOf(body),
    table: (body, { options }) => mountTable(mountsOf(body), options.detailed),
  })

/** Returns the mounts by path, from `data` or from the top of a plain answer. */
function mountsOf(body: Json): JsonMembers {
  const mounts = exactMember(body, 'data') ?? body
  if (!isMembers(mounts)) throw new RemoteFailure('Error listing the mounts: the answer has none')
  return mounts
}

function mountTable(mounts: JsonMembers, detailed: boolean): string {
  const rows = Object.entries(mounts).sort(([a], [b]) => (a < b ? -1 : 1))
  const columns = detailed ? [...COLUMNS, ...DETAILS] : COLUMNS
  const cells = rows.map(([path, mount]) => [path, ...columns.map(({ tell }) => tell(mount))])
  return formatColumns(['Path', ...columns.map(({ head }) => head)], cells)
}

/** A column of the table of mounts. */
type Column = { readonly head: string; readonly tell: (mount: Json) => Json | undefined }

const own = (head: string, name: string): Column => ({ head, tell: (mount) => exactMember(mount, name) })
const configured = (head: string, name: string): Column => ({
  head,
  tell: (mount) => exactMember(exactMember(mount, 'config'), name),
})
/** 0 is no lifetime of its own: the mount follows the settings of the server. */
const lifetime = (head: string, name: string): Column => ({
  head,
  tell: (mount) => {
    const seconds = exactMember(exactMember(mount, 'config'), name)
    return seconds === undefined || seconds === 0 ? 'system' : shownValue(name, seconds)
  },
})

const COLUMNS: readonly Column[] = [own('Type', 'type'), own('Accessor', 'accessor'), own('Description', 'description')]
const DETAILS: readonly Column[] = [
  lifetime('Default TTL', 'default_lease_ttl'),
  lifetime('Max TTL', 'max_lease_ttl'),
  configured('Token Type', 'token_type'),
  configured('Force No Cache', 'force_no_cache'),
  { head: 'Replication', tell: (mount) => (exactMember(mount, 'local') === true ? 'local' : 'replicated') },
  own('Seal Wrap', 'seal_wrap'),
  { head: 'Options', tell: (mount) => optionText(exactMember(mount, 'options')) },
  own('UUID', 'uuid'),
  own('Version', 'running_plugin_version'),
]

function optionText(options: Json | undefined): string {
  if (!isMembers(options)) return ''
  return Object.entries(options)
    .map(([name, value]) => `${name}=${plainText(value)}`)
    .join(' ')
}

/** For servers that move after their answer. Ours is done with it (src/system/endpoints/remount-endpoints.ts). */
const MOVE_POLL_MS = 250

/** Waits for the end of the move: a server may do it after its answer. */
const move = ({ group, thing, prefix, example }: Kind) =>
  command({
    name: 'move',
    summary: `Move ${article(thing)} and all its data to another path`,
    usage: 'FROM TO',
    completes: [group],
    describe: ['Its leases are revoked. The command waits until the move is complete.'],
    examples: [`${group} move ${example} team/${example}`],
    options: UNWRAPPED_OPTIONS,
    args: { needed: ['FROM', 'TO'], most: 2 },
    run: async ({ io, options, args }) => {
      const [from, to] = args.map((typed) => prefix + mountPath(typed, prefix))
      const client = connect(io, options)
      const body = JSON.stringify({ from, to })
      const answer = await client.send({
        doing: `moving ${from}/ to ${to}/`,
        method: 'POST',
        path: 'sys/remount',
        body,
      })
      const id = exactMember(exactMember(answer.body, 'data'), 'migration_id')
      if (typeof id === 'string') await waitForMove(client, id, io.sleep)
      if (options.format !== 'table' || options.field !== undefined) await printAnswer(io, options, answer.body ?? null)
      else await writeAll(io.stdout, `Success! Moved the ${thing} from: ${from}/ to: ${to}/\n`)
      return 0
    },
  })

/** Polls without a limit of its own: each request has one, and the person can interrupt. */
async function waitForMove(client: Client, id: string, sleep: (delayMs: number) => Promise<void>): Promise<void> {
  const request = { doing: 'waiting for the move', method: 'GET', path: `sys/remount/status/${id}` } as const
  for (;;) {
    const { body } = await client.send(request)
    const state = exactMember(exactMember(exactMember(body, 'data'), 'migration_info'), 'status')
    if (state === 'success') return
    if (state !== 'in-progress')
      throw new RemoteFailure(`Error moving: the server reports the status ${plainText(state ?? null)}`)
    await sleep(MOVE_POLL_MS)
  }
}

/** Returns the mount path of what was typed. A login method may be typed with the `auth/` that its requests have. */
function mountPath(typed: string, prefix: string): string {
  const path = cleanPath(typed)
  return prefix !== '' && path.startsWith(prefix) ? path.slice(prefix.length) : path
}

function article(thing: string): string {
  return thing.startsWith('a') ? `an ${thing}` : `a ${thing}`
}

const help = callCommand({
  name: 'help',
  summary: 'Show the help of an auth method',
  usage: 'PATH',
  completes: ['auth'],
  examples: ['auth help userpass'],
  request: ({ args: [typed = ''] }) => pathHelpRequest(`auth/${mountPath(typed, 'auth/')}`),
  missing: ({ args: [typed = ''] }) => `No help found at auth/${mountPath(typed, 'auth/')}`,
  table: showPathHelp,
})

const commandsOf = (kind: Kind) => [enable, disable, list, tune, move].map((make) => make(kind))

/** `keywright secrets`: the mounts below sys/mounts. */
export const SECRETS_COMMANDS: CommandGroup = {
  name: SECRETS.group,
  summary: SECRETS.summary,
  members: commandsOf(SECRETS),
}
/** `keywright auth`: the mounts below sys/auth. `help` spares the person the `auth/` that `path-help` needs. */
export const AUTH_COMMANDS: CommandGroup = {
  name: AUTH.group,
  summary: AUTH.summary,
  members: [...commandsOf(AUTH), help],
}
