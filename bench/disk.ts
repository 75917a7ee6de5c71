// How often the disk itself makes a small write durable: no server can acknowledge single writes faster than that, only
// several of them together.
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** About what one commit adds to the journal. */
const WRITE_BYTES = 4096 * 3

/** Appends and syncs one after the other for so long. */
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
