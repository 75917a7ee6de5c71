// `keywright audit …`: where requests are recorded, and whether the record is whole (docs/audit-format.md).
import { cleanPath } from '../api-path.ts'
import { callCommand, givenFields } from '../call-command.ts'
import { CliError, type ExitCode, RemoteFailure } from '../cli-error.ts'
import { formatColumns } from '../columns.ts'
import { type Command, type CommandGroup, command } from '../command.ts'
import { COMMON_OPTIONS } from '../common-options.ts'
import { connect } from '../connect.ts'
import { exactMember, isList, isMembers, type Json, type JsonMembers, plainText } from '../exact-json.ts'
import { readParts } from '../input.ts'
import { type AuditChain, type AuditReport, type CliIo, writeAll } from '../io.ts'
import { readData } from '../key-values.ts'
import { printableLine } from '../terminal-text.ts'

/** Fields of the device go below `options`, of the mount beside it, as in the body of the reference's command line. */
const enable = callCommand({
  name: 'enable',
  summary: 'Enable an audit device, which records every request to a file, a socket or syslog',
  usage: 'TYPE [NAME=VALUE…]',
  describe: [
    'TYPE is file, socket or syslog. Without -path the device is named after its type. NAME=VALUE are its ' +
      'options: file_path and mode for a file, address and socket_type for a socket, facility, tag and address for ' +
      'syslog.',
  ],
  examples: [
    'audit enable file file_path=/var/log/keywright/audit.log',
    'audit enable -path=collector socket address=127.0.0.1:9090',
  ],
  options: {
    path: { kind: 'text', value: 'PATH', about: 'Name of the device' },
    description: { kind: 'text', value: 'TEXT', about: 'Description of the device' },
    local: {
      kind: 'flag',
      about: 'Keep the device from secondaries for performance; those for disaster recovery get it',
    },
  },
  request: async ({ io, options, args: [type = '', ...words] }) => {
    const given = Object.fromEntries(await readData(io, words))
    const body = JSON.stringify({ type, ...givenFields(options, ['description', 'local']), options: given })
    const path = devicePath(options.path ?? type)
    return { doing: `enabling the audit device ${type}`, method: 'POST', path, body }
  },
  done: ({ options, args: [type = ''] }) =>
    `Success! Enabled the ${type} audit device at: ${cleanPath(options.path ?? type)}/`,
})

const disable = callCommand({
  name: 'disable',
  summary: 'Disable an audit device; its recorded entries stay',
  usage: 'PATH',
  examples: ['audit disable file'],
  request: ({ args: [path = ''] }) => ({
    doing: `disabling the audit device at ${path}`,
    method: 'DELETE',
    path: devicePath(path),
  }),
  done: ({ args: [path = ''] }) => `Success! Disabled the audit device (if it was enabled) at: ${cleanPath(path)}/`,
})

const list = callCommand({
  name: 'list',
  summary: 'List the audit devices',
  usage: '',
  examples: ['audit list', 'audit list -detailed'],
  options: { detailed: { kind: 'flag', about: 'Show their options too' } },
  request: () => ({ doing: 'listing the audit devices', method: 'GET', path: 'sys/audit' }),
  part: (body) => devicesOf(body),
  table: (body, { options }) => deviceTable(devicesOf(body), options.detailed),
})

/** The slash at the end that `list` shows is optional: cleanPath takes it off. */
const devicePath = (path: string): string => `sys/audit/${cleanPath(path)}`

/** Returns the devices by path. They stand under `data`, without which the answer is not that of sys/audit. */
function devicesOf(body: Json): JsonMembers {
  const devices = exactMember(body, 'data')
  if (!isMembers(devices)) throw new RemoteFailure('Error listing the audit devices: the answer has none')
  return devices
}

/** Devices are sorted by path: JSON of the server has them in an order of its own. */
function deviceTable(devices: JsonMembers, detailed: boolean): string {
  const rows = Object.entries(devices).sort(([a], [b]) => (a < b ? -1 : 1))
  if (rows.length === 0) return 'No audit devices are enabled.\n'
  const shown = rows.map(([path, device]) => [
    path,
    exactMember(device, 'type'),
    exactMember(device, 'description'),
    ...(detailed ? [exactMember(device, 'local') === true ? 'local' : 'replicated', optionText(device)] : []),
  ])
  return formatColumns(['Path', 'Type', 'Description', ...(detailed ? ['Replication', 'Options'] : [])], shown)
}

function optionText(device: Json): string {
  const options = exactMember(device, 'options')
  if (!isMembers(options)) return ''
  return Object.entries(options)
    .map(([name, value]) => `${name}=${plainText(value)}`)
    .join(' ')
}

