// What the devices ask of the system that holds their files. A simulation hands in files of its own.
import { writeSync } from 'node:fs'
import { open, statfs, unlink } from 'node:fs/promises'

/** One open file, for reading and appending. Its calls throw system errors. */
export interface AuditHandle {
  stat(): Promise<{ isFile(): boolean; readonly size: number; readonly mode: number }>
  read(into: Buffer, offset: number, length: number, position: number): Promise<{ readonly bytesRead: number }>
  /** Appends within the call, and returns how many bytes are stored. */
  append(bytes: Buffer): number
  /** The same where it may wait. */
  write(bytes: Buffer): Promise<{ readonly bytesWritten: number }>
  chmod(mode: number): Promise<void>
  close(): Promise<void>
}

/** The files that devices can reach. Its calls throw system errors. */
export interface AuditFiles {
  /** `flags` are those of open(2). */
  open(path: string, flags: number, mode?: number): Promise<AuditHandle>
  /** The kind of the file system, as statfs(2) numbers them. */
  statfs(directory: string): Promise<{ readonly type: number }>
  unlink(path: string): Promise<void>
}

/** Those of this machine. */
export const SYSTEM_FILES: AuditFiles = {
  open: async (path, flags, mode) => {
    const handle = await open(path, flags, mode)
    return Object.assign(handle, { append: (bytes: Buffer): number => writeSync(handle.fd, bytes) })
  },
  statfs: (directory) => statfs(directory),
  unlink: (path) => unlink(path),
}
