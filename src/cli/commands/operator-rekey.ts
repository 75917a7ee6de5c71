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
  cancel: { kind: 'flag', about: 'Cancel the attempt; with -verify only discard the verification progress' },
  status: { kind: 'flag', about: 'Show the progress of the attempt, or with -verify of its verification' },
  verify: {
    kind: 'flag',
    about: 'With -init: require verification of the new keys. Otherwise: submit a new key to verify',
  },
  'key-shares': { kind: 'number', short: 'n', value: 'COUNT', default: 5, about: 'Number of new keys' },
  'key-threshold': { kind: 'number', short: 't', value: 'COUNT', default: 3, about: 'Number of new keys needed' },
  'pgp-keys': {
    kind: 'text',
    value: 'FILES',
    about: 'Files of OpenPGP public keys, one for each new key, separated by commas',
  },
  backup: { kind: 'flag', about: 'Also store the encrypted new keys on the server' },
  'backup-retrieve': { kind: 'flag', about: 'Show the stored backup of encrypted keys' },
  'backup-delete': { kind: 'flag', about: 'Delete the stored backup of encrypted keys' },
  target: {
    kind: 'text',
    value: 'barrier|recovery',
    oneOf: ['barrier', 'recovery'],
    default: 'barrier',
    about: 'Keys to replace: unseal keys, or the recovery keys of a server that unseals itself',
  },
  nonce: {
    kind: 'text',
    value: 'NONCE',
    about: 'Nonce of the attempt that the key is for; default: that of the current attempt',
  },
  ...UNWRAPPED_OPTIONS,
} as const satisfies OptionTable

type RekeyCall = CommandCall<typeof OPTIONS>

/** `keywright operator rekey`: makes new unseal or recovery keys for those who hold enough of the old ones. */
export const operatorRekey = command({
  name: 'rekey',
  summary: 'Replace the unseal or recovery keys, with a threshold of the old ones',
  usage: '[KEY]',
  describe: [
    'Start with -init. Each key holder then enters an old key: at the prompt, or as KEY, which stays in the ' +
      'shell history. The last answer shows the new keys, only once. With -init -verify the old keys stay valid ' +
      'until a threshold of the new ones has been entered with -verify.',
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
  await client.send({ doing: 'cancelling the attempt', method: 'DELETE', path: pathOf(call) })
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
  return (await client.send({ doing: 'submitting the key', method: 'PUT', path, body })).body ?? {}
}

/** @throws RemoteFailure if there is no attempt, or with -verify none that waits for its verification */
async function runningNonce(call: RekeyCall, client: Client): Promise<string> {
  const nonce = exactMember(await status(call, client), 'nonce')
  if (typeof nonce === 'string' && nonce !== '') return nonce
  throw new RemoteFailure(
    `No rekey ${call.options.verify ? 'awaits verification' : 'is in progress'}: start one with -init`,
  )
}

/** Reads or removes the encrypted new keys that -backup had the server keep. */
async function backup({ io, options }: RekeyCall, client: Client): Promise<0> {
  const path = options.target === 'recovery' ? 'sys/rekey/recovery-key-backup' : 'sys/rekey/backup'
  const isDelete = options['backup-delete']
  const doing = isDelete ? 'deleting the backup of the keys' : 'reading the backup of the keys'
  const { body } = await client.send({ doing, method: isDelete ? 'DELETE' : 'GET', path })
  await printDone(io, options, body, 'Success! Deleted the backup of the keys (if there was one)')
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
          'The new keys are not in force yet: enter a threshold of them with `operator rekey -verify`. Until then the',
          `old ones stay valid. Verification nonce: ${plainText(verification)}`,
        ]),
    '',
  ].join('\n')
}
