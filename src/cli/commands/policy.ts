// `keywright policy …`: the rules of who may do what (Interface 5).

import { HclError } from '../../lib/hcl.ts'
import { formatHcl } from '../../lib/hcl-format.ts'
import { cleanPath } from '../api-path.ts'
import { callCommand, givenFields } from '../call-command.ts'
import { CliError, RemoteFailure, UsageError } from '../cli-error.ts'
import { type CommandGroup, command } from '../command.ts'
import { exactMember, isList, type Json, plainText } from '../exact-json.ts'
import { readInputText, STDIN } from '../input.ts'
import { writeAll } from '../io.ts'
import { namedValues } from '../named-values.ts'
import { replaceFile } from '../new-file.ts'
import { formatTable } from '../output.ts'
import { printable, printableLine } from '../terminal-text.ts'

const PATH = 'sys/policies/acl'

const list = callCommand({
  name: 'list',
  summary: 'List the names of the policies',
  usage: '',
  examples: ['policy list'],
  request: () => ({ doing: 'listing the policies', method: 'GET', path: PATH, query: [['list', 'true']] }),
  part: (body) => namesOf(body),
  table: (body) =>
    namesOf(body)
      .map((name) => `${printableLine(plainText(name))}\n`)
      .join(''),
})

/** @throws RemoteFailure for an answer without names, which cannot be from this endpoint */
function namesOf(body: Json): readonly Json[] {
  const names = exactMember(exactMember(body, 'data'), 'keys')
  if (!isList(names)) throw new RemoteFailure('Error listing the policies: the answer has no names')
  return names
}

const read = callCommand({
  name: 'read',
  summary: 'Show the text of a policy',
  usage: 'NAME',
  completes: ['policy'],
  examples: ['policy read app'],
  request: ({ args: [name = ''] }) => ({ doing: `reading policy ${name}`, method: 'GET', path: pathOf(name) }),
  missing: ({ args: [name = ''] }) => `No policy named: ${name}`,
  table: (body) => {
    const text = exactMember(exactMember(body, 'data'), 'policy')
    if (typeof text !== 'string') throw new RemoteFailure('Error reading the policy: the answer does not have the text')
    return printable(text === '' || text.endsWith('\n') ? text : `${text}\n`)
  },
})

/** The server checks the text: it knows which rules there are. */
const upload = callCommand({
  name: 'write',
  summary: 'Create or replace a policy from a file',
  usage: 'NAME FILE',
  completes: ['policy'],
  describe: ['FILE is HCL or JSON; - reads standard input.'],
  examples: ['policy write app app.hcl', 'policy write app -'],
  request: async ({ io, args: [name = '', file = ''] }) => {
    const policy = await readInputText(io, file)
    const body = JSON.stringify({ policy })
    return { doing: `writing policy ${name}`, method: 'PUT', path: pathOf(name), body }
  },
  done: ({ args: [name = ''] }) => `Success! Uploaded policy: ${name}`,
})

const remove = callCommand({
  name: 'delete',
  summary: 'Delete a policy; tokens that have it lose its permissions',
  usage: 'NAME',
  completes: ['policy'],
  examples: ['policy delete app'],
  request: ({ args: [name = ''] }) => ({ doing: `deleting policy ${name}`, method: 'DELETE', path: pathOf(name) }),
  done: ({ args: [name = ''] }) => `Success! Deleted policy: ${name}`,
})

/** The one path of a policy; `sys/policy` of old clients is served too, and not used here. */
const pathOf = (name: string): string => `${PATH}/${cleanPath(name)}`

/** Works without a server. Comments stay, and so does a file that is formatted already, with its times. */
const format = command({
  name: 'fmt',
  summary: 'Format a policy file: changes only indentation and spacing',
  usage: 'FILE',
  describe: ['FILE is overwritten; - reads standard input and prints the result. Does not contact a server.'],
  examples: ['policy fmt app.hcl', 'policy fmt -'],
  options: {},
  args: { needed: ['FILE'], most: 1 },
  run: async ({ io, args: [file = ''] }) => {
    const text = await readInputText(io, file)
    const formatted = formatOrRefuse(file, text)
    if (file === STDIN) await writeAll(io.stdout, formatted)
    else {
      if (formatted !== text) await replaceFile(file, formatted)
      await writeAll(io.stdout, `Success! Formatted policy: ${file}\n`)
    }
    return 0
  },
})

