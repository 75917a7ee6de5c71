// `keywright token …`: makes, shows, renews and ends tokens.

import { cleanPath } from '../api-path.ts'
import { callCommand, givenFields } from '../call-command.ts'
import { RemoteFailure, UsageError } from '../cli-error.ts'
import type { ApiRequest } from '../client.ts'
import type { CommandGroup } from '../command.ts'
import { exactMember, isList, plainText } from '../exact-json.ts'
import { namedValues } from '../named-values.ts'
import type { OptionTable } from '../options.ts'
import { printableLine } from '../terminal-text.ts'

const BY_ACCESSOR = {
  accessor: { kind: 'flag', about: 'Treat the argument as an accessor, not a token' },
} as const satisfies OptionTable

/**
 * Makes a request about the caller's own token, another, or the one with an accessor. Each kind is a path of its own,
 * so that policies can allow one without the others. The token goes into the body, which no log of a proxy shows.
 */
function tokenRequest(
  { what, doing, ...more }: { what: string; doing: string; increment?: string | undefined },
  given: string | undefined,
  byAccessor: boolean,
): ApiRequest {
  if (byAccessor && given === undefined) throw new UsageError('-accessor needs an accessor as argument')
  const path = `auth/token/${what}${given === undefined ? '-self' : byAccessor ? '-accessor' : ''}`
  const fields = given === undefined ? {} : { [byAccessor ? 'accessor' : 'token']: given }
  return { doing, method: 'PUT', path, body: JSON.stringify({ ...fields, ...more }) }
}

/** Options whose value is sent as it was typed. */
const CREATE_TEXTS = ['id', 'display-name', 'ttl', 'explicit-max-ttl', 'period', 'type', 'entity-alias']

const create = callCommand({
  name: 'create',
  summary: 'Create a token, as a child of the current one',
  usage: '',
  describe: ['Without -policy it gets the policies of its parent.'],
  examples: [
    'token create -policy=app -ttl=1h',
    'token create -orphan -policy=app -period=24h',
    'token create -field=token -policy=app -use-limit=1',
  ],
  options: {
    policy: { kind: 'texts', value: 'NAME', about: 'Policy of the token' },
    ttl: { kind: 'text', value: 'DURATION', about: 'Initial lifetime; renewable unless -renewable=false' },
    'explicit-max-ttl': { kind: 'text', value: 'DURATION', about: 'Maximum lifetime, which no renewal can exceed' },
    period: {
      kind: 'text',
      value: 'DURATION',
      about: 'Make a periodic token: every renewal sets this lifetime, any number of times',
    },
    renewable: { kind: 'flag', default: true, about: 'Whether the token can be renewed' },
    'use-limit': { kind: 'number', value: 'COUNT', about: 'Number of times the token can be used' },
    orphan: {
      kind: 'flag',
      about: 'Create the token without a parent, so that it is not revoked with the current token',
    },
    'no-default-policy': { kind: 'flag', about: 'Leave out the policy "default"' },
    'display-name': { kind: 'text', value: 'NAME', about: 'Name shown in audit logs and look-ups' },
    metadata: { kind: 'texts', value: 'NAME=VALUE', about: 'Metadata stored with the token and shown in audit logs' },
    type: { kind: 'text', value: 'service|batch', oneOf: ['service', 'batch'], about: 'Type of the token' },
    role: { kind: 'text', value: 'NAME', about: 'Token role to create the token with' },
    'entity-alias': { kind: 'text', value: 'NAME', about: 'Entity alias of the token; needs -role' },
    id: { kind: 'text', value: 'TOKEN', about: 'Token ID, instead of a random one' },
  },
  request: ({ options }) => {
    if (options.orphan && options.role !== undefined) throw new UsageError('-orphan and -role exclude each other')
    const endpoint = options.orphan ? 'create-orphan' : options.role === undefined ? 'create' : `create/${options.role}`
    const body = JSON.stringify({
      ...givenFields(options, [...CREATE_TEXTS, 'no-default-policy']),
      ...(options.policy.length === 0 ? {} : { policies: options.policy }),
      ...(options.metadata.length === 0 ? {} : { meta: namedValues('metadata', options.metadata) }),
      ...(options['use-limit'] === undefined ? {} : { num_uses: options['use-limit'] }),
      ...(options.renewable ? {} : { renewable: false }),
    })
    return { doing: 'creating the token', method: 'POST', path: `auth/token/${endpoint}`, body }
  },
})

