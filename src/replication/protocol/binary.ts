// How the members of a message are written and read. Each kind of member is one value with both directions, and the
// TypeScript type of a message follows from its members. All numbers are big-endian.
import { strict as assert } from 'node:assert'
import { own } from '../../lib/own.ts'
import type { RecordReader } from '../../storage/log/record-reader.ts'

/** Bytes for the small members between two long ones. */
const SCRATCH_BYTES = 256

/** Collects the bytes of a message. Long ones are referred to, not copied. */
export class MessageWriter {
  readonly #parts: Buffer[] = []
  #scratch = Buffer.alloc(SCRATCH_BYTES)
  /** Where the bytes that are not yet among the parts begin and end. */
  #start = 0
  #end = 0

  /** Takes `count` bytes that the caller fills at once. */
  take(count: number): { readonly bytes: Buffer; readonly at: number } {
    assert(count <= SCRATCH_BYTES)
    if (this.#end + count > SCRATCH_BYTES) {
      this.#flush()
      this.#scratch = Buffer.alloc(SCRATCH_BYTES)
      this.#start = 0
      this.#end = 0
    }
    const at = this.#end
    this.#end += count
    return { bytes: this.#scratch, at }
  }

  /** Adds bytes that must stay as they are until the message was sent. */
  refer(bytes: Buffer): void {
    if (bytes.length === 0) return
    this.#flush()
    this.#parts.push(bytes)
  }

  /** All that was written, in order. */
  parts(): readonly Buffer[] {
    this.#flush()
    return this.#parts
  }

  #flush(): void {
    if (this.#start < this.#end) this.#parts.push(this.#scratch.subarray(this.#start, this.#end))
    this.#start = this.#end
  }
}

/** A kind of member. `read` throws StorageCorrupt with the name of the member, as RecordReader does. */
export type WireKind<T> = {
  readonly write: (to: MessageWriter, value: T) => void
  readonly read: (from: RecordReader, name: string) => T
}

/** The type of the values of a kind. */
export type WireValue<K> = K extends WireKind<infer T> ? T : never
type AnyWireKind = {
  readonly write: (to: MessageWriter, value: never) => void
  readonly read: (from: RecordReader, name: string) => unknown
}
/** WireMembers by name, in the order in which they are sent. */
export type WireMembers = Readonly<Record<string, AnyWireKind>>
/** The type of a group of these members. */
export type WireGroup<M> = { readonly [N in keyof M]: M[N] extends WireKind<infer T> ? T : never }

/** A number of 0 to 255. */
export const u8: WireKind<number> = {
  write: (to, value) => {
    const { bytes, at } = to.take(1)
    bytes.writeUInt8(value, at)
  },
  read: (from, name) => from.u8(name),
}

/** A number of 0 to 65,535. */
export const u16: WireKind<number> = {
  write: (to, value) => {
    const { bytes, at } = to.take(2)
    bytes.writeUInt16BE(value, at)
  },
  read: (from, name) => from.u16(name),
}

/** A number below 2^32. */
export const u32: WireKind<number> = {
  write: (to, value) => {
    const { bytes, at } = to.take(4)
    bytes.writeUInt32BE(value, at)
  },
  read: (from, name) => from.u32(name),
}

/** A number below 2^53. */
export const u64: WireKind<number> = {
  write: (to, value) => {
    const { bytes, at } = to.take(8)
    bytes.writeBigUInt64BE(BigInt(value), at)
  },
  read: (from, name) => from.u64(name),
}

/** True or false, as 1 or 0. */
export const flag: WireKind<boolean> = {
  write: (to, value) => u8.write(to, value ? 1 : 0),
  read: (from, name) => {
    const value = from.u8(name)
    if (value > 1) throw from.fault(`${name} is neither 0 nor 1`)
    return value === 1
  },
}

/** Exactly so many bytes. Those that are read are a view of the message. */
export function fixed(count: number): WireKind<Buffer> {
  return {
    write: (to, value) => {
      assert(value.length === count)
      to.refer(value)
    },
    read: (from, name) => from.bytes(count, name),
  }
}

/** At most `most` bytes, with their number before them. Those that are read are a view of the message. */
export function bytesUpTo(most: number): WireKind<Buffer> {
  return {
    write: (to, value) => {
      assert(value.length <= most)
      u32.write(to, value.length)
      to.refer(value)
    },
    read: (from, name) => {
      const length = from.u32(`length of ${name}`)
      if (length > most) throw from.fault(`${name} has ${length} bytes, of ${most} at most`)
      return from.bytes(length, name)
    },
  }
}

/** UTF-8 of at most `most` bytes. What is too long to be sent is cut: it is shown to people, and decides nothing. */
export function shownText(most: number): WireKind<string> {
  const { write, read } = text(most)
  return { write: (to, value) => write(to, cutTo(value, most)), read }
}

/** UTF-8 of at most `most` bytes, which are fewer than 65,536. */
export function text(most: number): WireKind<string> {
  return {
    write: (to, value) => {
      const encoded = Buffer.from(value)
      assert(encoded.length <= most)
      u16.write(to, encoded.length)
      to.refer(encoded)
    },
    read: (from, name) => {
      const length = from.u16(`length of ${name}`)
      if (length > most) throw from.fault(`${name} has ${length} bytes, of ${most} at most`)
      return from.text(length, name)
    },
  }
}

/** Key of a stored entry (src/storage/classes.ts). */
export const storedKey: WireKind<string> = {
  write: (to, value) => {
    const encoded = Buffer.from(value)
    u16.write(to, encoded.length)
    to.refer(encoded)
  },
  read: (from, name) => from.key(from.u16(`length of ${name}`), name),
}

/** One of these texts, sent as the number of its place. One that is not among them is of a newer program. */
export function numbered<const T extends string>(...texts: readonly T[]): WireKind<T> {
  return {
    write: (to, value) => u8.write(to, texts.indexOf(value) + 1),
    read: (from, name) => {
      const place = from.u8(name)
      const found = texts[place - 1]
      if (found === undefined) throw from.unknown(`${name} is the unknown number ${place}`)
      return found
    },
  }
}

/** A value that may be missing. */
export function optional<T>(kind: WireKind<T>): WireKind<T | undefined> {
  return {
    write: (to, value) => {
      flag.write(to, value !== undefined)
      if (value !== undefined) kind.write(to, value)
    },
    read: (from, name) => (flag.read(from, name) ? kind.read(from, name) : undefined),
  }
}

/** At most `most` values. Each takes a byte at least, so their number costs no memory before they are there. */
export function list<T>(kind: WireKind<T>, most: number): WireKind<readonly T[]> {
  return {
    write: (to, values) => {
      assert(values.length <= most)
      u32.write(to, values.length)
      for (const value of values) kind.write(to, value)
    },
    read: (from, name) => {
      const count = from.u32(`number of ${name}`)
      if (count > most) throw from.fault(`it has ${count} ${name}, of ${most} at most`)
      const values: T[] = []
      for (let at = 0; at < count; at++) values.push(kind.read(from, name))
      return values
    },
  }
}

/** A list of texts that are all different, as a set. */
export function setOf(kind: WireKind<string>, most: number): WireKind<ReadonlySet<string>> {
  const { write, read } = list(kind, most)
  return {
    write: (to, value) => write(to, [...value]),
    read: (from, name) => {
      const texts = read(from, name)
      const found = new Set(texts)
      if (found.size < texts.length) throw from.fault(`${name} has something twice`)
      return found
    },
  }
}

/** A list of pairs whose first texts are all different, as a map. */
export function mapOf(
  key: WireKind<string>,
  value: WireKind<string>,
  most: number,
): WireKind<ReadonlyMap<string, string>> {
  const { write, read } = list(group({ key, value }), most)
  return {
    write: (to, map) =>
      write(
        to,
        [...map].map(([key, value]) => ({ key, value })),
      ),
    read: (from, name) => {
      const pairs = read(from, name)
      const found = new Map(pairs.map(({ key, value }) => [key, value]))
      if (found.size < pairs.length) throw from.fault(`${name} has something twice`)
      return found
    },
  }
}

/** Several members, one behind the other. */
export function group<const M extends WireMembers>(members: M): WireKind<WireGroup<M>> {
  const rows = Object.entries(members) as unknown as readonly (readonly [string, WireKind<unknown>])[]
  return {
    write: (to, value) => {
      for (const [name, kind] of rows) kind.write(to, own(value as Readonly<Record<string, unknown>>, name))
    },
    read: (from, name) =>
      Object.fromEntries(
        rows.map(([member, kind]) => [member, kind.read(from, name === '' ? member : `${name}: ${member}`)]),
      ) as WireGroup<M>,
  }
}

function cutTo(value: string, most: number): string {
  if (Buffer.byteLength(value) <= most) return value
  // A character has four bytes at most, so none is cut in two.
  const characters = Array.from(value)
  while (Buffer.byteLength(characters.join('')) > most) characters.splice(Math.max(0, characters.length - 16))
  return characters.join('')
}
