// Files of audit devices in memory. They outlive a server that is killed, as files do.
import { constants } from 'node:fs'
import type { AuditFiles, AuditHandle } from '../../src/audit/audit-files.ts'

const REGULAR_FILE = 0o100_000
/** The number of a file system on this machine: ext4. */
const LOCAL = 0xef53

type Content = { mode: number; parts: Buffer[] }

/** The error that the system would throw. */
const systemError = (code: string): Error => Object.assign(new Error(code), { code })

/** All the files of one simulated machine. */
export class SimulatedFiles implements AuditFiles {
  readonly #contents = new Map<string, Content>()

  /** What stands in the file; empty if there is none. */
  read(path: string): Buffer {
    const content = this.#contents.get(path)
    return content === undefined ? Buffer.alloc(0) : Buffer.from(bytesOf(content))
  }

  /** Moves a file away, as a rotation of logs does. */
  rename(path: string, to: string): void {
    const content = this.#contents.get(path)
    if (content === undefined) throw systemError('ENOENT')
    this.#contents.set(to, content)
    this.#contents.delete(path)
  }

  async open(path: string, flags: number, mode = 0): Promise<AuditHandle> {
    const known = this.#contents.get(path)
    if (known !== undefined && (flags & constants.O_EXCL) !== 0) throw systemError('EEXIST')
    if (known === undefined && (flags & constants.O_CREAT) === 0) throw systemError('ENOENT')
    const content = known ?? { mode, parts: [] }
    this.#contents.set(path, content)
    return handleOf(content)
  }

  async statfs(): Promise<{ readonly type: number }> {
    return { type: LOCAL }
  }

  async unlink(path: string): Promise<void> {
    if (!this.#contents.delete(path)) throw systemError('ENOENT')
  }
}

function bytesOf(content: Content): Buffer {
  const bytes = Buffer.concat(content.parts)
  content.parts = [bytes]
  return bytes
}

function handleOf(content: Content): AuditHandle {
  const append = (bytes: Buffer): number => {
    // The caller writes its next lines into the same memory.
    content.parts.push(Buffer.from(bytes))
    return bytes.length
  }
  return {
    stat: async () => ({ isFile: () => true, size: bytesOf(content).length, mode: REGULAR_FILE | content.mode }),
    read: async (into, offset, length, position) => ({
      bytesRead: bytesOf(content).copy(into, offset, position, position + length),
    }),
    append,
    write: async (bytes) => ({ bytesWritten: append(bytes) }),
    chmod: async (mode) => {
      content.mode = mode
    },
    close: async () => {},
  }
}
