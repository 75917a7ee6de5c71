// A file on this machine. A write goes to the kernel's memory and takes microseconds, so it is synchronous. Requests
// that waited for it continue in the same tick. Every thread appends to the file on its own, each with its own chain;
// the system keeps the bytes of one call together.
import { type AuditFile, DeviceError, type FileRule, openAuditFile, systemCodeOf } from './audit-file.ts'
import { type Device, DeviceChain, type DeviceParts, type LogFile } from './device.ts'
import type { EntryType } from './line-stream.ts'

/** Least time between two attempts to open a file that cannot be written. */
const RETRY_MS = 1_000
/** Errors of a file that is there but takes nothing: opening it anew would not help. */
const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'short write'])

/** A device that appends to a file on this machine, within the call that records. */
export class FileDevice implements Device {
  readonly path: string
  readonly format: DeviceParts['format']
  readonly hmac: DeviceParts['hmac']
  readonly #parts: DeviceParts
  readonly #target: LogFile
  readonly #chain: DeviceChain
  #file: AuditFile | undefined
  #isFailing = false
  #isEnded = false
  /** Set between attempts; nothing is opened while it is. */
  #isWaiting = false

  private constructor(parts: DeviceParts, target: LogFile) {
    this.path = parts.path
    this.format = parts.format
    this.hmac = parts.hmac
    this.#parts = parts
    this.#target = target
    this.#chain = new DeviceChain(parts)
  }

  /** Opens a device. If the file cannot be opened, later entries try again. */
  static async open(parts: DeviceParts, target: LogFile): Promise<FileDevice> {
    const device = new FileDevice(parts, target)
    try {
      device.#take(await device.#openFile())
    } catch (cause) {
      device.#failed(cause instanceof DeviceError ? cause.message : systemCodeOf(cause))
    }
    return device
  }

  #openFile(): Promise<AuditFile> {
    const rule: FileRule = this.#parts.isDeclared ? 'any' : 'empty-or-ours'
    return openAuditFile(this.#target.path, this.#target.mode, rule, this.#parts.files)
  }

  #take(file: AuditFile): void {
    this.#file = file
    if (this.#chain.isStarted || this.#chain.waiting > 0) this.#chain.continueIn(file.isMidLine)
    else this.#chain.renew(file.found, file.isMidLine)
  }

  get waiting(): number {
    return this.#chain.waiting
  }

  append(type: EntryType, body: string, rest: string): boolean {
    this.#chain.append(type, body, rest)
    return true
  }

  begin(): void {
    this.#chain.begin()
  }

  checkpoint(): void {
    this.#chain.checkpoint()
  }

  flush(): boolean {
    const bytes = this.#chain.gathered
    if (bytes.length === 0) return !this.#isFailing
    const stored = this.#write(bytes)
    this.#chain.settle(stored)
    return stored === bytes.length
  }

  /**
   * Writes and returns how many bytes are stored. The rest of a short write is not retried: another
   * thread may have written after it.
   */
  #write(bytes: Buffer): number {
    if (this.#file === undefined) {
      this.#openAnew()
      return 0
    }
    try {
      const stored = this.#file.handle.append(bytes)
      if (stored === bytes.length) this.#works()
      else this.#failed('short write')
      return stored
    } catch (cause) {
      const code = systemCodeOf(cause)
      this.#failed(code)
      if (!FULL.has(code)) this.#openAnew()
      return 0
    }
  }

  #works(): void {
    if (!this.#isFailing) return
    this.#isFailing = false
    this.#parts.log('info', 'An audit device can be written again', { device: this.path })
  }

  #failed(why: string): void {
    if (this.#isFailing) return
    this.#isFailing = true
    this.#parts.log('error', 'An audit device cannot be written', { device: this.path, cause: why })
  }

  /** Opens the file in the background; requests meanwhile are told at once that nothing is stored here. */
  #openAnew(): void {
    if (this.#isWaiting || this.#isEnded) return
    this.#isWaiting = true
    this.#parts.timers.after(RETRY_MS, () => {
      this.#isWaiting = false
    })
    this.#openFile().then(
      (file) => {
        const before = this.#file
        if (this.#isEnded) letGo(file)
        else this.#take(file)
        letGo(before)
      },
      () => {},
    )
  }

  async reopen(): Promise<(() => void) | 'kept'> {
    try {
      const file = await this.#openFile()
      return () => {
        // The device ended meanwhile. The handle must be closed: an open one would end
        // the process when it is collected.
        if (this.#isEnded) {
          letGo(file)
          return
        }
        const before = this.#file
        if (before !== undefined) this.#markIn(before, 'reopen')
        this.#take(file)
        letGo(before)
      }
    } catch (cause) {
      // The device stays with the file that it has: a log in the wrong place is better than none.
      const why = cause instanceof DeviceError ? cause.message : systemCodeOf(cause)
      this.#parts.log('error', 'An audit device could not be reopened', { device: this.path, cause: why })
      return 'kept'
    }
  }

  #markIn(file: AuditFile, event: 'reopen' | 'end'): void {
    this.#chain.mark(event)
    const bytes = this.#chain.gathered
    if (bytes.length === 0) return
    let stored = 0
    try {
      stored = file.handle.append(bytes)
    } catch {
      // Without this mark the chain has no end, which a verifier reports.
    }
    this.#chain.settle(stored)
  }

  async end(): Promise<void> {
    this.#isEnded = true
    const file = this.#file
    this.#file = undefined
    if (file !== undefined) {
      this.#markIn(file, 'end')
      await file.handle.close().catch(() => {})
    }
    this.#chain.end()
  }
}

function letGo(file: AuditFile | undefined): void {
  void file?.handle.close().catch(() => {})
}

/** Stores nothing and reports success: for measuring what audit costs, and for servers that need none. */
export class DiscardDevice implements Device {
  readonly path: string
  readonly format: DeviceParts['format']
  readonly hmac: DeviceParts['hmac']
  readonly waiting = 0

  constructor({ path, format, hmac }: DeviceParts) {
    this.path = path
    this.format = format
    this.hmac = hmac
  }

  begin(): void {}
  append(): boolean {
    return true
  }
  checkpoint(): void {}
  flush(): boolean {
    return true
  }
  async reopen(): Promise<undefined> {}
  async end(): Promise<void> {}
}
