// Checks of all-powerful access and of its traces: root tokens, audit, development servers (B-06, B-07, B-17).
import { dirname, join } from 'node:path'
import { type Check, type Finding, ok, refusing, unknown, warn, worst } from './check.ts'
import type { Machine } from './machine.ts'
import { dataDirectoryOf } from './setting.ts'

const rootTokens: Check = {
  id: 'B-06',
  title: 'No root token exists',
  group: 'accountability',
  how: 'stored tokens, while the server is unsealed',
  again: true,
  run: (_machine, { rootTokens: tokens }) => {
    if (tokens === undefined) return unknown('Only known while the server is unsealed: see sys/hardening')
    const { found, looked, isPartial } = tokens
    if (found > 0)
      return warn(
        `There ${found === 1 ? 'is 1 root token' : `are ${found} root tokens`}: revoke those not needed now, ` +
          '`keywright operator generate-root` makes another',
      )
    if (isPartial) return unknown(`There is none among the first ${looked} tokens; the rest were not checked`)
    return ok(`There is none among ${looked} tokens`)
  },
}

const audit: Check = {
  id: 'B-07',
  title: 'Requests are audited',
  group: 'accountability',
  how: 'audit devices, and the files of declared ones',
  again: true,
  run: (machine, { auditDevices: devices, auditFiles, isAuditDeclared, isAuditRequired }) => {
    if (isAuditRequired && !isAuditDeclared)
      return refusing(
        'require_audit is set and the configuration declares no audit device: declare one, ' +
          'audit "file" "NAME" { … }, or leave require_audit out',
      )
    if (devices === undefined)
      return unknown(
        'The configuration declares no audit device; sys/hardening shows whether the store has one while the server ' +
          'is unsealed',
      )
    if (devices.length === 0)
      return warn('No audit device is enabled, so there is no record of who did what: declare one')
    return worst([
      ok(`Enabled audit devices: ${devices.join(', ')}`),
      ...auditFiles.map((file) => auditFile(machine, file)),
    ])
  },
}

/**
 * Checks that one audit file can be written. A request that cannot be recorded is refused, so a device that
 * cannot write blocks every request.
 */
function auditFile(machine: Machine, file: string): Finding {
  const directory = dirname(file)
  const folder = machine.statTarget(directory)
  if (folder === undefined)
    return refusing(
      `The audit log ${file} cannot be written because ${directory} is missing: create it for the user of the server`,
    )
  if (folder.kind !== 'directory')
    return refusing(`The audit log ${file} cannot be written because ${directory} is not a directory: name another`)
  const existing = machine.statTarget(file)
  if (existing?.kind === 'directory') return refusing(`The audit log ${file} is a directory: name a file`)
  const isWritable = machine.user === 0 || machine.canWrite(existing === undefined ? directory : file)
  if (isWritable) return ok('')
  const what = existing === undefined ? directory : file
  return refusing(
    `The audit log cannot be written: this user may not write to ${what}, make it writable for the user of the server`,
  )
}

/** Name of the key file that a development server writes beside its data. */
const DEVELOPMENT_KEYS = 'development-keys.json'

const development: Check = {
  id: 'B-17',
  title: 'Not a development server',
  group: 'secrets',
  how: '-dev, its listen addresses, its key file in the data directory',
  again: true,
  run: (machine, setting) => {
    const { isDevelopment, listeners } = setting
    if (isDevelopment) {
      const open = listeners.find(({ isLocal }) => !isLocal)
      if (open !== undefined) return refusing(`A development server must not listen on ${open.address}: use 127.0.0.1`)
      return warn('This is a development server, which keeps its key beside its data: never give it real secrets')
    }
    const dataDirectory = dataDirectoryOf(setting)
    const keys = dataDirectory === undefined ? undefined : join(dataDirectory, DEVELOPMENT_KEYS)
    if (keys === undefined || machine.stat(keys) === undefined)
      return ok('Neither the server nor its data directory is for development')
    return warn(
      `${keys} unseals the store beside it, which a development server made: rekey, rotate, and remove the file`,
    )
  },
}

/** B-06, B-07 and B-17, for `CHECKS` in report.ts. */
export const ACCOUNTABILITY_CHECKS: readonly Check[] = [rootTokens, audit, development]
