// The client hvac for Python, as Debian packages it.
import { spawnSync } from 'node:child_process'
import { withoutPackage } from '../../fixtures/debian-packages.ts'

/** Debian's own: another Python in the PATH does not see Debian's packages. */
export const PYTHON = '/usr/bin/python3'

/** Why what needs hvac is left out; false where it is there. */
export function withoutHvac(): string | false {
  const { status } = spawnSync(PYTHON, ['-c', 'import hvac'])
  return status === 0 ? false : withoutPackage('python3-hvac')
}
