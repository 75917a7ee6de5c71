import { CliError } from '../cli-error.ts'
import { command } from '../command.ts'
import { CONNECTION_OPTIONS } from '../common-options.ts'
import { readTokenFile } from '../connection.ts'
import { writeAll } from '../io.ts'

/** `keywright print token`: prints the token for scripts and other programs, in the order in which commands find it. */
export const printToken = command({
  name: 'token',
  summary: 'Print the token that the other commands use',
  usage: '',
  describe: ['From -token, the environment, or the file that `login` keeps it in. No server is asked.'],
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
