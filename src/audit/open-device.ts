// Opens devices, and checks new ones.
import { fail } from '../api/errors.ts'
import { DeviceError, openAuditFile, systemCodeOf } from './audit-file.ts'
import { type AuditFiles, SYSTEM_FILES } from './audit-files.ts'
import type { Device, DeviceParts, LogFile } from './device.ts'

/** Opens a device. One that cannot be reached tries again with later entries. */
export const openDevice = (parts: DeviceParts): Promise<Device> => parts.settings.target.open(parts)

/**
 * Checks that a new device can be written, by a chain of two lines; a file must be new, or an audit log of ours
 * (threats U-07). @throws Refusal that says why not
 */
export async function requireUsableTarget(parts: DeviceParts): Promise<void> {
  const { files = SYSTEM_FILES, settings } = parts
  const { target } = settings
  const isNew = target.file !== undefined && (await makeFile(target.file, files))
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
  // A datagram that no process takes is sent all the same: the system reports it only for the next one, the last line.
  if (isStored && target.lateRefusalMs > 0) await parts.timers.sleep(target.lateRefusalMs)
  await device.end()
  if (isStored && !hasFailed) return
  if (target.file !== undefined && isNew) await files.unlink(target.file.path).catch(() => {})
  throw fail('audit_device_unusable', [`the audit device cannot be written: ${why}`])
}

/** Creates the file; true if it was not there before, or empty. */
async function makeFile({ path, mode }: LogFile, files: AuditFiles): Promise<boolean> {
  try {
    const opened = await openAuditFile(path, mode, 'new-or-ours', files)
    const { size } = await opened.handle.stat()
    await opened.handle.close()
    return size === 0
  } catch (cause) {
    throw fail('audit_device_unusable', [cause instanceof DeviceError ? cause.message : systemCodeOf(cause)], cause)
  }
}
