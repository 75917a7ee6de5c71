import { answeredByExitCode } from '../cli-error.ts'
import type { Client } from '../client.ts'
import { command } from '../command.ts'
import { UNWRAPPED_OPTIONS } from '../common-options.ts'
import { connect } from '../connect.ts'
import type { JsonMembers } from '../exact-json.ts'
import { type CliIo, writeAll } from '../io.ts'
import { printAnswer } from '../output.ts'
import { styleOf } from '../picture.ts'
import { formatSealStatus, readSealStatus } from '../seal-status.ts'
import { formatGlance, readPicture } from '../status-picture.ts'

/** `keywright status`: scripts wait for its exit code. It needs no token. */
export const status = command({
  name: 'status',
  summary: 'Show the seal status of the server',
  usage: '',
  describe: [
    'The exit code is 0 if the server is unsealed, 2 if it is sealed, 1 if the status could not be read.',
    'On a terminal a summary stands above the table; it shows more with a token that may read sys/hardening.',
  ],
  examples: ['status', 'status -format=json'],
  options: UNWRAPPED_OPTIONS,
  args: { needed: [], most: 0 },
  run: ({ io, options }) =>
    answeredByExitCode(async () => {
      const client = connect(io, options)
      const found = await readSealStatus(client)
      const isTable = options.format === 'table' && options.field === undefined
      if (isTable && styleOf(io, io.stdout).isTerminal) await showGlance(io, client, found)
      await printAnswer(io, options, found, formatSealStatus)
      return found.sealed === true ? 2 : 0
    }),
})

/** Reads the checks of an unsealed server only: a sealed one has no tokens to allow it. */
async function showGlance(io: CliIo, client: Client, status: JsonMembers): Promise<void> {
  const surroundings = status.sealed === true ? undefined : await readPicture(client)
  const glance = { address: client.address, status, surroundings, nowMs: Date.now() }
  await writeAll(io.stdout, formatGlance(glance, styleOf(io, io.stdout)))
}
