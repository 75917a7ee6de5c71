// A file with the id of the process, for those who send it signals.
import { readFileSync, unlinkSync, writeFileSync } from 'node:fs'

/** Replaces a file that is there: which server runs is decided by the lock of the data. @throws the system's error */
export function writePidFile(path: string, pid: number): void {
  writeFileSync(path, `${pid}\n`, { mode: 0o644 })
}

/** Removes the file unless another process has written it since. */
export function removePidFile(path: string, pid: number): void {
  try {
    if (readFileSync(path, 'latin1') === `${pid}\n`) unlinkSync(path)
  } catch {
    // The file is gone already.
  }
}
