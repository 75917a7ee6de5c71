import { cleanPath } from '../api-path.ts'
import { RemoteFailure } from '../cli-error.ts'
import { command } from '../command.ts'
import { COMMON_OPTIONS } from '../common-options.ts'
import { connect } from '../connect.ts'
import { isList, memberOf } from '../exact-json.ts'
import { formatList, printAnswer } from '../output.ts'

/** `keywright list`: GET with `list=true`. */
export const list = command({
  name: 'list',
  summary: 'List the names below a path',
  usage: 'PATH',
  describe: ['A name that ends in / is a folder.'],
  examples: ['list transit/keys', 'list sys/policies/acl'],
  options: COMMON_OPTIONS,
  args: { needed: ['PATH'], most: 1 },
  run: async ({ io, options, args: [typed = ''] }) => {
    const path = cleanPath(typed)
    const query = [['list', 'true']] as const
    const answer = await connect(io, options).find({ doing: `listing ${path}`, method: 'GET', path, query })
    const names = memberOf(memberOf(answer?.body, 'data'), 'keys')
    if (answer?.body === undefined || !isList(names)) throw new RemoteFailure(`No value found at ${path}`)
    // Scripts of the reference CLI read the names alone.
    const shown = options.format === 'json' && options.field === undefined ? names : answer.body
    await printAnswer(io, options, shown, () => formatList('Keys', names))
    return 0
  },
})
