import { answeredByExitCode } from '../cli-error.ts'
import { command } from '../command.ts'
import { UNWRAPPED_OPTIONS } from '../common-options.ts'
import { connect } from '../connect.ts'
import { printAnswer } from '../output.ts'
import { formatSealStatus, readSealStatus } from '../seal-status.ts'

/** `keywright status`: its exit code is what scripts wait for. */
export const status = command({
  name: 'status',
  summary: 'Show whether the server is sealed',
  usage: '',
  describe: ['The exit code is 0 where the server is unsealed, 2 where it is sealed, 1 where that could not be told.'],
  examples: ['status', 'status -format=json'],
  options: UNWRAPPED_OPTIONS,
  args: { needed: [], most: 0 },
  run: ({ io, options }) =>
    answeredByExitCode(async () => {
      const found = await readSealStatus(connect(io, options))
      await printAnswer(io, options, found, formatSealStatus)
      return found.sealed === true ? 2 : 0
    }),
})
