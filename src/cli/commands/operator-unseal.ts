import { command } from '../command.ts'
import { UNWRAPPED_OPTIONS } from '../common-options.ts'
import { connect } from '../connect.ts'
import { printAnswer } from '../output.ts'
import { formatSealStatus, sealStatusOf } from '../seal-status.ts'
import { readShare } from '../share-input.ts'

/** `keywright operator unseal`: hands in one share of the unseal key. The answer says how many are missing. */
export const operatorUnseal = command({
  name: 'unseal',
  summary: 'Hand in one unseal key; as many as the threshold says open the server',
  usage: '[KEY]',
  describe: [
    'Without KEY it is asked for and not shown, or read from standard input where that is not a terminal. A KEY on ' +
      'the command line stays in the history of the shell.',
  ],
  examples: ['operator unseal', 'operator unseal < share.txt', 'operator unseal -reset'],
  options: {
    reset: { kind: 'flag', about: 'Forget the keys that were handed in so far' },
    ...UNWRAPPED_OPTIONS,
  },
  args: { needed: [], most: 1 },
  run: async ({ io, options, args: [typed] }) => {
    const client = connect(io, options)
    const body = options.reset
      ? { reset: true }
      : { key: await readShare(io, typed, 'Unseal Key'), reset: false, migrate: false }
    const answer = await client.send({
      doing: options.reset ? 'resetting the unseal progress' : 'unsealing',
      method: 'PUT',
      path: 'sys/unseal',
      body: JSON.stringify(body),
    })
    await printAnswer(io, options, sealStatusOf(answer.body), formatSealStatus)
    return 0
  },
})
