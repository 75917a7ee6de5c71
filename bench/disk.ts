// The rate at which the disk makes small writes durable. No server can acknowledge single writes faster than that; it
// can only acknowledge several together.
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** About what one commit adds to the journal. */
const WRITE_BYTES = 4096 * 3

/** Appends and syncs by turns for `seconds`, and returns the rate. The file in `directory` is removed. */
export function syncsPerSecond(directory: string, seconds: number): number {
  const path = join(directory, 'sync-rate')
  const file = openSync(path, 'w', 0o600)
  try {
    const bytes = Buffer.alloc(WRITE_BYTES, 's')
    const startMs = performance.now()
    let syncs = 0
    while (performance.now() - startMs < seconds * 1000) {
      writeSync(file, bytes)
      fdatasyncSync(file)
      syncs += 1
    }
    return syncs / ((performance.now() - startMs) / 1000)
  } finally {
    closeSync(file)
    rmSync(path)
  }
}
