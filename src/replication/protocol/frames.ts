// Messages as frames of a byte stream. A message is one frame, or several in a row.
//
//   frame   length u32 (of what follows, 2 to MAX_FRAME_BYTES + 2) | type u8 | flags u8 (1: the message goes on)
//           | payload
//
// A frame whose message goes on is full, so that the parts of a message are few.
// Frames of one message have the same type, and no other comes between them.
import { strict as assert } from 'node:assert'

/** Longest payload of a frame. */
export const MAX_FRAME_BYTES = 1024 * 1024
const LENGTH_BYTES = 4
/** Type and flags. */
const HEAD_BYTES = 2
const GOES_ON = 1

/** Why a stream cannot be read on. Its link is given up: nothing behind the fault can be trusted. */
export class ProtocolFault extends Error {
  override name = 'ProtocolFault'
  /** 'version': only a newer program sends such a thing. 'damaged': none does. */
  readonly reason: 'version' | 'damaged'
  constructor(reason: ProtocolFault['reason'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

/** A message whose payload is not decoded yet. */
export type RawMessage = { readonly type: number; readonly payload: Buffer }

/** The frames of a message, ready to be sent one behind the other. The parts are copied. */
export function framesOf(type: number, parts: readonly Buffer[]): Buffer[] {
  const payload = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)
  const frames: Buffer[] = []
  let at = 0
  do {
    const part = payload.subarray(at, at + MAX_FRAME_BYTES)
    at += part.length
    const frame = Buffer.alloc(LENGTH_BYTES + HEAD_BYTES + part.length)
    frame.writeUInt32BE(HEAD_BYTES + part.length)
    frame.writeUInt8(type, LENGTH_BYTES)
    frame.writeUInt8(at < payload.length ? GOES_ON : 0, LENGTH_BYTES + 1)
    part.copy(frame, LENGTH_BYTES + HEAD_BYTES)
    frames.push(frame)
  } while (at < payload.length)
  return frames
}

/**
 * Puts the messages of a stream together from its pieces, which may begin and end anywhere. `mostOf` gives the longest
 * payload of a type, undefined for an unknown type. So a peer can make it keep no more than the longest message.
 */
export class FrameReader {
  readonly #mostOf: (type: number) => number | undefined
  /** The beginning of a frame, in a buffer that has room for the frame once its length is known. */
  #partial = Buffer.alloc(LENGTH_BYTES + HEAD_BYTES)
  #waiting = 0
  /** Bytes that must be there before a frame can be read. */
  #needed = LENGTH_BYTES + HEAD_BYTES
  #begun: { readonly type: number; readonly most: number; readonly parts: Buffer[]; bytes: number } | undefined

  constructor(mostOf: (type: number) => number | undefined) {
    this.#mostOf = mostOf
  }

  /** Bytes that wait for the rest of their message. */
  get waitingBytes(): number {
    return this.#waiting + (this.#begun?.bytes ?? 0)
  }

  /**
   * Takes the next piece, and gives the messages that are whole with it. Their payloads may be views of it.
   * @throws ProtocolFault; the reader must then not be used any more
   */
  push(piece: Buffer): RawMessage[] {
    const messages: RawMessage[] = []
    let from = piece
    while (from.length > 0) from = this.#waiting > 0 ? this.#filled(from, messages) : this.#readFrames(from, messages)
    return messages
  }

  /** Fills the frame that has begun, and returns what is left of the piece. */
  #filled(from: Buffer, messages: RawMessage[]): Buffer {
    const taken = from.copy(this.#partial, this.#waiting, 0, this.#needed - this.#waiting)
    this.#waiting += taken
    if (this.#waiting === this.#needed) {
      const whole = this.#partial.subarray(0, this.#needed)
      this.#waiting = 0
      this.#readFrames(whole, messages)
    }
    return from.subarray(taken)
  }

  /** Keeps the beginning of a frame. */
  #keep(part: Buffer): Buffer {
    // What is kept is copied: a small piece may be a view of something large.
    if (part.length > 0) {
      this.#partial = Buffer.alloc(this.#needed)
      this.#waiting = part.copy(this.#partial)
    }
    return part.subarray(part.length)
  }

  /** Reads all whole frames, notes how long the next one is, and keeps what is left. Returns nothing more to read. */
  #readFrames(from: Buffer, messages: RawMessage[]): Buffer {
    let at = 0
    for (;;) {
      // Length and head are waited for together: room for a frame is made when its head was not refused.
      this.#needed = LENGTH_BYTES + HEAD_BYTES
      if (from.length - at < this.#needed) return this.#keep(from.subarray(at))
      const length = from.readUInt32BE(at)
      if (length < HEAD_BYTES || length > HEAD_BYTES + MAX_FRAME_BYTES) {
        throw new ProtocolFault('damaged', `A frame says that it has ${length} bytes`)
      }
      this.#checkHead(from.readUInt8(at + LENGTH_BYTES), length)
      this.#needed = LENGTH_BYTES + length
      if (from.length - at < this.#needed) return this.#keep(from.subarray(at))
      const message = this.#frame(from.subarray(at + LENGTH_BYTES, at + this.#needed))
      if (message !== undefined) messages.push(message)
      at += this.#needed
    }
  }

  /** Refuses a frame by its head, before its payload is waited for. */
  #checkHead(type: number, length: number): void {
    const most = this.#mostOf(type)
    if (most === undefined) throw new ProtocolFault('version', `A frame is of the unknown type ${type}`)
    if (this.#begun !== undefined && this.#begun.type !== type) {
      throw new ProtocolFault('damaged', `A message of type ${this.#begun.type} is interrupted by one of type ${type}`)
    }
    if ((this.#begun?.bytes ?? 0) + length - HEAD_BYTES > most) {
      throw new ProtocolFault('damaged', `A message of type ${type} has more than ${most} bytes`)
    }
  }

  #frame(frame: Buffer): RawMessage | undefined {
    const type = frame.readUInt8(0)
    const flags = frame.readUInt8(1)
    if (flags > GOES_ON) throw new ProtocolFault('version', `A frame has the unknown flags ${flags}`)
    const payload = frame.subarray(HEAD_BYTES)
    const begun = this.#begun
    if (flags === GOES_ON) {
      if (payload.length !== MAX_FRAME_BYTES) throw new ProtocolFault('damaged', 'A frame goes on and is not full')
      this.#begun = begun ?? { type, most: this.#mostOf(type) ?? assert.fail('it was asked'), parts: [], bytes: 0 }
      this.#begun.parts.push(payload)
      this.#begun.bytes += payload.length
      return undefined
    }
    this.#begun = undefined
    return { type, payload: begun === undefined ? payload : Buffer.concat([...begun.parts, payload]) }
  }
}
