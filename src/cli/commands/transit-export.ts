import { RemoteFailure } from '../cli-error.ts'
import { command } from '../command.ts'
import { connect } from '../connect.ts'
import { exactMember, isMembers } from '../exact-json.ts'
import { STDIN } from '../input.ts'
import { writeAll } from '../io.ts'
import { refuseExisting, writeNewFile } from '../new-file.ts'
import { missingResult, TRANSIT_OPTIONS, transitPath } from '../transit-options.ts'

/** Only the owner may read it: it is a key. */
const MODE = 0o600

/** Without -context: the key itself is exported, and not a derived one. */
const { context, ...OPTIONS } = TRANSIT_OPTIONS

/** `keywright transit export`: writes one version of a key (Interface 4.2). The key leaves the server in clear. */
export const transitExport = command({
  name: 'export',
  summary: 'Export the key material of a transit key to a file',
  usage: '-key=NAME -out=FILE',
  describe: [
    'Only the owner can read the file; -out=- prints the material instead. The key must be exportable, unless ' +
      'the material is a public key. The token needs "read" on export/TYPE/NAME.',
  ],
  examples: [
    'transit export -key=backups -out=backups.key',
    'transit export -key=signing -type=public-key -encoding=pem -out=-',
  ],
  options: {
    type: {
      kind: 'text',
      value: 'TYPE',
      default: 'encryption-key',
      about: 'Type of the material: encryption-key, signing-key, hmac-key, cmac-key, public-key or certificate-chain',
    },
    version: { kind: 'text', value: 'VERSION', default: 'latest', about: 'Key version, a number or latest' },
    encoding: { kind: 'text', value: 'NAME', about: 'Encoding, if the key type supports it: raw, der or pem' },
    ...OPTIONS,
  },
  args: { needed: [], most: 0 },
  run: async ({ io, options }) => {
    const path = `${transitPath(options, `export/${options.type}`)}/${options.version}`
    const out = options.out ?? `${options.key}.key`
    const target = { path: out, force: options.force, mode: MODE }
    if (out !== STDIN) await refuseExisting(target)
    const doing = `exporting the key "${options.key}"`
    const query: [string, string][] = options.encoding === undefined ? [] : [['format', options.encoding]]
    const answer = await connect(io, options).send({ doing, method: 'GET', path, query })
    const keys = exactMember(exactMember(answer.body, 'data'), 'keys')
    const [entry] = isMembers(keys) ? Object.entries(keys) : []
    if (entry === undefined || typeof entry[1] !== 'string') throw missingResult(doing, 'keys')
    const [version, material] = entry
    if (material === '') throw new RemoteFailure(`Error ${doing}: version ${version} has no private part`)
    const text = material.endsWith('\n') ? material : `${material}\n`
    if (out === STDIN) await writeAll(io.stdout, text)
    else {
      await writeNewFile(target, text)
      await writeAll(io.stdout, `Success! Exported version ${version} to ${out}\n`)
    }
    return 0
  },
})
