import { cleanPath } from '../api-path.ts'
import { RemoteFailure } from '../cli-error.ts'
import { command } from '../command.ts'
import { COMMON_OPTIONS } from '../common-options.ts'
import { connect } from '../connect.ts'
import { writeAll } from '../io.ts'
import { dataQuery, readData } from '../key-values.ts'
import { printAnswer } from '../output.ts'

/** `keywright read`: sends GET, with the data as query. */
export const read = command({
  name: 'read',
  summary: 'Read the data at a path',
  usage: 'PATH [NAME=VALUE…]',
  completes: ['path'],
  describe: ['NAME=VALUE pairs are sent as query parameters.'],
  examples: ['read transit/keys/payments', 'read -field=latest_version transit/keys/payments', 'read sys/mounts'],
  options: COMMON_OPTIONS,
  args: { needed: ['PATH'], most: Number.POSITIVE_INFINITY },
  run: async ({ io, options, args: [typed = '', ...words] }) => {
    const path = cleanPath(typed)
    const query = dataQuery(await readData(io, words))
    const anything = options.format === 'raw'
    const client = connect(io, options)
    const answer = await client.find({ doing: `reading ${path}`, method: 'GET', path, query, anything })
    if (answer !== undefined && options.format === 'raw') {
      await writeAll(io.stdout, answer.text)
      return 0
    }
    if (answer?.body === undefined) throw new RemoteFailure(`No value found at ${path}`)
    await printAnswer(io, options, answer.body)
    return 0
  },
})
