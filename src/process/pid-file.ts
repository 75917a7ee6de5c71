// A file with the id of the process, for whoever sends it signals.
import { readFileSync, unlinkSync, writeFileSync } from 'node:fs'

/** Over one that is there: who runs is decided by the lock of the data. @throws the system's error */
export function writePidFile(path: string, pid: number): void {
  writeFileSync(path, `${pid}\n`, { mode: 0o644 })
}

/** Unless another process has written it since. */
export function removePidFile(path: string, pid: number): void {
  try {
    if (readFileSync(path, 'latin1') === `${pid}\n`) unlinkSync(path)
  } catch {
    // It was removed by somebody else.
  }
}
