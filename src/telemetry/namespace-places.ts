// Says in which column a namespace is counted, to all threads alike. Only so many have one of their own, or those who
// may make namespaces could make metrics without end.
import { ROOT_ID } from '../api/namespace.ts'

/** Namespaces with a column of their own, besides the root: the first ones that had a request since the start. */
export const NAMESPACE_ROOM = 200
/** The column of the root. */
export const ROOT_PLACE = 0
/** The column of all namespaces that have none of their own. */
export const REST_PLACE = NAMESPACE_ROOM + 1

/** The ids of the namespaces in the order of their columns, as numbers; 0: nobody has the column yet. */
export type PlacedIds = BigInt64Array<SharedArrayBuffer>

const ID_BYTES = BigInt64Array.BYTES_PER_ELEMENT

/** Makes the ids, none of them set. */
export const newPlacedIds = (): PlacedIds => new BigInt64Array(new SharedArrayBuffer(NAMESPACE_ROOM * ID_BYTES))

/** The columns as one thread knows them. A column that a namespace has is its own until the process ends. */
export class NamespacePlaces {
  readonly #ids: PlacedIds
  readonly #known = new Map([[ROOT_ID, ROOT_PLACE]])
  /** All columns are taken, and known here. */
  #isFull = false

  constructor(ids: PlacedIds) {
    this.#ids = ids
  }

  /** The column of the namespace with this id. */
  of(id: string): number {
    return this.#known.get(id) ?? (this.#isFull ? REST_PLACE : this.#take(id))
  }

  #take(id: string): number {
    const wanted = numberOf(id)
    if (wanted === undefined) return REST_PLACE
    for (let at = 0; at < NAMESPACE_ROOM; at++) {
      const there: bigint = Atomics.compareExchange(this.#ids, at, 0n, wanted) || wanted
      this.#known.set(idOf(there), at + 1)
      if (there === wanted) return at + 1
    }
    this.#isFull = true
    return REST_PLACE
  }
}

/** The ids that have columns, and these. */
export function* placedIds(ids: PlacedIds): Iterable<readonly [id: string, place: number]> {
  for (const [at, number] of ids.entries()) if (number !== 0n) yield [idOf(number), at + 1]
}

/** An id is so short that its characters fit into one number. */
function numberOf(id: string): bigint | undefined {
  if (id.length > ID_BYTES) return undefined
  const bytes = Buffer.alloc(ID_BYTES)
  bytes.write(id, 'latin1')
  return bytes.readBigInt64BE()
}

function idOf(number: bigint): string {
  const bytes = Buffer.alloc(ID_BYTES)
  bytes.writeBigInt64BE(number)
  return bytes.toString('latin1').replaceAll('\0', '')
}
