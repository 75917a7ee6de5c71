// Reads a stored record from front to back. Nothing is taken that is not there: a length is held against what is
// left before a byte of it is touched, and each complaint names the record and the field.

import { faultOfKey } from '../classes.ts'
import { StorageCorrupt } from '../contract.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export class RecordReader {
  readonly #record: Buffer
  readonly #place: string
  #at = 0

  constructor(record: Buffer, place: string) {
    this.#record = record
    this.#place = place
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

  /** Below 2^53, so that it is exact as a number. */
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

  text(count: number, field: string): string {
    try {
      return utf8.decode(this.bytes(count, field))
    } catch (cause) {
      if (cause instanceof StorageCorrupt) throw cause
      throw this.fault(`${field} is not UTF-8`)
    }
  }

  key(count: number, field: string): string {
    const key = this.text(count, field)
    const fault = faultOfKey(key)
    if (fault !== undefined) throw this.fault(`${field} cannot be a key`)
    return key
  }

  fault(what: string): StorageCorrupt {
    return new StorageCorrupt(`The ${this.#place} cannot be read: ${what}`)
  }

  #take(count: number, field: string): number {
    const start = this.#at
    if (count > this.#record.length - start) throw this.fault(`it ends at byte ${this.#record.length}, inside ${field}`)
    this.#at = start + count
    return start
  }
}
