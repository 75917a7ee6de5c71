// Counts what all listening threads share: connections, connections per address, and memory of bodies. Each thread has
// a row of its own, so the counts of a thread that dies go with its row; a count is the sum of the rows.
import { MAX_OPEN_BODY_BYTES } from '../api/body-limits.ts'
import { countedAddress } from '../lib/counted-address.ts'
import type { Random } from '../lib/world.ts'
import { OPEN_SHARE, type ServerLimits } from './limits.ts'

/** The memory, as it is handed to every thread. */
export type SharedFigures = {
  readonly cells: Int32Array<SharedArrayBuffer>
  readonly rows: number
  /** Seed of the hash of addresses: a client cannot know which addresses share a cell. */
  readonly seed: number
}

const CONNECTIONS = 0
/** Memory of bodies, in KiB. */
const BODIES = 1
/** Memory of bodies of callers without a live token, in KiB. */
const OPEN_BODIES = 2
const FIRST_ADDRESS = 3
/** Addresses are counted by a hash; two that share a cell share their limits. */
const ADDRESS_CELLS = 8_192
/** Memory of the bodies of an address, in KiB. */
const FIRST_ADDRESS_BODIES = FIRST_ADDRESS + ADDRESS_CELLS
const ROW = FIRST_ADDRESS_BODIES + ADDRESS_CELLS

/** The owner of a body, whose shares it is charged to. */
export type BodyOwner = {
  /** Empty on a Unix socket, which has no share of its own. */
  readonly address: string
  readonly hasLiveToken: boolean
}

/** The result of taking memory: taken, none left on the server, or the share of the address used up. */
export type Taken = 'taken' | 'no-memory' | 'no-share'

/** The budget for bodies, as a collector uses it. */
export type BodyMemory = {
  /** Takes memory; unless it returns `taken`, nothing was taken. `removeBodyKib` with the same owner gives it back. */
  addBodyKib(kib: number, owner: BodyOwner): Taken
  removeBodyKib(kib: number, owner: BodyOwner): void
}

/** Makes the memory, all zeros. The watching thread calls it once, with a row for each thread that listens. */
export function newSharedFigures(rows: number, random: Random): SharedFigures {
  const cells = new Int32Array(new SharedArrayBuffer(rows * ROW * Int32Array.BYTES_PER_ELEMENT))
  return { cells, rows, seed: random.bytes(4).readUInt32LE(0) }
}

/** One thread's row, and the limits over all rows. */
export class ThreadFigures {
  readonly #shared: SharedFigures
  readonly #start: number
  readonly #limits: ServerLimits

  /** Takes over a row; the counts of an earlier thread are cleared. */
  constructor(shared: SharedFigures, row: number, limits: ServerLimits) {
    this.#shared = shared
    this.#start = row * ROW
    this.#limits = limits
    shared.cells.fill(0, this.#start, this.#start + ROW)
  }

  /** Counts a connection; false if there are too many, and then nothing was counted. */
  addConnection(): boolean {
    return this.#add(CONNECTIONS, 1, this.#limits.maxConnections)
  }

  removeConnection(): void {
    this.#remove(CONNECTIONS, 1)
  }

  /** Counts a connection of the address; false if it has too many, and then nothing was counted. */
  addAddress(address: string): boolean {
    return this.#add(FIRST_ADDRESS + this.#hashOf(address), 1, this.#limits.maxConnectionsPerAddress)
  }

  removeAddress(address: string): void {
    this.#remove(FIRST_ADDRESS + this.#hashOf(address), 1)
  }

  addBodyKib(kib: number, owner: BodyOwner): Taken {
    const taken: number[] = []
    for (const { column, limitBytes, refusal } of this.#boundsOf(owner)) {
      if (this.#add(column, kib, Math.floor(limitBytes / 1024))) taken.push(column)
      else {
        for (const one of taken) this.#remove(one, kib)
        return refusal
      }
    }
    return 'taken'
  }

  removeBodyKib(kib: number, owner: BodyOwner): void {
    for (const { column } of this.#boundsOf(owner)) this.#remove(column, kib)
  }

  /** Bounds of an owner, its own share first: a client that has used up its share is told so, and not of the others. */
  #boundsOf({ address, hasLiveToken }: BodyOwner): readonly Bound[] {
    const { maxBodyBytes, maxBodyBytesPerAddress } = this.#limits
    const bounds: Bound[] = [{ column: BODIES, limitBytes: maxBodyBytes, refusal: 'no-memory' }]
    if (!hasLiveToken) {
      const limitBytes = Math.max(maxBodyBytes * OPEN_SHARE, MAX_OPEN_BODY_BYTES)
      bounds.unshift({ column: OPEN_BODIES, limitBytes, refusal: 'no-memory' })
    }
    if (address !== '') {
      const column = FIRST_ADDRESS_BODIES + this.#hashOf(address)
      bounds.unshift({ column, limitBytes: maxBodyBytesPerAddress, refusal: 'no-share' })
    }
    return bounds
  }

  /** Adds first and checks then: two threads at the limit may both be refused, but never both be let through. */
  #add(column: number, amount: number, limit: number): boolean {
    const { cells, rows } = this.#shared
    Atomics.add(cells, this.#start + column, amount)
    let sum = 0
    for (let row = 0; row < rows; row++) sum += Atomics.load(cells, row * ROW + column)
    if (sum <= limit) return true
    this.#remove(column, amount)
    return false
  }

  #remove(column: number, amount: number): void {
    Atomics.sub(this.#shared.cells, this.#start + column, amount)
  }

  /** FNV-1a over the characters, from the seed. */
  #hashOf(address: string): number {
    let hash = this.#shared.seed
    const counted = countedAddress(address)
    for (let i = 0; i < counted.length; i++) hash = Math.imul(hash ^ counted.charCodeAt(i), 0x01000193)
    return (hash >>> 0) % ADDRESS_CELLS
  }
}

type Bound = { readonly column: number; readonly limitBytes: number; readonly refusal: Exclude<Taken, 'taken'> }
