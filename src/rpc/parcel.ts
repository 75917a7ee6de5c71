// Plain data with bytes in it, as it goes to another thread. The bytes of a message are put one behind the other into
// one piece of memory that is handed over; at the other end they are buffers again, which are views of it.
//
// So they are copied once, at the end that sends, however many there are, and never at the end that receives. No buffer
// is handed over as it is: others may hold views of the same memory, and would lose theirs. Records of a log are views
// of the message that they came in, as are the places that a sink keeps of it; small buffers are views of a pool. Of
// those the runtime would even send all of the pool, with whatever else stands there.
import type { Movable } from './channel.ts'

/** Data whose buffers are views of `bytes`; undefined: it has none. Only `contentOf` gives them back. */
export type Parcel<T> = { readonly data: T; readonly bytes: ArrayBuffer | undefined }

/** Copies arrays, plain objects and bytes. Everything else is passed on as it is. */
export function parcelOf<T>(value: T): Parcel<T> {
  const size = bytesIn(value)
  if (size === undefined) return { data: value, bytes: undefined }
  const bytes = new ArrayBuffer(size)
  return { data: copied(value, new Uint8Array(bytes), { at: 0 }) as T, bytes }
}

/** Returns what the parcel was made of, with buffers in the place of bytes. The data that came are changed. */
export function contentOf<T>({ data, bytes }: Parcel<T>): T {
  return bytes === undefined ? data : (withBuffers(data) as T)
}

/** What is handed over with it. */
export const movedWith = ({ bytes }: Parcel<unknown>): readonly Movable[] => (bytes === undefined ? [] : [bytes])

/** How many bytes it holds; undefined if there are none, not even empty ones. */
function bytesIn(value: unknown): number | undefined {
  if (value instanceof Uint8Array) return value.byteLength
  let size: number | undefined
  for (const each of membersOf(value)) {
    const inEach = bytesIn(each)
    if (inEach !== undefined) size = (size ?? 0) + inEach
  }
  return size
}

function copied(value: unknown, to: Uint8Array<ArrayBuffer>, next: { at: number }): unknown {
  if (value instanceof Uint8Array) {
    const { at } = next
    to.set(value, at)
    next.at += value.byteLength
    return to.subarray(at, next.at)
  }
  if (Array.isArray(value)) return value.map((each) => copied(each, to, next))
  if (!isPlain(value)) return value
  const copy: Record<string, unknown> = {}
  for (const name of Object.keys(value)) copy[name] = copied(value[name], to, next)
  return copy
}

function withBuffers(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  if (Array.isArray(value)) {
    for (const [at, each] of value.entries()) if (isCompound(each)) value[at] = withBuffers(each)
  } else if (isPlain(value)) {
    for (const name of Object.keys(value)) if (isCompound(value[name])) value[name] = withBuffers(value[name])
  }
  return value
}

function membersOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  return isPlain(value) ? Object.values(value) : []
}

const isCompound = (value: unknown): boolean => typeof value === 'object' && value !== null

/** Keys, ports and streams are objects of classes, and left alone. */
function isPlain(value: unknown): value is Record<string, unknown> {
  return isCompound(value) && Object.getPrototypeOf(value) === Object.prototype
}
