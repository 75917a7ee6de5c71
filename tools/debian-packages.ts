// What a run of the tests left out for want of Debian packages, and how to install them. Which packages the tests use,
// .ci/packages alone says.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const LIST = '.ci/packages'

/** Names of the packages, in the list's order: one a line, with its reason behind it. */
export function listedPackages(root: string): string[] {
  const path = join(root, LIST)
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8')
    .split('\n')
    .map(firstWord)
    .filter((name) => name !== '' && name !== '#')
}

/** One line, or none: what to install so that nothing is skipped for one of these reasons. */
export function packagesToInstall(root: string, reasons: readonly string[]): string[] {
  const missing = listedPackages(root).filter((name) =>
    reasons.some((reason) => reason.includes(`the Debian package ${name} is not installed`)),
  )
  if (missing.length === 0) return []
  return [`left out for want of Debian packages: ${missing.join(', ')}. Install: apt-get install ${missing.join(' ')}`]
}

function firstWord(line: string): string {
  return line.trim().split(/\s+/)[0] ?? ''
}
