// What a store holds, as a cheap digest for each class: of two stores with the same entries it is the same.
import { hash } from 'node:crypto'
import type { ChangeOperation, StorageClass, StoredEntry } from '../../../src/storage/contract.ts'
import { treeScopeOf } from '../../../src/storage/log/tree.ts'
import type { ReplicationFamily } from '../../../src/storage/peer-log.ts'

type Known = {
  readonly class: StorageClass
  readonly isOfClient: boolean
  readonly digest: bigint
  readonly leaf: string
  /** The scope of the tree that it is in; '' unless it is replicated. */
  readonly scope: string
}

/** Digests of what goes over each family, and of what clients wrote of class local. */
export type SentDigests = Readonly<Record<ReplicationFamily | 'own', bigint>> & {
  /** Of the replicated entries of each scope of the tree; missing: there are none. */
  readonly scopes: ReadonlyMap<string, bigint>
}

export const digestOfEntry = (storageClass: StorageClass, key: string, value: Buffer): bigint =>
  BigInt(`0x${hash('sha256', `${storageClass} ${key} ${value.toString('latin1')}`).slice(0, 24)}`)

/** The entries of one store, brought up to date change by change. */
export class EntryDigests {
  readonly #known = new Map<string, Known>()
  #replicated = 0n
  #local = 0n
  #own = 0n
  /** Those who were given them have them for good. */
  #scopes: ReadonlyMap<string, bigint> = new Map()

  static of(entries: readonly StoredEntry[]): EntryDigests {
    const digests = new EntryDigests()
    for (const { key, class: storageClass, leaf, value } of entries) digests.#put(key, storageClass, leaf, value)
    return digests
  }

  get now(): SentDigests {
    return {
      dr: this.#replicated ^ (this.#local << 1n),
      performance: this.#replicated,
      own: this.#own,
      scopes: this.#scopes,
    }
  }

  /** The leaf of an entry as hexadecimal; '' if it is not there. */
  leafOf(key: string): string {
    return this.#known.get(key)?.leaf ?? ''
  }

  get keys(): readonly string[] {
    return [...this.#known.keys()]
  }

  apply(operations: readonly ChangeOperation[]): void {
    for (const { kind, key, class: storageClass, newLeaf, value } of operations) {
      if (kind === 'put') this.#put(key, storageClass, newLeaf, value)
      else this.#forget(key)
    }
  }

  #put(key: string, storageClass: StorageClass, leaf: Buffer, value: Buffer): void {
    this.#forget(key)
    const isOfClient = !key.startsWith('root/core/')
    const known = {
      class: storageClass,
      isOfClient,
      digest: digestOfEntry(storageClass, key, value),
      leaf: leaf.toString('hex'),
      scope: storageClass === 'replicated' ? treeScopeOf(key) : '',
    }
    this.#known.set(key, known)
    this.#flip(known)
  }

  #forget(key: string): void {
    const known = this.#known.get(key)
    if (known === undefined) return
    this.#known.delete(key)
    this.#flip(known)
  }

  #flip({ class: storageClass, isOfClient, digest, scope }: Known): void {
    if (storageClass === 'local' && isOfClient) this.#own ^= digest
    if (storageClass === 'replicated') {
      this.#replicated ^= digest
      this.#flipScope(scope, digest)
    } else if (storageClass === 'local') this.#local ^= digest
  }

  #flipScope(scope: string, digest: bigint): void {
    const scopes = new Map(this.#scopes)
    const flipped = (scopes.get(scope) ?? 0n) ^ digest
    if (flipped === 0n) scopes.delete(scope)
    else scopes.set(scope, flipped)
    this.#scopes = scopes
  }
}
