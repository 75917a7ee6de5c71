// A transaction while its work runs. Reads go to the store and are remembered; writes stay here until the commit. The
// work sees the store with its own writes laid over it.
import { strict as assert } from 'node:assert'
import { classify, requireValue } from '../classes.ts'
import {
  type Entry,
  type ListOptions,
  MAX_TRANSACTION_BYTES,
  type Reader,
  type Scope,
  type StorageClass,
  type Transaction,
} from '../contract.ts'
import { StorageTooLarge } from '../errors.ts'
import { compareKeys } from '../key-order.ts'
import { ReadSet } from './read-set.ts'

/** A write that waits for the commit; the last one of its key. `value` is a copy, and empty for a delete. */
export type Write = {
  readonly kind: 'put' | 'delete'
  readonly class: StorageClass
  readonly scope: Scope
  readonly key: string
  readonly value: Buffer
}

const NO_VALUE = Buffer.alloc(0)

/** One attempt of a transaction: a retry gets a new one. */
export class OpenTransaction implements Transaction {
  /** Index before the first read. Changes after it are compared with what was read. */
  readonly startIndex: number
  /** How often keys had been replaced before it began (`Store.keysReplaced`). */
  readonly keyGeneration: number
  readonly reads = new ReadSet()
  readonly writes = new Map<string, Write>()
  readonly #store: Reader
  #bytes = 0
  #isRunning = true

  constructor(store: Reader, startIndex: number, keyGeneration: number) {
    this.#store = store
    this.startIndex = startIndex
    this.keyGeneration = keyGeneration
  }

  /** Bytes of all keys and values to be written. */
  get bytes(): number {
    return this.#bytes
  }

  /** Ends the work. A later call is refused by an assertion: the work has kept `tx` beyond its end. */
  end(): void {
    this.#isRunning = false
  }

  put(scope: Scope, key: string, value: Buffer): void {
    requireValue(key, value)
    this.#write({ kind: 'put', class: classify(scope, key), scope, key, value: Buffer.from(value) })
  }

  delete(scope: Scope, key: string): void {
    this.#write({ kind: 'delete', class: classify(scope, key), scope, key, value: NO_VALUE })
  }

  async get(key: string): Promise<Buffer | undefined> {
    this.#requireRunning()
    const own = this.writes.get(key)
    if (own !== undefined) return own.kind === 'put' ? Buffer.from(own.value) : undefined
    this.reads.addKey(key)
    return this.#store.get(key)
  }

  async list(prefix: string, options: ListOptions = {}): Promise<string[]> {
    this.#requireRunning()
    this.reads.addNames(prefix)
    const own = [...this.writes.values()].filter(({ key }) => key.startsWith(prefix))
    if (own.length === 0) return this.#store.list(prefix, options)
    const { after = '', limit = Number.POSITIVE_INFINITY } = options
    const comes = childrenOf(prefix, own, 'put')
    // A deleted key takes its name along only if it was the last below that name, so more names are read than asked.
    const mayGo = childrenOf(prefix, own, 'delete').difference(comes)
    const names = new Set(await this.#store.list(prefix, { ...options, limit: limit + mayGo.size }))
    for (const name of mayGo) {
      if (names.has(name) && !(await this.#hasEntries(prefix, name))) names.delete(name)
    }
    for (const name of comes) if (after === '' || compareKeys(name, after) > 0) names.add(name)
    return [...names].sort(compareKeys).slice(0, limit)
  }

  async scan(prefix: string, after: string, limit: number): Promise<Entry[]> {
    this.#requireRunning()
    const own = [...this.writes.values()].filter(({ key }) => key.startsWith(prefix) && compareKeys(key, after) > 0)
    // Each own write can hide one stored entry of the page.
    const fetched = limit + own.length
    const stored = await this.#store.scan(prefix, after, fetched)
    this.reads.addEntries(prefix, after, stored.length < fetched ? undefined : stored.at(-1)?.key)
    if (own.length === 0) return stored
    const entries = stored.filter(({ key }) => !this.writes.has(key))
    for (const { kind, key, value } of own) if (kind === 'put') entries.push({ key, value: Buffer.from(value) })
    return entries.sort((a, b) => compareKeys(a.key, b.key)).slice(0, limit)
  }

  async #hasEntries(prefix: string, name: string): Promise<boolean> {
    if (!name.endsWith('/')) return (await this.get(prefix + name)) !== undefined
    return (await this.scan(prefix + name, '', 1)).length > 0
  }

  #write(write: Write): void {
    this.#requireRunning()
    const bytes = this.#bytes + sizeOf(write) - sizeOf(this.writes.get(write.key))
    if (bytes > MAX_TRANSACTION_BYTES) {
      throw new StorageTooLarge(`A transaction writes more than ${MAX_TRANSACTION_BYTES} bytes`, MAX_TRANSACTION_BYTES)
    }
    this.#bytes = bytes
    this.writes.set(write.key, write)
  }

  #requireRunning(): void {
    assert(this.#isRunning, 'a transaction was used after its work had ended')
  }
}

function sizeOf(write: Write | undefined): number {
  return write === undefined ? 0 : Buffer.byteLength(write.key) + write.value.length
}

/** Names of the children of `prefix` that lead to keys with a write of this kind. */
function childrenOf(prefix: string, writes: readonly Write[], kind: Write['kind']): Set<string> {
  const names = new Set<string>()
  for (const write of writes) {
    if (write.kind !== kind) continue
    const slash = write.key.indexOf('/', prefix.length)
    names.add(write.key.slice(prefix.length, slash === -1 ? undefined : slash + 1))
  }
  return names
}