const lookup = callCommand({
  name: 'lookup',
  summary: 'Show the properties of a token',
  usage: '[TOKEN | ACCESSOR]',
  describe: ['Without an argument, shows the current token.'],
  examples: ['token lookup', 'token lookup -accessor ACCESSOR'],
  options: BY_ACCESSOR,
  request: ({ options, args: [given] }) => {
    const request = tokenRequest({ what: 'lookup', doing: 'looking up the token' }, given, options.accessor)
    // The token's own entry is a read, which the default policy allows.
    return given === undefined ? { ...request, method: 'GET', body: undefined } : { ...request, method: 'POST' }
  },
})

const renew = callCommand({
  name: 'renew',
  summary: 'Renew a token',
  usage: '[TOKEN | ACCESSOR]',
  describe: ['Without an argument, renews the current token.'],
  examples: ['token renew', 'token renew -increment=1h TOKEN'],
  options: {
    increment: { kind: 'text', short: 'i', value: 'DURATION', about: 'Requested lifetime' },
    ...BY_ACCESSOR,
  },
  request: ({ options, args: [given] }) => {
    const { increment } = options
    return tokenRequest({ what: 'renew', doing: 'renewing the token', increment }, given, options.accessor)
  },
})

/** Refuses a call without a target: ending the own token by mistake would cut the caller off. */
const revoke = callCommand({
  name: 'revoke',
  summary: 'Revoke a token and all its children',
  usage: '[TOKEN | ACCESSOR]',
  describe: [
    'With -mode=orphan its children stay valid. With -mode=path the argument is a path, such as auth/userpass, ' +
      'and every token created below it is revoked.',
  ],
  examples: ['token revoke TOKEN', 'token revoke -self', 'token revoke -mode=path auth/userpass'],
  options: {
    self: { kind: 'flag', about: 'Revoke the current token' },
    mode: {
      kind: 'text',
      value: 'orphan|path',
      oneOf: ['orphan', 'path'],
      about: 'Revoke only the token (orphan), or all tokens created below a path (path)',
    },
    ...BY_ACCESSOR,
  },
  request: ({ options: { self, mode, accessor }, args: [given] }) => {
    if (self === (given !== undefined)) throw new UsageError('give either a token, an accessor or a path, or -self')
    if (mode !== undefined && (self || accessor)) throw new UsageError('-mode goes with neither -self nor -accessor')
    const doing = 'revoking the token'
    if (mode === 'path') {
      return { doing, method: 'PUT', path: `sys/leases/revoke-prefix/${cleanPath(given ?? '')}`, body: '{}' }
    }
    const request = tokenRequest({ what: 'revoke', doing }, given, accessor)
    return mode === 'orphan' ? { ...request, path: 'auth/token/revoke-orphan' } : request
  },
  done: ({ options: { mode }, args: [given = ''] }) =>
    mode === 'path'
      ? `Success! Revoked all tokens created below: ${printableLine(cleanPath(given))}`
      : 'Success! Revoked token (if it existed)',
})

const capabilities = callCommand({
  name: 'capabilities',
  summary: 'Show the capabilities of a token on a path',
  usage: '[TOKEN | ACCESSOR] PATH',
  completes: ['path', 'path'],
  describe: ['Without TOKEN or ACCESSOR, shows those of the current token.'],
  examples: ['token capabilities transit/keys/payments', 'token capabilities TOKEN sys/mounts'],
  options: BY_ACCESSOR,
  request: ({ options, args: [first = '', second] }) => {
    const typed = second ?? first
    // A list request is judged by the path with the slash, any other by the one without.
    const path = typed.endsWith('/') ? `${cleanPath(typed)}/` : cleanPath(typed)
    if (options.accessor && second === undefined) throw new UsageError('-accessor needs an accessor before the path')
    const [suffix, whose] =
      second === undefined
        ? ['-self', {}]
        : options.accessor
          ? ['-accessor', { accessor: first }]
          : ['', { token: first }]
    const body = JSON.stringify({ paths: [path], ...whose })
    return { doing: `reading the capabilities on ${path}`, method: 'POST', path: `sys/capabilities${suffix}`, body }
  },
  part: (body) => capabilitiesOf(body),
  table: (body) => `${capabilitiesOf(body).map(plainText).join(', ')}\n`,
})

/** Returns the capabilities, from `data` or from the top of the answer, which has both. */
function capabilitiesOf(body: Parameters<typeof exactMember>[0]) {
  const found = exactMember(exactMember(body, 'data'), 'capabilities') ?? exactMember(body, 'capabilities')
  if (!isList(found)) throw new RemoteFailure('Error reading the capabilities: the answer has none')
  return found
}

/** `keywright token`: all of it below auth/token but `capabilities` and -mode=path. */
export const TOKEN_COMMANDS: CommandGroup = {
  name: 'token',
  summary: 'Create, look up, renew and revoke tokens',
  members: [create, lookup, renew, revoke, capabilities],
}
