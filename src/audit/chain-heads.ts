// Publishes the head of each chain of the running server, in memory that its threads share. So any thread can report
// all heads, and a verifier notices if the end of a log was cut off.
//
// A slot: version i32 (odd while it is written) | state i32 | id 16 | number f64 | hash 43 | free 1 | device 116
import type { Head } from './line-stream.ts'

const SLOTS = 512
const STATE_FREE = 0
const STATE_LIVE = 1
const STATE_ENDED = 2
const ID_AT = 8
const ID_CHARACTERS = 16
const SEQ_AT = 24
const HASH_AT = 32
const HASH_CHARACTERS = 43
const DEVICE_AT = 76
const MOST_DEVICE_BYTES = 116
const SLOT_BYTES = 192
/** The header holds the number of the slot to try next. */
const HEADER_BYTES = 8

/** The head of a chain as it was published last. */
export type StreamState = {
  readonly stream: string
  readonly device: string
  /** Number of the last line that was stored. */
  readonly seq: number
  readonly hash: string
  readonly ended: boolean
}

/** The slot of one chain; only the thread that writes the chain uses it. */
export interface StreamSlot {
  publish(head: Head): void
  end(): void
  /** Frees the slot of the stream. */
  release(): void
}

/** The memory, as it is handed to every thread. */
export type ChainHeadsMemory = SharedArrayBuffer

/** Makes the memory, with every slot free. The watching thread calls it once. */
export function newChainHeadsMemory(): ChainHeadsMemory {
  return new SharedArrayBuffer(HEADER_BYTES + SLOTS * SLOT_BYTES)
}

/** Slots for 512 chains. A reader may run while a slot is written: the version tells it to read again. */
export class ChainHeads {
  readonly #memory: ChainHeadsMemory
  readonly #header: Int32Array

  constructor(memory: ChainHeadsMemory) {
    this.#memory = memory
    this.#header = new Int32Array(memory, 0, 1)
  }

  /** Takes a slot. If none is free, one of an ended chain is reused; if there is none either, the slot tried last. */
  take(stream: string, device: string): StreamSlot {
    let at = 0
    for (let tried = 0; tried < SLOTS; tried++) {
      at = (Atomics.add(this.#header, 0, 1) >>> 0) % SLOTS
      const { flags } = this.#slot(at)
      if (Atomics.compareExchange(flags, 1, STATE_FREE, STATE_LIVE) === STATE_FREE) break
      if (tried >= SLOTS / 2 && Atomics.compareExchange(flags, 1, STATE_ENDED, STATE_LIVE) === STATE_ENDED) break
    }
    return new Slot(this.#slot(at), stream, device)
  }

  /** Heads of the chains that are being written, and of those that ended last. */
  states(): StreamState[] {
    const states: StreamState[] = []
    for (let at = 0; at < SLOTS; at++) {
      const state = readSlot(this.#slot(at))
      if (state !== undefined) states.push(state)
    }
    return states
  }

  #slot(at: number): SlotMemory {
    const offset = HEADER_BYTES + at * SLOT_BYTES
    const bytes = Buffer.from(this.#memory, offset, SLOT_BYTES)
    return { flags: new Int32Array(this.#memory, offset, 2), bytes }
  }
}

type SlotMemory = { readonly flags: Int32Array; readonly bytes: Buffer }

class Slot implements StreamSlot {
  readonly #slot: SlotMemory

  constructor(slot: SlotMemory, stream: string, device: string) {
    this.#slot = slot
    this.#write(() => {
      slot.bytes.fill(0, ID_AT)
      slot.bytes.write(stream, ID_AT, ID_CHARACTERS, 'latin1')
      slot.bytes.write(device, DEVICE_AT, MOST_DEVICE_BYTES, 'utf8')
    })
  }

  publish({ seq, last }: Head): void {
    const { flags, bytes } = this.#slot
    Atomics.add(flags, 0, 1)
    bytes.writeDoubleLE(seq - 1, SEQ_AT)
    bytes.write(last, HASH_AT, HASH_CHARACTERS, 'latin1')
    Atomics.add(flags, 0, 1)
  }

  end(): void {
    Atomics.store(this.#slot.flags, 1, STATE_ENDED)
  }

  release(): void {
    Atomics.store(this.#slot.flags, 1, STATE_FREE)
  }

  #write(change: () => void): void {
    Atomics.add(this.#slot.flags, 0, 1)
    change()
    Atomics.add(this.#slot.flags, 0, 1)
  }
}

/** Attempts to read a slot while another thread writes it. */
const MOST_READS = 1_000

function readSlot({ flags, bytes }: SlotMemory): StreamState | undefined {
  for (let tried = 0; tried < MOST_READS; tried++) {
    const state = Atomics.load(flags, 1)
    if (state === STATE_FREE) return undefined
    const version = Atomics.load(flags, 0)
    const copy = Buffer.from(bytes)
    if (version % 2 !== 0 || Atomics.load(flags, 0) !== version) continue
    const hash = copy.toString('latin1', HASH_AT, HASH_AT + HASH_CHARACTERS)
    // The slot is taken, but no line was stored yet.
    if (hash.charCodeAt(0) === 0) return undefined
    const device = copy.toString('utf8', DEVICE_AT, DEVICE_AT + MOST_DEVICE_BYTES)
    return {
      stream: copy.toString('latin1', ID_AT, ID_AT + ID_CHARACTERS),
      device: device.slice(0, Math.max(device.indexOf('\0'), 0) || device.length),
      seq: copy.readDoubleLE(SEQ_AT),
      hash,
      ended: state === STATE_ENDED,
    }
  }
  return undefined
}
