// A thread of a simulated cluster that serves from its cache and follows the log, as one beside the writer does
// (src/threads/change-follower.ts). What it gave is judged later, when it is known what was committed meanwhile.

import type { Random } from '../../../src/lib/world.ts'
import { Barrier } from '../../../src/storage/barrier.ts'
import type { Change, ReadStore } from '../../../src/storage/contract.ts'
import { Sealed, StorageClosed, StorageCorrupt } from '../../../src/storage/errors.ts'
import { Invalidation } from '../../../src/storage/invalidation.ts'
import type { Keyring } from '../../../src/storage/keyring.ts'
import { ChangeFollower, newPublishedIndex, publishIndex } from '../../../src/threads/change-follower.ts'
import { notesIn } from './transfer-notes.ts'

type Version = { readonly index: number; readonly value: string | undefined }
type Given = { readonly key: string; readonly value: string | undefined; readonly sinceIndex: number }

/** One thread. Begins when its store is open. */
export class ServingCache {
  readonly published = newPublishedIndex()
  readonly #store: ReadStore
  readonly #barrier: Barrier
  readonly #invalidation = new Invalidation()
  readonly #cached = new Map<string, string | undefined>()
  readonly #versions = new Map<string, Version[]>()
  #given: Given[] = []
  #follower: ChangeFollower | undefined
  #committedIndex = 0
  /** Grows with each key that is forgotten: what was read before is not kept. */
  #forgotten = 0
  #unreadable: string | undefined

  constructor(store: ReadStore, random: Random) {
    this.#store = store
    this.#barrier = new Barrier(random)
    this.#invalidation.register({
      prefix: 'logical/',
      changed: (_, key) => {
        this.#forgotten++
        this.#cached.delete(key)
      },
      reset: () => {
        this.#forgotten++
        this.#cached.clear()
      },
    })
  }

  async start(): Promise<void> {
    this.#committedIndex = await this.#store.lastIndex()
    publishIndex(this.published, this.#committedIndex)
    this.#versions.clear()
    this.#given = []
    this.#follower = await ChangeFollower.start(this.#store, this.#invalidation, this.published)
    this.#invalidation.reset()
  }

  setKeyring(keyring: Keyring): void {
    this.#barrier.setKeyring(keyring)
  }

  /** The writer tells of a commit. */
  committed({ index, operations }: Change): void {
    this.#committedIndex = index
    for (const { kind, key, value } of operations) {
      if (!key.startsWith('root/logical/')) continue
      const version = { index, value: kind === 'put' ? value.toString('hex') : undefined }
      this.#versions.set(key, [...(this.#versions.get(key) ?? []), version])
    }
  }

  /** Serves one read. */
  async read(key: string): Promise<void> {
    const sinceIndex = this.#committedIndex
    try {
      await this.#follower?.catchUp()
      let value = this.#cached.get(key)
      if (!this.#cached.has(key)) {
        const before = this.#forgotten
        value = (await this.#store.get(key))?.toString('hex')
        if (before === this.#forgotten) this.#cached.set(key, value)
      }
      if (value !== undefined) this.#barrier.open(key, Buffer.from(value, 'hex')).fill(0)
      this.#given.push({ key, value, sinceIndex })
    } catch (cause) {
      if (cause instanceof StorageClosed || cause instanceof Sealed) return
      if (!(cause instanceof StorageCorrupt)) throw cause
      // In a comparison the log may bring what is sealed under a term that comes as an entry.
      if (!(await this.#isInTransfer())) this.#unreadable ??= cause.message
    }
  }

  async #isInTransfer(): Promise<boolean> {
    return (await notesIn(this.#store)).length > 0
  }

  /** What is wrong with what was given so far; undefined: nothing. Called when nothing is being committed. */
  fault(): string | undefined {
    if (this.#unreadable !== undefined) return `I16 a serving thread cannot open what it reads: ${this.#unreadable}`
    const old = this.#given.find((given) => !this.#wasTrue(given))
    this.#given = []
    return old && `I16 a serving thread gave a value of ${old.key} that was older than index ${old.sinceIndex}`
  }

  /** True if the value was there at some moment since the read began. */
  #wasTrue({ key, value, sinceIndex }: Given): boolean {
    const versions = this.#versions.get(key) ?? []
    const at = versions.findLastIndex(({ index }) => index <= sinceIndex)
    // What was there before the first version is not known.
    if (at === -1 && !versions.some((version) => version.value === value)) return true
    return versions.slice(Math.max(at, 0)).some((version) => version.value === value)
  }
}
