import { command } from '../command.ts'
import { UNWRAPPED_OPTIONS } from '../common-options.ts'
import { connect } from '../connect.ts'
import { printAnswer } from '../output.ts'
import { formatKeyStatus, readKeyStatus } from './operator-key-status.ts'

/** `keywright operator rotate`: makes a new data key of the barrier. A second request shows it. */
export const operatorRotate = command({
  name: 'rotate',
  summary: 'Rotate the key that encrypts data written from now on',
  usage: '',
  describe: [
    'Data written before stay readable. Unseal keys do not change: `operator rekey` makes new ones. The token ' +
      'needs "update" and "sudo" on sys/rotate, and "read" on sys/key-status.',
  ],
  examples: ['operator rotate'],
  options: UNWRAPPED_OPTIONS,
  args: { needed: [], most: 0 },
  run: async ({ io, options }) => {
    const client = connect(io, options)
    await client.send({ doing: 'rotating', method: 'PUT', path: 'sys/rotate' })
    const table = formatKeyStatus
    await printAnswer(io, options, await readKeyStatus(client), (status) => `Success! Rotated key\n\n${table(status)}`)
    return 0
  },
})
