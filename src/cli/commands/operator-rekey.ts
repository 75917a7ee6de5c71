import { RemoteFailure } from '../cli-error.ts'
import type { Client } from '../client.ts'
import { type CommandCall, command } from '../command.ts'
import { UNWRAPPED_OPTIONS } from '../common-options.ts'
import { connect } from '../connect.ts'
import { exactMember, isList, type Json, plainText } from '../exact-json.ts'
import { writeAll } from '../io.ts'
import type { OptionTable } from '../options.ts'
import { formatTable, printAnswer, printDone } from '../output.ts'
import { readPgpKeyFiles } from '../pgp-key-files.ts'
import { readShare } from '../share-input.ts'

/** Names of the reference. Without -init, -cancel, -status or a -backup option the command hands in a key. */
const OPTIONS = {
  init: { kind: 'flag', about: 'Start an attempt, with -key-shares and -key-threshold' },
  cancel: { kind: 'flag', about: 'Drop the attempt; with -verify only forget which new keys were handed back' },
  status: { kind: 'flag', about: 'Show how far the attempt is; with -verify, the verification' },
  verify: { kind: 'flag', about: 'With -init: new keys count when enough were handed back. Else: hand one back' },
  'key-shares': { kind: 'number', short: 'n', value: 'COUNT', default: 5, about: 'New keys to make' },
  'key-threshold': { kind: 'number', short: 't', value: 'COUNT', default: 3, about: 'How many of them are needed' },
  'pgp-keys': { kind: 'text', value: 'FILES', about: 'OpenPGP public keys, one for each new key, with commas between' },
  backup: { kind: 'flag', about: 'Keep the encrypted new keys in storage too' },
  'backup-retrieve': { kind: 'flag', about: 'Show the keys that were kept' },
  'backup-delete': { kind: 'flag', about: 'Remove the keys that were kept' },
  target: {
    kind: 'text',
    value: 'barrier|recovery',
    oneOf: ['barrier', 'recovery'],
    default: 'barrier',
    about: 'Unseal keys, or the recovery keys of a server that opens by itself',
  },
  nonce: { kind: 'text', value: 'NONCE', about: 'The attempt that the key is for; by default the one under way' },
  ...UNWRAPPED_OPTIONS,
} as const satisfies OptionTable

type RekeyCall = CommandCall<typeof OPTIONS>

/** `keywright operator rekey`: makes new unseal or recovery keys for those who hold enough of the old ones. */
export const operatorRekey = command({
  name: 'rekey',
  summary: 'Make new unseal keys, or recovery keys, with enough of the old ones',
  usage: '[KEY]',
  describe: [
    'Somebody starts with -init. Each holder then hands in an old key: as KEY, which stays in the history of the ' +
      'shell, or asked for. The last answer shows the new keys, this once. With -init -verify the old keys go on ' +
      'working until enough of the new ones were handed back with -verify.',
  ],
  examples: [
    'operator rekey -init -key-shares=5 -key-threshold=3 -verify',
    'operator rekey',
    'operator rekey -verify',
    'operator rekey -cancel',
  ],
  options: OPTIONS,
  args: { needed: [], most: 1 },
  run: async (call) => {
    const { io, options } = call
    const client = connect(io, options)
    if (options['backup-retrieve'] || options['backup-delete']) return await backup(call, client)
    if (options.cancel) return await cancel(call, client)
    if (options.init) await printAnswer(io, options, await start(call, client), formatStatus)
    else if (options.status) await printAnswer(io, options, await status(call, client), formatStatus)
    else await printAnswer(io, options, await give(call, client), formatGiven)
    return 0
  },
})

/** Unseal keys and recovery keys have attempts of their own, below different paths. */
const rootOf = ({ options }: RekeyCall): string =>
  options.target === 'recovery' ? 'sys/rekey-recovery-key' : 'sys/rekey'
/** The path of the attempt, or with -verify of its verification. */
const pathOf = (call: RekeyCall): string => `${rootOf(call)}/${call.options.verify ? 'verify' : 'init'}`

async function status(call: RekeyCall, client: Client): Promise<Json> {
  return (await client.send({ doing: 'reading the attempt', method: 'GET', path: pathOf(call) })).body ?? {}
}

