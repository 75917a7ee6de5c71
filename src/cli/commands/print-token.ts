import { CliError } from '../cli-error.ts'
import { command } from '../command.ts'
import { CONNECTION_OPTIONS } from '../common-options.ts'
import { readTokenFile } from '../connection.ts'
import { writeAll } from '../io.ts'

/** `keywright print token`: prints the token for scripts and other programs, in the order in which commands find it. */
export const printToken = command({
  name: 'token',
  summary: 'Print the current token',
  usage: '',
  describe: ['Takes it from -token, the environment, or the file written by `login`. Does not contact a server.'],
  examples: ['print token'],
  options: { token: CONNECTION_OPTIONS.token },
  args: { needed: [], most: 0 },
  run: async ({ io, options }) => {
    const token = options.token ?? readTokenFile(io.env)
    if (token === undefined) throw new CliError('There is no token: log in with `keywright login`')
    await writeAll(io.stdout, `${token}\n`)
    return 0
  },
})
