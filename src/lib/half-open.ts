// Connections that have not proven yet who they are: a bounded number, shared between addresses.
import { countedAddress } from './counted-address.ts'

type Entry = { readonly address: string; readonly drop: () => void }

/** What is kept of a connection until it is proven or gone. */
export type HalfOpenEntry = { leave(): void }

/** The limits of `ServingLimits`. */
export type HalfOpenLimits = { readonly halfOpen: number; readonly halfOpenOfOne: number }

/** Admits connections. One address cannot keep the others out; many addresses can only make each other go sooner. */
export class HalfOpen {
  readonly #limits: HalfOpenLimits
  /** By address, the oldest first. No set is empty. */
  readonly #entries = new Map<string, Set<Entry>>()
  #count = 0

  constructor(limits: HalfOpenLimits) {
    this.#limits = limits
  }

  get count(): number {
    return this.#count
  }

  /** Returns undefined if the address has its share. `drop` is called if the connection must make room for another. */
  enter(peerAddress: string, drop: () => void): HalfOpenEntry | undefined {
    const address = countedAddress(peerAddress)
    if ((this.#entries.get(address)?.size ?? 0) >= this.#limits.halfOpenOfOne) return undefined
    if (this.#count >= this.#limits.halfOpen) this.#dropOne()
    const entry = { address, drop }
    const ofAddress = this.#entries.get(address) ?? new Set()
    this.#entries.set(address, ofAddress.add(entry))
    this.#count++
    return { leave: () => this.#leave(entry) }
  }

  /** Drops all. */
  clear(): void {
    for (const ofAddress of [...this.#entries.values()]) for (const entry of [...ofAddress]) this.#drop(entry)
  }

  #dropOne(): void {
    const most = [...this.#entries.values()].reduce((one, other) => (other.size > one.size ? other : one))
    const [oldest] = most
    if (oldest !== undefined) this.#drop(oldest)
  }

  #drop(entry: Entry): void {
    this.#leave(entry)
    entry.drop()
  }

  #leave(entry: Entry): void {
    const ofAddress = this.#entries.get(entry.address)
    if (ofAddress?.delete(entry) !== true) return
    this.#count--
    if (ofAddress.size === 0) this.#entries.delete(entry.address)
  }
}