/** Starts an attempt. With -verify its keys take effect only after enough of them were handed back. */
async function start(call: RekeyCall, client: Client): Promise<Json> {
  const { io, options } = call
  const body = JSON.stringify({
    secret_shares: options['key-shares'],
    secret_threshold: options['key-threshold'],
    pgp_keys: await readPgpKeyFiles(io, options['pgp-keys']),
    backup: options.backup,
    require_verification: options.verify,
  })
  const path = `${rootOf(call)}/init`
  return (await client.send({ doing: 'starting the attempt', method: 'PUT', path, body })).body ?? {}
}

/** Drops an attempt, or with -verify what its verification has so far. */
async function cancel(call: RekeyCall, client: Client): Promise<0> {
  await client.send({ doing: 'dropping the attempt', method: 'DELETE', path: pathOf(call) })
  await writeAll(call.io.stdout, 'Success! Canceled rekeying (if it was started)\n')
  return 0
}

/** Hands in an old key, or with -verify a new one. The nonce is that of the attempt, or of its verification. */
async function give(call: RekeyCall, client: Client): Promise<Json> {
  const { io, options, args } = call
  const nonce = options.nonce ?? (await runningNonce(call, client))
  const key = await readShare(io, args[0], options.verify ? 'New Key' : 'Unseal Key')
  const path = `${rootOf(call)}/${options.verify ? 'verify' : 'update'}`
  const body = JSON.stringify({ key, nonce })
  return (await client.send({ doing: 'handing in the key', method: 'PUT', path, body })).body ?? {}
}

/** @throws RemoteFailure if there is no attempt, or with -verify none that waits for its verification */
async function runningNonce(call: RekeyCall, client: Client): Promise<string> {
  const nonce = exactMember(await status(call, client), 'nonce')
  if (typeof nonce === 'string' && nonce !== '') return nonce
  throw new RemoteFailure(
    `No rekeying is under way${call.options.verify ? ' to be verified' : ''}: start one with -init`,
  )
}

/** Reads or removes the encrypted new keys that -backup had the server keep. */
async function backup({ io, options }: RekeyCall, client: Client): Promise<0> {
  const path = options.target === 'recovery' ? 'sys/rekey/recovery-key-backup' : 'sys/rekey/backup'
  const isDelete = options['backup-delete']
  const doing = isDelete ? 'removing the kept keys' : 'reading the kept keys'
  const { body } = await client.send({ doing, method: isDelete ? 'DELETE' : 'GET', path })
  await printDone(io, options, body, 'Success! Deleted the kept keys (if there were any)')
  return 0
}

/** Formats an attempt, or its verification, which says `t` for `required`. The labels are those of the reference. */
function formatStatus(body: Json): string {
  const tell = (name: string): Json => exactMember(body, name) ?? ''
  const rows: [string, Json][] = [
    ['Nonce', tell('nonce')],
    ['Started', tell('started')],
  ]
  if (exactMember(body, 'started') === true) {
    const needed = exactMember(body, 'required') ?? tell('t')
    rows.push(
      ['Rekey Progress', `${plainText(tell('progress'))}/${plainText(needed)}`],
      ['New Shares', tell('n')],
      ['New Threshold', tell('t')],
    )
    for (const [label, name] of EXTRAS) {
      const value = tell(name)
      if (value !== '' && value !== false) rows.push([label, value])
    }
  }
  return formatTable(rows)
}

/** Rows that stand only if they say something. */
const EXTRAS = [
  ['Verification Required', 'verification_required'],
  ['Verification Nonce', 'verification_nonce'],
  ['PGP Fingerprints', 'pgp_fingerprints'],
  ['Backup', 'backup'],
] as const

/** Formats the answer to a key: the last one of an attempt has the new keys, which cannot be shown again. */
function formatGiven(body: Json): string {
  if (exactMember(body, 'complete') !== true) return formatStatus(body)
  const keys = exactMember(body, 'keys_base64')
  if (!isList(keys)) return 'Success! Rekey verification complete: the new keys are in force.\n'
  const verification = exactMember(body, 'verification_nonce')
  return [
    ...keys.map((key, index) => `Key ${index + 1}: ${plainText(key)}`),
    '',
    `Operation nonce: ${plainText(exactMember(body, 'nonce') ?? '')}`,
    '',
    ...(verification === undefined
      ? ['Success! The new keys are in force; the old ones no longer work. They cannot be shown again.']
      : [
          'The new keys are not in force yet: hand enough of them back with `operator rekey -verify`. Until then the',
          `old ones work. Verification nonce: ${plainText(verification)}`,
        ]),
    '',
  ].join('\n')
}
