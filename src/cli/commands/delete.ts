import { cleanPath } from '../api-path.ts'
import { callCommand } from '../call-command.ts'

/** `keywright delete`: sends DELETE to the path. */
export const remove = callCommand({
  name: 'delete',
  summary: 'Delete the data at a path',
  usage: 'PATH',
  completes: ['path'],
  describe: [
    'Succeeds even if there is nothing at the path. A transit key must first be configured with deletion_allowed.',
  ],
  examples: ['delete sys/policies/acl/app', 'delete transit/keys/payments'],
  request: ({ args: [typed = ''] }) => {
    const path = cleanPath(typed)
    return { doing: `deleting ${path}`, method: 'DELETE', path }
  },
  done: ({ args: [typed = ''] }) => `Success! Data deleted (if it existed) at: ${cleanPath(typed)}`,
})
