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
  summary: 'Show the answer that was wrapped under a token, once',
  usage: '[TOKEN]',
  describe: [
    'Without an argument the token that is used is the wrapping token. It is spent: who finds it spent already knows ' +
      'that somebody else read the answer.',
  ],
  examples: ['unwrap TOKEN', 'unwrap -field=secret_id TOKEN'],
  options: UNWRAPPED_OPTIONS,
  args: { needed: [], most: 1 },
  run: async ({ io, options, args: [token] }) => {
    const body = await unwrapped(connect(io, options), headerText('The token', token))
    const isEmpty = answerRows(body).length === 0
    await printDone(io, options, isEmpty ? undefined : body, 'Success! There was nothing in it')
    return 0
  },
})
