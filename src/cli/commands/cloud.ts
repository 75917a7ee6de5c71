import { cleanPath } from '../api-path.ts'
import { METADATA_OPTIONS, withMachine } from '../cloud-machine.ts'
import { formatColumns } from '../columns.ts'
import { type CommandGroup, command } from '../command.ts'
import { UNWRAPPED_OPTIONS } from '../common-options.ts'
import { connect } from '../connect.ts'
import { exactMember, isList, type Json, plainText } from '../exact-json.ts'
import { readData } from '../key-values.ts'
import { formatTable, printAnswer } from '../output.ts'
import { withoutLineEnd } from '../secret-input.ts'

/**
 * `keywright cloud explain`: shows what a login would come to, check by check (Interface 4.1 has the login). The exit
 * code tells scripts the verdict.
 */
const explain = command({
  name: 'explain',
  summary: 'Show which checks a cloud login passes, without logging in',
  usage: 'role=NAME [jwt=TOKEN] [NAME=VALUE…]',
  describe: [
    'The fields are those of the login. Without jwt, the token and names come from the metadata service of this ' +
      'machine. The token needs "sudo" on auth/MOUNT/explain. The exit code is 0 if the login would succeed, 2 if ' +
      'not.',
  ],
  examples: ['cloud explain role=app', 'cloud explain -path=azure role=app jwt=@token subscription_id=ID vm_name=vm1'],
  options: {
    path: { kind: 'text', value: 'PATH', default: 'cloud', about: 'Mount path of the method, below auth/' },
    ...METADATA_OPTIONS,
    ...UNWRAPPED_OPTIONS,
  },
  args: { needed: ['role=NAME'], most: Number.POSITIVE_INFINITY },
  run: async ({ io, options, args }) => {
    const typed = new Map([...(await readData(io, args))].map(([name, value]) => [name, trimmed(value)]))
    const fields = await withMachine(io, options['metadata-address'], typed)
    const mount = cleanPath(options.path)
    const path = `${mount.startsWith('auth/') ? mount : `auth/${mount}`}/explain`
    const body = JSON.stringify(Object.fromEntries(fields))
    const answer = await connect(io, options).send({ doing: 'explaining a login', method: 'POST', path, body })
    await printAnswer(io, options, answer.body ?? null, table)
    return exactMember(exactMember(answer.body, 'data'), 'allowed') === true ? 0 : 2
  },
})

/** Tokens come from files, which end with a line break that no token has. */
const trimmed = (value: Json): Json => (typeof value === 'string' ? withoutLineEnd(value) : value)

/** Formats the verdict above the checks; `status` and `reason` are missing where the login would succeed. */
function table(body: Json): string {
  const data = exactMember(body, 'data')
  const tell = (name: string, of: Json | undefined = data): string => plainText(exactMember(of, name) ?? '')
  const checks = exactMember(data, 'checks')
  const rows = (isList(checks) ? checks : []).map((each) => ['name', 'verdict', 'detail'].map((one) => tell(one, each)))
  const verdict: (readonly [string, string])[] = [
    ['Allowed', exactMember(data, 'allowed') === true ? 'yes' : 'no'],
    ['Status', tell('status')],
    ['Reason', tell('reason')],
  ]
  const told = formatTable(verdict.filter(([, text]) => text !== ''))
  return `${told}\n${formatColumns(['Check', 'Verdict', 'Found'], rows)}`
}

/** `keywright cloud`: nothing here logs in, `login -method=cloud` does. */
export const CLOUD_COMMANDS: CommandGroup = {
  name: 'cloud',
  summary: 'Troubleshoot logins with a cloud identity',
  members: [explain],
}
