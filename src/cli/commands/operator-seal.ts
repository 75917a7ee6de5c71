import { command } from '../command.ts'
import { UNWRAPPED_OPTIONS } from '../common-options.ts'
import { connect } from '../connect.ts'
import { printDone } from '../output.ts'

/** `keywright operator seal`: has the server forget its keys; `operator unseal` is the way back. */
export const operatorSeal = command({
  name: 'seal',
  summary: 'Seal the server: it discards its keys and refuses requests until it is unsealed',
  usage: '',
  describe: ['The token needs "update" and "sudo" on sys/seal.'],
  examples: ['operator seal'],
  options: UNWRAPPED_OPTIONS,
  args: { needed: [], most: 0 },
  run: async ({ io, options }) => {
    const answer = await connect(io, options).send({ doing: 'sealing', method: 'PUT', path: 'sys/seal' })
    await printDone(io, options, answer.body, 'Success! The server is sealed.')
    return 0
  },
})
