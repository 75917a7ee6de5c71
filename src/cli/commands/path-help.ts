import { cleanPath } from '../api-path.ts'
import { callCommand } from '../call-command.ts'
import { RemoteFailure } from '../cli-error.ts'
import type { ApiRequest } from '../client.ts'
import { exactMember, type Json } from '../exact-json.ts'
import { printable } from '../terminal-text.ts'

/** `keywright path-help`: prints the server's own help on a path. */
export const pathHelp = callCommand({
  name: 'path-help',
  summary: 'Show the help of an API path',
  usage: 'PATH',
  completes: ['path'],
  describe: ['The help comes from the server, and covers the engines mounted there.'],
  examples: ['path-help transit', 'path-help transit/encrypt/payments'],
  request: ({ args: [typed = ''] }) => pathHelpRequest(cleanPath(typed)),
  missing: ({ args: [typed = ''] }) => `No help found at ${cleanPath(typed)}`,
  table: showPathHelp,
})

/** The request for help on a clean path; `help=1` is what the reference's command line sends. */
export function pathHelpRequest(path: string): ApiRequest {
  return { doing: `asking for help on ${path}`, method: 'GET', path, query: [['help', '1']] }
}

/** Returns the text of the help, safe for a terminal. @throws RemoteFailure if the answer has none */
export function showPathHelp(body: Json): string {
  const help = exactMember(body, 'help')
  if (typeof help !== 'string') throw new RemoteFailure('Error asking for help: the answer has none')
  return printable(help.endsWith('\n') ? help : `${help}\n`)
}