/** Reads files, so it works without a server, and where the server no longer runs. */
const verify: Command = command({
  name: 'verify',
  summary: 'Check an audit log for lines that were edited, removed, inserted or moved',
  usage: 'FILE…',
  describe: [
    'Give rotated files in order, the oldest first. Each fault is printed on a line that names the file and the ' +
      'line; the exit code is 1 if there are any.',
    'Without -public-key and -server the chains are checked against the keys that the log itself names, which ' +
      'anyone with write access to the files could have forged. -server asks the running server for its key and ' +
      'the heads of its chains, and so also detects a truncated log. A log that is still being written, or was ' +
      'when the server was killed, has chains without an end: that is a fault unless -part or -server is given.',
    'With -public-key or -server, lines that no signature covers are listed, since anyone with write access to the ' +
      'files could have added them: the last lines before a server was killed, or those at the end of a part that ' +
      'stops between two signatures. The exit code is then 3 if there is no fault, or 0 with -allow-unsigned.',
  ],
  examples: ['audit verify audit.log.1 audit.log', 'audit verify -server audit.log'],
  options: {
    'public-key': {
      kind: 'text',
      value: 'KEY',
      about: 'Public key of the cluster, from sys/audit-streams; several, separated by commas, if a restore changed it',
    },
    server: { kind: 'flag', about: 'Compare with the running server; the token needs "sudo" on sys/audit-streams' },
    'allow-unsigned': { kind: 'flag', about: 'Exit with 0 even if there are lines that no signature covers' },
    part: { kind: 'flag', about: 'The files are part of a log: chains may start before them and continue after them' },
    ...COMMON_OPTIONS,
  },
  args: { needed: ['FILE'], most: Number.POSITIVE_INFINITY },
  run: async ({ io, options, args }) => {
    const asked = options.server ? chainsOf((await connect(io, options).send(ASK_CHAINS)).body) : undefined
    const report = await io.verifyAudit(
      args.map((name) => ({ name, parts: readParts(name) })),
      {
        publicKey: options['public-key'] ?? asked?.publicKey,
        isPart: options.part,
        server: asked?.chains,
      },
    )
    if (options.format === 'json') await writeAll(io.stdout, `${JSON.stringify(report, null, 2)}\n`)
    else await printReport(io, report)
    return exitCodeOf(report, options['allow-unsigned'])
  },
})

/** Faults weigh more than missing signatures: 3 says that there is no fault, and that not all is proven. */
function exitCodeOf({ faults, unsigned }: AuditReport, allowsUnsigned: boolean): ExitCode {
  if (faults.length > 0) return 1
  return unsigned.length === 0 || allowsUnsigned ? 0 : 3
}

/** Asked before the files are read: lines written meanwhile come behind these heads. */
const ASK_CHAINS = { doing: 'reading the chains of the audit log', method: 'GET', path: 'sys/audit-streams' } as const

/** Returns the public key and the heads of the chains. Without a device there is no key to check against. */
function chainsOf(body: Json | undefined): { readonly publicKey: string; readonly chains: readonly AuditChain[] } {
  const data = exactMember(body, 'data')
  const [publicKey, streams] = [exactMember(data, 'public_key'), exactMember(data, 'streams')]
  if (typeof publicKey !== 'string' || publicKey === '' || !isList(streams))
    throw new CliError('the server has no audit device yet')
  const chains = streams.map((one) => ({
    stream: plainText(exactMember(one, 'stream') ?? ''),
    device: plainText(exactMember(one, 'device') ?? ''),
    seq: Number(plainText(exactMember(one, 'seq') ?? 0)),
    hash: plainText(exactMember(one, 'hash') ?? ''),
    ended: exactMember(one, 'ended') === true,
  }))
  return { publicKey, chains }
}

/** Faults come first and the verdict last, where a person looks. Names in them come from the log: they are escaped. */
async function printReport(io: CliIo, { faults, unsigned, notes, chains, entries }: AuditReport): Promise<void> {
  const lines = [
    ...faults.map((fault) => `Fault: ${fault}`),
    ...unsigned.map((what) => `Unsigned: ${what}`),
    ...notes.map((note) => `Note: ${note}`),
    ...(faults.length + unsigned.length + notes.length > 0 ? [''] : []),
  ]
  const rows = chains.map((chain) => [
    chain.stream,
    chain.device,
    chain.thread,
    String(chain.entries),
    chain.first,
    chain.last,
    chain.state,
  ])
  const table = formatColumns(['Chain', 'Device', 'Thread', 'Entries', 'First', 'Last', 'State'], rows)
  const verdict = faults.length === 0 ? 'no fault' : `${faults.length} ${faults.length === 1 ? 'fault' : 'faults'}`
  const end = `${verdict} in ${entries} entries of ${chains.length} ${chains.length === 1 ? 'chain' : 'chains'}`
  await writeAll(io.stdout, `${lines.map((line) => `${printableLine(line)}\n`).join('')}${table}\n${end}\n`)
}

/** `keywright audit`: devices are managed on the server; `verify` reads files, and asks it with -server alone. */
export const AUDIT_COMMANDS: CommandGroup = {
  name: 'audit',
  summary: 'Manage audit devices and verify audit logs',
  members: [enable, disable, list, verify],
}
