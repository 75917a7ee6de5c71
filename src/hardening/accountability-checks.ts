// Who could do everything, and whether anybody would see it: B-06, B-07, B-17.
import { join } from 'node:path'
import { type Check, ok, refuse, unknown, warn } from './check.ts'

const rootTokens: Check = {
  id: 'B-06',
  title: 'No root token is left',
  group: 'accountability',
  how: 'the tokens, while the server is open',
  again: true,
  look: (_machine, { rootTokens: tokens }) => {
    if (tokens === undefined) return unknown('sys/hardening tells it while the server is open')
    const { found, looked, isPartial } = tokens
    if (found > 0)
      return warn(
        `${found} root ${found === 1 ? 'token lives' : 'tokens live'}: revoke what is not needed now, ` +
          '`keywright operator generate-root` makes another',
      )
    if (isPartial) return unknown(`There is none among the first ${looked} tokens; more were not looked at`)
    return ok(`There is none among ${looked} tokens`)
  },
}

const audit: Check = {
  id: 'B-07',
  title: 'Requests are audited',
  group: 'accountability',
  how: 'audit devices',
  again: true,
  look: (_machine, { auditDevices: devices, isAuditRequired }) => {
    if (devices === undefined) return unknown('sys/hardening tells it while the server is open')
    if (devices.length > 0) return ok(`Devices that are on: ${devices.join(', ')}`)
    if (isAuditRequired)
      return refuse('require_audit is set and no audit device is on: enable one, or leave require_audit out')
    return warn('No audit device is on, so nobody sees who did what')
  },
}

/** As the development server calls it. */
const DEVELOPMENT_KEYS = 'development-keys.json'

const development: Check = {
  id: 'B-17',
  title: 'No development server where secrets are',
  group: 'secrets',
  how: '-dev, its addresses, its key file in the data directory',
  again: true,
  look: (machine, { isDevelopment, dataDirectory, listeners }) => {
    if (isDevelopment) {
      const open = listeners.find(({ isLocal }) => !isLocal)
      if (open !== undefined) return refuse(`A development server must not listen on ${open.address}: use 127.0.0.1`)
      return warn('This is a development server, its key lies beside its data: never give it real secrets')
    }
    const keys = dataDirectory === undefined ? undefined : join(dataDirectory, DEVELOPMENT_KEYS)
    if (keys === undefined || machine.stat(keys) === undefined) return ok('It is none, and its data are of none')
    return warn(
      `${keys} opens the store beside it, which a development server made: rekey, rotate, and remove the file`,
    )
  },
}

export const ACCOUNTABILITY_CHECKS: readonly Check[] = [rootTokens, audit, development]
