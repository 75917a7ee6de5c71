import { answerRows } from '../answer-rows.ts'
import { command } from '../command.ts'
import { UNWRAPPED_OPTIONS } from '../common-options.ts'
import { connect } from '../connect.ts'
import { headerText } from '../connection.ts'
import { printDone } from '../output.ts'
import { unwrapped } from './login.ts'

/** `keywright unwrap`: prints the answer that was wrapped, once. */
export const unwrap = command({
  name: 'unwrap',
  summary: 'Show the answer wrapped by a token, once',
  usage: '[TOKEN]',
  describe: [
    'Without an argument, the current token is the wrapping token. A wrapping token is used up by this: if it ' +
      'has been used already, someone else has read the answer.',
  ],
  examples: ['unwrap TOKEN', 'unwrap -field=secret_id TOKEN'],
  options: UNWRAPPED_OPTIONS,
  args: { needed: [], most: 1 },
  run: async ({ io, options, args: [token] }) => {
    const body = await unwrapped(connect(io, options), headerText('The token', token))
    const isEmpty = answerRows(body).length === 0
    await printDone(io, options, isEmpty ? undefined : body, 'Success! The wrapped answer is empty')
    return 0
  },
})
