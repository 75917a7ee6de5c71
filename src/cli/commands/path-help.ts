import { cleanPath } from '../api-path.ts'
import { RemoteFailure } from '../cli-error.ts'
import { command } from '../command.ts'
import { COMMON_OPTIONS } from '../common-options.ts'
import { connect } from '../connect.ts'
import { memberOf } from '../exact-json.ts'
import { printAnswer } from '../output.ts'
import { printable } from '../terminal-text.ts'

/** `keywright path-help`: what the server says of a path. */
export const pathHelp = command({
  name: 'path-help',
  summary: 'Show what a path of the API is for',
  usage: 'PATH',
  describe: ['The server writes this help, so it is about the engines that are mounted there.'],
  examples: ['path-help transit', 'path-help transit/encrypt/payments'],
  options: COMMON_OPTIONS,
  args: { needed: ['PATH'], most: 1 },
  run: async ({ io, options, args: [typed = ''] }) => {
    const path = cleanPath(typed)
    const query = [['help', '1']] as const
    const answer = await connect(io, options).find({ doing: `asking for help on ${path}`, method: 'GET', path, query })
    const help = memberOf(answer?.body, 'help')
    if (answer?.body === undefined || typeof help !== 'string') throw new RemoteFailure(`No help found at ${path}`)
    await printAnswer(io, options, answer.body, () => printable(help.endsWith('\n') ? help : `${help}\n`))
    return 0
  },
})
