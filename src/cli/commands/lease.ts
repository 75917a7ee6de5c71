// `keywright lease …`: what was given for a time, tokens of logins above all.

import { cleanPath } from '../api-path.ts'
import { callCommand, givenFields } from '../call-command.ts'
import { UsageError } from '../cli-error.ts'
import type { CommandGroup } from '../command.ts'
import { printableLine } from '../terminal-text.ts'

const lookup = callCommand({
  name: 'lookup',
  summary: 'Show a lease and its remaining lifetime',
  usage: 'ID',
  examples: ['lease lookup auth/userpass/login/kim/h1c2'],
  request: ({ args: [id = ''] }) => ({
    doing: `looking up lease ${id}`,
    method: 'PUT',
    path: 'sys/leases/lookup',
    body: JSON.stringify({ lease_id: id }),
  }),
})

const renew = callCommand({
  name: 'renew',
  summary: 'Renew a lease',
  usage: 'ID',
  examples: ['lease renew -increment=1h auth/userpass/login/kim/h1c2'],
  options: { increment: { kind: 'text', short: 'i', value: 'DURATION', about: 'Requested lifetime' } },
  request: ({ options, args: [id = ''] }) => ({
    doing: `renewing lease ${id}`,
    method: 'PUT',
    path: 'sys/leases/renew',
    body: JSON.stringify({ lease_id: id, ...givenFields(options, ['increment']) }),
  }),
})

/** The three paths below sys/leases need different rights: `revoke-prefix` and `revoke-force` need sudo. */
const revoke = callCommand({
  name: 'revoke',
  summary: 'Revoke a lease, or all leases below a path',
  usage: 'ID',
  examples: ['lease revoke auth/userpass/login/kim/h1c2', 'lease revoke -prefix auth/userpass/login'],
  options: {
    prefix: { kind: 'flag', about: 'Revoke all leases below a path, given as ID' },
    force: { kind: 'flag', short: 'f', about: 'With -prefix: remove the leases even if revoking them fails' },
    sync: { kind: 'flag', about: 'Wait until the revocation is complete' },
  },
  request: ({ options: { prefix, force, sync }, args: [id = ''] }) => {
    if (force && !prefix) throw new UsageError('-force goes with -prefix')
    const doing = `revoking ${prefix ? 'the leases below' : 'lease'} ${id}`
    const path = prefix ? `revoke-${force ? 'force' : 'prefix'}/${cleanPath(id)}` : 'revoke'
    const body = JSON.stringify({ ...(prefix ? {} : { lease_id: id }), ...(sync ? { sync } : {}) })
    return { doing, method: 'PUT', path: `sys/leases/${path}`, body }
  },
  done: ({ options, args: [id = ''] }) =>
    `Success! Revoked ${options.prefix ? 'all leases below' : 'lease (if it existed)'}: ${printableLine(id)}`,
})

/** `keywright lease`: ids hold slashes and come from `lease_id` of an answer. */
export const LEASE_COMMANDS: CommandGroup = {
  name: 'lease',
  summary: 'Look up, renew and revoke leases',
  members: [lookup, renew, revoke],
}
