// From what is stored of a device to one that can be written.
import { unlink } from 'node:fs/promises'
import { fail } from '../api/errors.ts'
import type { Timers } from '../lib/world.ts'
import { codeOf, DeviceError, isRemoteFile, openAuditFile } from './audit-file.ts'
import type { Device, DeviceParts } from './device.ts'
import { DiscardDevice, FileDevice } from './file-device.ts'
import { QueuedDevice } from './queued-device.ts'
import { longestLine, openRemoteFile, openSocket, openStdout, PLAIN_LINES, syslogFraming } from './sinks.ts'

/** One that cannot be reached is tried again with the entries to come. */
export async function openDevice(parts: DeviceParts): Promise<Device> {
  const { target } = parts.settings
  switch (target.kind) {
    case 'discard':
      return new DiscardDevice(parts)
    case 'stdout':
      return new QueuedDevice(parts, () => openStdout(parts.timers))
    case 'socket':
      return new QueuedDevice(parts, openSocket(target.socket, PLAIN_LINES), {
        longestLine: longestLine(target.socket),
      })
    case 'syslog':
      return new QueuedDevice(parts, openSocket(target.socket, syslogFraming(target.header, target.socket.type)), {
        longestLine: longestLine(target.socket, target.header),
      })
    case 'file': {
      if (!(await mayHang(target.file, parts))) return FileDevice.open(parts, target)
      const rule = parts.isDeclared ? 'any' : 'empty-or-ours'
      return new QueuedDevice(parts, () => openRemoteFile(target.file, target.mode, rule), { canReopen: true })
    }
  }
}

/** A file system that does not even say what it is may hang at a write, too. */
function mayHang(file: string, { timers, settings }: DeviceParts): Promise<boolean> {
  return within(timers, settings.deadlineMs, isRemoteFile(file), true).catch((cause: unknown) => {
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

/** How long the word that nobody listens, where datagrams go, is waited for. */
const DATAGRAM_REFUSAL_MS = 100

/**
 * Makes sure that a new device can be written, with a chain of two lines; a file must be new, or an audit log of ours
 * (threats U-07). @throws Refusal that says why not
 */
export async function requireUsable(parts: DeviceParts): Promise<void> {
  const { target } = parts.settings
  const isNew = target.kind === 'file' && (await makeFile(target.file, target.mode))
  let why = ''
  let hasFailed = false
  const device = await openDevice({
    ...parts,
    log: (level, _message, fields) => {
      why = String(fields?.cause ?? '')
      hasFailed ||= level === 'error'
    },
  })
  device.begin()
  const isStored = await device.flush()
  // A datagram that nobody takes is sent all the same: it is the next one, the last line, that is told.
  if (isStored && 'socket' in target && target.socket.type === 'udp') await parts.timers.sleep(DATAGRAM_REFUSAL_MS)
  await device.end()
  if (isStored && !hasFailed) return
  if (isNew) await unlink(target.file).catch(() => {})
  throw fail('audit_device_unusable', [`the audit device cannot be written: ${why}`])
}

/** Whether it was not there before. */
async function makeFile(file: string, mode: number): Promise<boolean> {
  try {
    const opened = await openAuditFile(file, mode, 'new-or-ours')
    const { size } = await opened.handle.stat()
    await opened.handle.close()
    return size === 0
  } catch (cause) {
    throw fail('audit_device_unusable', [cause instanceof DeviceError ? cause.message : codeOf(cause)], cause)
  }
}
