// Reads a stored record from front to back. A length is compared with what is left before a byte is touched, so a
// damaged one costs no memory. Each error names the record and the field.

import { faultOfKey } from '../classes.ts'
import { StorageCorrupt, UnknownFormat } from '../errors.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Every reading method takes the name of the field for its error, and throws StorageCorrupt. */
export class RecordReader {
  readonly #record: Buffer
  readonly #name: string
  #at = 0

  constructor(record: Buffer, name: string) {
    this.#record = record
    this.#name = name
  }

  get atEnd(): boolean {
    return this.#at === this.#record.length
  }

  u8(field: string): number {
    return this.#record.readUInt8(this.#take(1, field))
  }

  u16(field: string): number {
    return this.#record.readUInt16BE(this.#take(2, field))
  }

  u32(field: string): number {
    return this.#record.readUInt32BE(this.#take(4, field))
  }

  /** A number below 2^53, so that it is exact. */
  u64(field: string): number {
    const value = Number(this.#record.readBigUInt64BE(this.#take(8, field)))
    if (!Number.isSafeInteger(value)) throw this.fault(`${field} is beyond 2^53`)
    return value
  }

  /** A view of the record's bytes, not a copy. */
  bytes(count: number, field: string): Buffer {
    const start = this.#take(count, field)
    return this.#record.subarray(start, start + count)
  }

  /** Text of `count` bytes, which must be UTF-8: a replacement character would make another key of it. */
  text(count: number, field: string): string {
    try {
      return utf8.decode(this.bytes(count, field))
    } catch (cause) {
      if (cause instanceof StorageCorrupt) throw cause
      throw this.fault(`${field} is not UTF-8`)
    }
  }

  /** Text that can be a stored key (classes.ts). */
  key(count: number, field: string): string {
    const key = this.text(count, field)
    const fault = faultOfKey(key)
    if (fault !== undefined) throw this.fault(`${field} cannot be a key`)
    return key
  }

  /** An error to throw; `what` continues its sentence. */
  fault(what: string): StorageCorrupt {
    return new StorageCorrupt(`The ${this.#name} cannot be read: ${what}`)
  }

  /** The same for what only a newer program can have written. */
  unknown(what: string): UnknownFormat {
    return new UnknownFormat(`The ${this.#name} cannot be read: ${what}`)
  }

  #take(count: number, field: string): number {
    const start = this.#at
    if (count > this.#record.length - start) throw this.fault(`it ends at byte ${this.#record.length}, inside ${field}`)
    this.#at = start + count
    return start
  }
}
