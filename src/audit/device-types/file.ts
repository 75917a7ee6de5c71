// The type `file`: a file, standard output, or nothing at all.
import type { Timers } from '../../lib/world.ts'
import { DeviceError, isRemoteFile } from '../audit-file.ts'
import type { DeviceParts, LogFile, Target } from '../device.ts'
import { DiscardDevice, FileDevice } from '../file-device.ts'
import { QueuedDevice } from '../queued-device.ts'
import { openRemoteFile, openStdout } from '../sinks.ts'
import { type DeviceType, type Options, refusal } from './device-type.ts'

const DEFAULT_MODE = 0o600
const WIDEST_MODE = 0o660

/** Devices of the type `file`. The words `stdout` and `discard` take the place of a path. */
export const FILE: DeviceType = {
  name: 'file',
  oneOf: 'a file',
  options: ['file_path', 'path', 'mode'],
  oldOptions: ['path'],
  target: (options) => {
    const path = pathOf(options)
    if (path === 'stdout') return STDOUT
    if (path === 'discard' || path === '/dev/null') return DISCARD
    if (!path.startsWith('/') || path.includes('\0'))
      throw refusal('the option file_path must be an absolute path, stdout or discard')
    return fileTarget({ path, mode: modeOf(options.mode) })
  },
}

function pathOf({ file_path: named, path: old }: Options): string {
  if (named !== undefined && old !== undefined) throw refusal('the options file_path and path name the same: give one')
  const path = named ?? old
  if (path === undefined || path === '') throw refusal('file_path is required') // Wire text.
  return path
}

/**
 * Reads the mode: read and write for owner and group at most. A log is never executable, nor
 * readable by everybody (threats U-07).
 */
function modeOf(text: string | undefined): number {
  if (text === undefined || text === '') return DEFAULT_MODE
  const mode = /^[0-7]{3,4}$/.test(text) ? Number.parseInt(text, 8) : Number.NaN
  if (Number.isNaN(mode) || (mode & ~WIDEST_MODE) !== 0 || (mode & DEFAULT_MODE) !== DEFAULT_MODE)
    throw refusal('the option mode must be octal, with 0600 and at most 0660')
  return mode
}

const STDOUT: Target = {
  file: undefined,
  lateRefusalMs: 0,
  open: async (parts) => new QueuedDevice(parts, () => openStdout(parts.timers)),
}

const DISCARD: Target = { file: undefined, lateRefusalMs: 0, open: async (parts) => new DiscardDevice(parts) }

const fileTarget = (file: LogFile): Target => ({
  file,
  lateRefusalMs: 0,
  open: async (parts) => {
    if (!(await mayHang(file.path, parts))) return FileDevice.open(parts, file)
    const rule = parts.isDeclared ? 'any' : 'empty-or-ours'
    return new QueuedDevice(parts, () => openRemoteFile(file, rule, parts.files), { canReopen: true })
  },
})

/** True if writes may hang. A file system that does not answer what kind it is counts as one where they may. */
function mayHang(path: string, { timers, settings, files }: DeviceParts): Promise<boolean> {
  return within(timers, settings.deadlineMs, isRemoteFile(path, files), true).catch((cause: unknown) => {
    if (cause instanceof DeviceError) return false
    throw cause
  })
}

async function within<T>(timers: Timers, ms: number, work: Promise<T>, late: T): Promise<T> {
  const { promise, resolve } = Promise.withResolvers<T>()
  const timer = timers.after(ms, () => resolve(late))
  work.catch(() => {})
  try {
    return await Promise.race([work, promise])
  } finally {
    timer.cancel()
  }
}
