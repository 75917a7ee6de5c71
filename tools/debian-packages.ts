// Tells which Debian packages would have kept tests from being skipped. The list of packages that tests use is
// .ci/packages alone.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const LIST = '.ci/packages'

/** Reads the names of the packages, in the order of the list: one a line, with its reason behind it. */
export function listedPackages(root: string): string[] {
  const path = join(root, LIST)
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8')
    .split('\n')
    .map(firstWord)
    .filter((name) => name !== '' && name !== '#')
}

/** Returns one line, or none: the packages to install, if tests were skipped for want of them. */
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
