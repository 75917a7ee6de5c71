// The log of the server: one line an entry, on standard error. A log that cannot be written (closed pipe, full disk)
// must not end the server (threats N-21): lines are dropped and counted.
import type { Writable } from 'node:stream'
import type { Log } from './log.ts'
import type { Clock } from './world.ts'

const MAX_BUFFERED_BYTES = 1 << 20

export function logTo(stream: Writable, clock: Clock): Log {
  let dropped = 0
  stream.on('error', () => {
    dropped++
  })
  return (level, message, fields = {}) => {
    if (stream.writableLength > MAX_BUFFERED_BYTES || stream.destroyed) {
      dropped++
      return
    }
    const extra = Object.entries({ ...fields, ...(dropped === 0 ? {} : { dropped_lines: dropped }) })
    dropped = 0
    const tail = extra
      .map(([name, value]) => ` ${name}=${typeof value === 'string' ? JSON.stringify(value) : value}`)
      .join('')
    stream.write(`${new Date(clock.nowMs()).toISOString()} ${level.padEnd(5)} ${message}${tail}\n`)
  }
}
