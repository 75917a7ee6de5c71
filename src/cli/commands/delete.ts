import { cleanPath } from '../api-path.ts'
import { command } from '../command.ts'
import { COMMON_OPTIONS } from '../common-options.ts'
import { connect } from '../connect.ts'
import { printDone } from '../output.ts'

/** `keywright delete`: DELETE. */
export const remove = command({
  name: 'delete',
  summary: 'Delete what is at a path',
  usage: 'PATH',
  describe: ['It is no error where there is nothing. A transit key must have deletion_allowed first.'],
  examples: ['delete sys/policies/acl/app', 'delete transit/keys/payments'],
  options: COMMON_OPTIONS,
  args: { needed: ['PATH'], most: 1 },
  run: async ({ io, options, args: [typed = ''] }) => {
    const path = cleanPath(typed)
    const answer = await connect(io, options).send({ doing: `deleting ${path}`, method: 'DELETE', path })
    await printDone(io, options, answer.body, `Success! Data deleted (if it existed) at: ${path}`)
    return 0
  },
})
