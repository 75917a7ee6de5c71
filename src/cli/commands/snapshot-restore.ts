import { stat } from 'node:fs/promises'
import { answerRows } from '../answer-rows.ts'
import { ByteProgress } from '../byte-progress.ts'
import { CliError, reasonOf } from '../cli-error.ts'
import { command } from '../command.ts'
import { UNWRAPPED_OPTIONS } from '../common-options.ts'
import { connect } from '../connect.ts'
import { type Json, parseExactText } from '../exact-json.ts'
import { readParts } from '../input.ts'
import { formatTable, printAnswer } from '../output.ts'

/** `keywright operator snapshot restore`: sends a file of any size. The answer comes when the store was replaced. */
export const snapshotRestore = command({
  name: 'restore',
  summary: 'Replace the entire store of the server with a snapshot; the server is sealed afterwards',
  usage: 'FILE',
  describe: [
    'Everything written since the snapshot is lost. The server checks the whole file before it replaces its ' +
      'store: a file that it refuses changes nothing. Afterwards unseal the server with the keys that were valid ' +
      'when the snapshot was taken. The token needs "update" and "sudo" on sys/storage/snapshot.',
  ],
  examples: ['operator snapshot restore keywright.snapshot', 'operator snapshot restore -force other.snapshot'],
  options: {
    force: { kind: 'flag', about: 'Accept a snapshot of another cluster, to replace a lost server with a new one' },
    ...UNWRAPPED_OPTIONS,
  },
  args: { needed: ['FILE'], most: 1 },
  run: async ({ io, options, args: [file = ''] }) => {
    const bytes = await sizeOf(file)
    const progress = new ByteProgress(io, bytes)
    const answer = await connect(io, options).open({
      doing: 'restoring a snapshot',
      method: 'PUT',
      path: 'sys/storage/snapshot',
      ...(options.force ? { query: [['force', 'true']] as const } : {}),
      upload: { bytes, stream: progress.counted(readParts(file)) },
    })
    const parts: Buffer[] = []
    for await (const part of answer) parts.push(part)
    await progress.end()
    const table = (body: Json): string => `${formatTable(answerRows(body))}\n${NEXT}\n`
    await printAnswer(io, options, parseExactText(Buffer.concat(parts).toString('utf8')) ?? null, table)
    return 0
  },
})

const NEXT =
  'Success! The snapshot is restored. Unless a static key has unsealed the server already, it is sealed:\n' +
  'unseal it with the keys that were valid when the snapshot was taken.'

/** The request says its length beforehand, so that the server knows a file that was cut on the way. */
async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size
  } catch (error) {
    throw new CliError(`Cannot read ${file}: ${reasonOf(error)}`, error)
  }
}
