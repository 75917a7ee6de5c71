// The common part of all audit devices: a salt, a format of entries, and the chain of its lines.
import type { SaltedHmac } from '../crypto/primitives/salted-hmac.ts'
import type { Log } from '../lib/log.ts'
import type { Timers } from '../lib/world.ts'
import { quoted } from './ascii-json.ts'
import type { FoundStream } from './audit-file.ts'
import type { AuditFiles } from './audit-files.ts'
import type { StreamSlot } from './chain-heads.ts'
import type { EntryFormat, FormatOptions } from './entry-text.ts'
import { type EntryType, LineStream } from './line-stream.ts'

/** One device in one thread. Each thread has its own chain in it. */
export interface Device {
  readonly path: string
  readonly format: EntryFormat
  readonly hmac: SaltedHmac
  /** Bytes that were appended and wait for `flush`. */
  readonly waiting: number
  /**
   * Appends an entry: `body` and `rest` together are the members of the line after its type. It waits for `flush`.
   * Returns false if the device cannot take this entry, though it may take others.
   */
  append(type: EntryType, body: string, rest: string): boolean
  /** Begins the chain, unless it has begun; the line waits for `flush`. */
  begin(): void
  /** Appends a signed line that covers everything since the last one; it waits for `flush`. */
  checkpoint(): void
  /** Writes what waits. True if all of it is stored; a promise if that is known only later. Never rejects. */
  flush(): boolean | Promise<boolean>
  /**
   * Opens the file anew after it was moved away. The returned function lets the chain continue in the new file, and is
   * called when nothing waits. Undefined if there is nothing to reopen; 'kept' if the device continues in its old file,
   * which the log says. Never rejects.
   */
  reopen(): Promise<(() => void) | 'kept' | undefined>
  /** Ends the chain and closes file or connection; called when nothing waits. Never rejects. */
  end(): Promise<void>
}

/** A file that lines are appended to, with its permission bits. */
export type LogFile = { readonly path: string; readonly mode: number }

/** The target that a device writes to, as the options of its type name it. */
export interface Target {
  /** Undefined if the device does not write to a file. */
  readonly file: LogFile | undefined
  /**
   * How long after a successful write the system may still report that no process took it; 0: a
   * write that succeeds was taken.
   */
  readonly lateRefusalMs: number
  /** Opens a device. One that cannot be reached is opened nevertheless, and tries again with later entries. */
  open(parts: DeviceParts): Promise<Device>
}

/** The decoded options of a device. */
export type DeviceSettings = {
  readonly target: Target
  readonly format: FormatOptions
  readonly prefix: string
  /** Time without an answer after which a device counts as failed (threats P-39). */
  readonly deadlineMs: number
}

/** The parts that a device is opened with. DeviceTable makes them. */
export type DeviceParts = {
  readonly path: string
  readonly settings: DeviceSettings
  readonly isDeclared: boolean
  readonly hmac: SaltedHmac
  readonly format: EntryFormat
  readonly timers: Timers
  /** Missing: those of this machine. */
  readonly files?: AuditFiles | undefined
  readonly log: Log
  readonly chain: ChainParts
}

/** The parts of a chain that come from the thread and the cluster. */
export type ChainParts = {
  readonly newId: () => string
  readonly time: () => string
  readonly sign: (text: string) => string
  /** Public key of the signatures, in base64. */
  readonly publicKey: string
  /** The thread that writes: `writing` or `serving`. */
  readonly thread: string
  /** Takes the slot that publishes the head of a chain. */
  readonly slot: (streamId: string, devicePath: string) => StreamSlot
  /** How the state began; the start of each chain says so. */
  readonly origin?: StateOrigin
}

/** Time of the restore, and the public key that signed here before; '' if it is the same, or unknown. */
export type RestoredState = { readonly at: string; readonly before: string }

/** Time of the promotion, and the epoch that began with it. */
export type PromotedState = { readonly at: string; readonly epoch: number }

/** The last restore from a snapshot, and the last promotion of this cluster, if there was one. */
export type StateOrigin = {
  readonly restored?: RestoredState | undefined
  readonly promoted?: PromotedState | undefined
}

function originText({ restored, promoted }: StateOrigin = {}): string {
  const one = restored && `,"restored":{"at":${quoted(restored.at)},"before":${quoted(restored.before)}}`
  const other = promoted && `,"promoted":{"at":${quoted(promoted.at)},"epoch":${promoted.epoch}}`
  return (one ?? '') + (other ?? '')
}

/**
 * The chain of a device, from one opening to the next. It joins the lines, the published head
 * and the ends found in the file.
 */
export class DeviceChain {
  readonly #parts: DeviceParts
  #stream: LineStream
  #slot: StreamSlot | undefined
  #found: readonly FoundStream[] = []

  constructor(parts: DeviceParts) {
    this.#parts = parts
    this.#stream = this.#newStream(false)
  }

  #newStream(isMidLine: boolean): LineStream {
    const { settings, chain } = this.#parts
    const { newId, time, sign } = chain
    return new LineStream({ id: newId(), prefix: settings.prefix, time, sign }, isMidLine)
  }

  /** Begins another chain: the connection is new, or the file was opened for the first time. */
  renew(found: readonly FoundStream[] = [], isMidLine = false): void {
    this.#slot?.release()
    this.#slot = undefined
    this.#stream = this.#newStream(isMidLine)
    this.#found = found
  }

  /** Continues the chain in another file. */
  continueIn(isMidLine: boolean): void {
    if (isMidLine) this.#stream.continueMidLine()
  }

  get isStarted(): boolean {
    return this.#stream.isStarted
  }

  get waiting(): number {
    return this.#stream.length
  }

  get gathered(): Buffer {
    return this.#stream.gathered
  }

  append(type: EntryType, body: string, rest: string): void {
    this.begin()
    this.#stream.append(type, body, rest)
  }

  /** Counts an entry that is not written here; the chain reports it like one that was lost. */
  skip(): void {
    this.#stream.skip()
  }

  /** Writes the first line, which says what the chain is and what stood in the file before it. */
  begin(): void {
    if (this.#stream.isStarted) return
    const { path, chain, settings } = this.#parts
    const found = this.#found.map(({ stream, seq, hash }) => `{"stream":"${stream}","seq":${seq},"hash":"${hash}"}`)
    const members = `,"device":${quoted(path)},"thread":"${chain.thread}","public_key":"${chain.publicKey}"`
    const { target, prefix } = settings
    // Only the server writes to the file, so a verifier can compare the text in front of its lines with this.
    const front = target.file !== undefined ? `,"prefix":${quoted(prefix)}` : ''
    this.#stream.mark('start', `${members}${front}${originText(chain.origin)},"found":[${found.join(',')}]`)
  }

  checkpoint(): void {
    if (!this.#stream.isSigned) this.#stream.mark('checkpoint')
  }

  mark(event: 'reopen' | 'end'): void {
    if (this.#stream.isStarted) this.#stream.mark(event)
  }

  settle(storedBytes: number): void {
    this.#stream.settle(storedBytes)
    const { chain, path } = this.#parts
    this.#slot ??= chain.slot(this.#stream.id, path)
    this.#slot.publish(this.#stream.head)
  }

  /** Ends the chain; its published head stays as it is. */
  end(): void {
    this.#slot?.end()
  }
}
