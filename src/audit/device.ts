// What every audit device has, whatever it writes to: a salt, a form of entries, and the chain of its lines.
import type { SaltedHmac } from '../crypto/primitives/salted-hmac.ts'
import type { Log } from '../lib/log.ts'
import type { Timers } from '../lib/world.ts'
import { quoted } from './ascii-json.ts'
import type { FoundStream } from './audit-file.ts'
import type { StreamSlot } from './chain-heads.ts'
import type { EntryFormat, FormatOptions } from './entry-text.ts'
import { type EntryType, LineStream } from './line-stream.ts'

/** One device as one thread has it. */
export interface Device {
  readonly path: string
  readonly format: EntryFormat
  readonly hmac: SaltedHmac
  /** Bytes that wait for `flush`. */
  readonly waiting: number
  /**
   * `body` and `rest` together: members of the line behind its type. It waits for `flush`. False where the device
   * cannot take this entry, though it may take others.
   */
  append(type: EntryType, body: string, rest: string): boolean
  /** Begins its chain, where that is not done: waits for `flush`. */
  begin(): void
  /** Vouches for what was appended since the last time; that waits for `flush`, too. */
  checkpoint(): void
  /** Whether all that waited is stored now: at once, or when it is known. Never rejects. */
  flush(): boolean | Promise<boolean>
  /**
   * Its file was moved away: opens the one that is there now. What is given back lets the chain go on in it, and is
   * called when nothing waits. Undefined where there is nothing to reopen; 'kept' where it goes on in the one that it
   * has, which the log says. Never rejects.
   */
  reopen(): Promise<(() => void) | 'kept' | undefined>
  /** Ends the chain and lets go of the file or connection; called when nothing waits. Never rejects. */
  end(): Promise<void>
}

/** A file that lines are appended to. */
export type LogFile = { readonly path: string; readonly mode: number }

/** Where a device writes, as the options of its type say. */
export interface Target {
  /** Undefined where it writes to something else than a file. */
  readonly file: LogFile | undefined
  /** So long after a write that was good it may still be told that nobody takes it; 0: what is written was taken. */
  readonly lateRefusalMs: number
  /** One that cannot be reached is tried again with the entries to come. */
  open(parts: DeviceParts): Promise<Device>
}

export type DeviceSettings = {
  readonly target: Target
  readonly format: FormatOptions
  readonly prefix: string
  /** After so long without an answer a device counts as failed (threats P-39). */
  readonly deadlineMs: number
}

export type DeviceParts = {
  readonly path: string
  readonly settings: DeviceSettings
  readonly isDeclared: boolean
  readonly hmac: SaltedHmac
  readonly format: EntryFormat
  readonly timers: Timers
  readonly log: Log
  readonly chain: ChainParts
}

/** Of the thread and the cluster: how chains are made. */
export type ChainParts = {
  readonly newId: () => string
  readonly time: () => string
  readonly sign: (text: string) => string
  /** Of what signs, in base64. */
  readonly publicKey: string
  /** `writing`, `serving`: which of the threads writes. */
  readonly thread: string
  /** A place where the running server tells how far the chain is. */
  readonly slot: (streamId: string, devicePath: string) => StreamSlot
  /** Where the state came from a snapshot: said by the start of each chain. */
  readonly restored?: RestoredState | undefined
}

/** When it was, and the public key that signed here before; '' where it is the same, or not known. */
export type RestoredState = { readonly at: string; readonly before: string }

const restoredText = (restored: RestoredState | undefined): string =>
  restored === undefined ? '' : `,"restored":{"at":${quoted(restored.at)},"before":${quoted(restored.before)}}`

/** The chain of a device, from one opening to the next. */
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

  /** What follows is another chain: the connection is a new one, or the file was opened for the first time. */
  renew(found: readonly FoundStream[] = [], isMidLine = false): void {
    this.#slot?.release()
    this.#slot = undefined
    this.#stream = this.#newStream(isMidLine)
    this.#found = found
  }

  /** The chain goes on in another file. */
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

  /** An entry that is not written here, told of like one that was lost. */
  skip(): void {
    this.#stream.skip()
  }

  /** The first line says what the chain is, and what stood in the file before it. */
  begin(): void {
    if (this.#stream.isStarted) return
    const { path, chain, settings } = this.#parts
    const found = this.#found.map(({ stream, seq, hash }) => `{"stream":"${stream}","seq":${seq},"hash":"${hash}"}`)
    const members = `,"device":${quoted(path)},"thread":"${chain.thread}","public_key":"${chain.publicKey}"`
    const { target, prefix } = settings
    // What a file has in front of its lines nobody else put there: whoever checks the log compares it.
    const front = target.file !== undefined ? `,"prefix":${quoted(prefix)}` : ''
    this.#stream.mark('start', `${members}${front}${restoredText(chain.restored)},"found":[${found.join(',')}]`)
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

  /** The chain ends here: what the running server tells of it stays as it is. */
  end(): void {
    this.#slot?.end()
  }
}