function formatOrRefuse(file: string, text: string): string {
  try {
    return formatHcl(text)
  } catch (error) {
    if (error instanceof HclError) throw new CliError(`${file}: ${error.message}`, error)
    throw error
  }
}

const explain = callCommand({
  name: 'explain',
  summary: 'Show whether a request would be allowed, and which rule decides',
  usage: 'PATH',
  completes: ['path'],
  describe: [
    'Explains a request with the current token, unless -of-token, -accessor or -policy names another subject; ' +
      'that needs a permission of its own. Nothing is done at the path.',
  ],
  examples: [
    'policy explain -operation=update transit/encrypt/payments',
    'policy explain -policy=app -operation=update -parameter=type=ed25519 transit/keys/payments',
  ],
  options: {
    operation: {
      kind: 'text',
      value: 'NAME',
      oneOf: ['create', 'read', 'update', 'patch', 'delete', 'list', 'scan'],
      default: 'read',
      about: 'Operation of the request: create, read, update, patch, delete, list or scan',
    },
    policy: { kind: 'texts', value: 'NAME', about: 'Policy to evaluate, instead of those of a token' },
    'of-token': { kind: 'text', value: 'TOKEN', about: 'Token to evaluate, instead of the current one' },
    accessor: { kind: 'text', value: 'ACCESSOR', about: 'Accessor of the token to evaluate' },
    parameter: { kind: 'texts', value: 'NAME=VALUE', about: 'Field of the request' },
  },
  request: ({ options, args: [typed = ''] }) => {
    const { policy: policies, 'of-token': token, accessor, operation } = options
    const subjects = [policies.length > 0, token !== undefined, accessor !== undefined].filter((given) => given)
    if (subjects.length > 1) throw new UsageError('-policy, -of-token and -accessor exclude each other')
    // A list request is judged by the path with the slash, any other by the one without.
    const path = typed.endsWith('/') ? `${cleanPath(typed)}/` : cleanPath(typed)
    const body = JSON.stringify({
      ...(token === undefined ? {} : { token }),
      ...givenFields(options, ['accessor']),
      ...(policies.length === 0 ? {} : { policies }),
      path,
      operation,
      ...(options.parameter.length === 0 ? {} : { parameters: namedValues('parameter', options.parameter) }),
    })
    // Every token may ask about itself; the rules of others are an endpoint that needs a right of its own.
    const endpoint = `sys/policies/explain${subjects.length === 0 ? '-self' : ''}`
    return { doing: `explaining ${operation} on ${path}`, method: 'POST', path: endpoint, body }
  },
  part: (body) => exactMember(body, 'data') ?? body,
  table: (body) => explanation(exactMember(body, 'data') ?? body),
})

/** Formats the verdict, the rule that decided, and the rules that lost to it. */
function explanation(data: Json): string {
  const tell = (name: string, of: Json | undefined = data): string => {
    const value = exactMember(of, name) ?? ''
    return isList(value) ? value.map(plainText).join(', ') : plainText(value)
  }
  const rule = exactMember(data, 'rule')
  const considered = exactMember(data, 'considered')
  // The first of them is the rule that decides, which has rows of its own.
  const others = isList(considered) ? considered.slice(1) : []
  const ruleAt = (of: Json | undefined): string => {
    const line = tell('line', of)
    return `path "${tell('path', of)}"${line === '' ? '' : `, line ${line}`}`
  }
  const policyOf = (of: Json | undefined): string => {
    const namespace = tell('namespace', of)
    return tell('policy', of) + (namespace === '' ? '' : ` in namespace ${namespace}`)
  }
  const rows: (readonly [string, string])[] = [
    ['Allowed', exactMember(data, 'allowed') === true ? 'yes' : 'no'],
    ['Path', tell('path')],
    ['Operation', tell('operation')],
    ['Reason', tell('explanation') || tell('reason')],
    ['Policy', policyOf(rule)],
    ['Rule', tell('path', rule) === '' ? '' : ruleAt(rule)],
    ['Needed', tell('needed')],
    ...others.map((each) => ['Other rule', `${ruleAt(each)} of ${policyOf(each)}: ${tell('why', each)}`] as const),
  ]
  return formatTable(rows.filter(([, text]) => text !== ''))
}

/** `keywright policy`: all of it below sys/policies but `fmt`. */
export const POLICY_COMMANDS: CommandGroup = {
  name: 'policy',
  summary: 'Read, write and explain policies',
  members: [list, read, upload, remove, format, explain],
}
