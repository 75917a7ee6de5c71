import type { Client } from '../client.ts'
import { command } from '../command.ts'
import { UNWRAPPED_OPTIONS } from '../common-options.ts'
import { connect } from '../connect.ts'
import { exactMember, type Json } from '../exact-json.ts'
import { formatTable, printAnswer } from '../output.ts'

/** `keywright operator key-status`: shows the data key of the barrier that is in use. */
export const operatorKeyStatus = command({
  name: 'key-status',
  summary: 'Show the key that currently encrypts data',
  usage: '',
  describe: ['Shows its term, when it was installed, and how often it has been used.'],
  examples: ['operator key-status'],
  options: UNWRAPPED_OPTIONS,
  args: { needed: [], most: 0 },
  run: async ({ io, options }) => {
    await printAnswer(io, options, await readKeyStatus(connect(io, options)), formatKeyStatus)
    return 0
  },
})

/** Returns the term, age and use of that key. @throws RemoteFailure */
export async function readKeyStatus(client: Client): Promise<Json> {
  const { body } = await client.send({ doing: 'reading the key status', method: 'GET', path: 'sys/key-status' })
  return exactMember(body, 'data') ?? {}
}

/** Formats them. The labels are those of the reference. */
export function formatKeyStatus(status: Json): string {
  const tell = (name: string): Json => exactMember(status, name) ?? ''
  return formatTable([
    ['Key Term', tell('term')],
    ['Install Time', tell('install_time')],
    ['Encryption Count', tell('encryptions')],
  ])
}
