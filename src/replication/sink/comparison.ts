// The secondary's part in a comparison: from roots to pages to buckets to keys to entries. What differs is made equal
// bucket by bucket; what the log brings meanwhile is done over it.
import { dataKeysOver } from '../../storage/classes.ts'
import type { KeyLeaf, PageAddress, TreeBucket } from '../../storage/contract.ts'
import type { Tree } from '../../storage/log/tree.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import { differingBuckets, differingPages, rootsOf } from '../protocol/comparison.ts'
import { ProtocolFault } from '../protocol/frames.ts'
import { MAX_PAGES, type Message, type Place, type SentEntry } from '../protocol/messages.ts'
import { reachedScopes } from '../reach.ts'
import type { SinkKeeper, SinkParts } from './sink-parts.ts'

type ComparisonParts = Pick<SinkParts, 'family' | 'send' | 'limits'> & {
  readonly keeper: Pick<SinkKeeper, 'tree' | 'keysIn' | 'reached'>
  /** Number of the course that began it. */
  readonly course: number
  /** Applies entries as of a place. So many of them are told as what differed. */
  readonly take: (
    state: {
      readonly at: Place
      readonly entries: readonly SentEntry[]
      readonly gone: readonly string[]
    },
    differing: number,
  ) => Promise<void>
}

/** One comparison. Each answer leads to the next question, until there is none. */
export class Comparison {
  readonly #parts: ComparisonParts
  readonly #family: ReplicationFamily
  #tree: Tree | undefined
  /** Scopes whose pages were told. */
  readonly #scopes = new Set<string>()
  /** Pages that differ and were not asked for, and whether the digests of some are still to come. */
  readonly #differing: PageAddress[] = []
  #isAsking = false
  /** Buckets that differ and were not asked for. */
  readonly #buckets: TreeBucket[] = []
  /** Those that were, and what was told of them so far. */
  #asked: readonly TreeBucket[] = []
  #listed: KeyLeaf[] = []
  /** Keys whose entries are wanted and were not asked for. */
  #keys: string[] = []
  #isDone = false

  constructor(parts: ComparisonParts) {
    this.#parts = parts
    this.#family = parts.family
  }

  /** True when there is nothing more to ask: the roots tell whether all is equal now. */
  get isDone(): boolean {
    return this.#isDone
  }

  async begin(): Promise<void> {
    const { keeper, send, course } = this.#parts
    const isReached = reachedScopes(await keeper.reached())
    this.#tree = await keeper.tree()
    await send({ kind: 'roots', course, scopes: rootsOf(this.#tree, { family: this.#family, isReached }) })
  }

  /** @throws ProtocolFault for an answer to nothing that was asked */
  received(message: Message<'pages' | 'digests' | 'listing' | 'values'>): Promise<void> {
    switch (message.kind) {
      case 'pages':
        return this.#pages(message)
      case 'digests':
        return this.#digests(message)
      case 'listing':
        return this.#listing(message)
      case 'values':
        return this.#values(message)
    }
  }

  async #pages({ scopes, isLast }: Message<'pages'>): Promise<void> {
    const tree = this.#own()
    for (const { class: of, scope } of scopes) {
      const name = `${of} ${scope}`
      if (this.#scopes.has(name)) throw new ProtocolFault('damaged', `The primary told the pages of ${scope} twice`)
      this.#scopes.add(name)
    }
    for (const page of differingPages(tree, scopes)) this.#differing.push(page)
    if (!isLast) return
    // The data keys first of all: a server that begins anew in between could not be opened with entries that are sealed
    // under one that it lacks. Primaries send those that they have by themselves, and older ones do not.
    if (this.#differing.length > 0) this.#keys = [...dataKeysOver(this.#family)]
    await this.#next()
  }

  async #digests({ pages }: Message<'digests'>): Promise<void> {
    if (!this.#isAsking) throw unasked('digests')
    this.#isAsking = false
    for (const bucket of differingBuckets(this.#own(), pages)) this.#buckets.push(bucket)
    await this.#next()
  }

  async #listing({ at, keys, isLast }: Message<'listing'>): Promise<void> {
    if (this.#asked.length === 0) throw unasked('listing')
    for (const each of keys) this.#listed.push(each)
    if (!isLast) return
    const own = new Map((await this.#parts.keeper.keysIn(this.#asked)).map((each) => [each.key, each]))
    const wanted = this.#listed.filter(({ key, leaf }) => own.get(key)?.leaf.equals(leaf) !== true)
    for (const { key } of this.#listed) own.delete(key)
    this.#keys = wanted.map(({ key }) => key)
    this.#asked = []
    this.#listed = []
    const [gone, most] = [[...own.keys()], this.#parts.limits.gone]
    for (let from = 0; from < gone.length; from += most) {
      await this.#parts.take({ at, entries: [], gone: gone.slice(from, from + most) }, 0)
    }
    await this.#next()
  }

  async #values({ at, entries, gone, isLast }: Message<'values'>): Promise<void> {
    // Data keys that come before the first answer may be those that are here.
    await this.#parts.take({ at, entries, gone }, this.#scopes.size === 0 ? 0 : entries.length)
    if (isLast) await this.#next()
  }

  /** Asks the next question. */
  async #next(): Promise<void> {
    const { send, limits, course } = this.#parts
    if (this.#keys.length > 0)
      return send({ kind: 'values-wanted', course, keys: this.#keys.splice(0, limits.entries) })
    if (this.#buckets.length > 0) {
      this.#asked = this.#buckets.splice(0, limits.buckets)
      return send({ kind: 'buckets-wanted', course, buckets: this.#asked })
    }
    if (this.#differing.length > 0) {
      this.#isAsking = true
      return send({ kind: 'pages-wanted', course, pages: this.#differing.splice(0, MAX_PAGES) })
    }
    this.#tree = undefined
    this.#isDone = true
    await send({ kind: 'root-wanted', course })
  }

  #own(): Tree {
    if (this.#tree === undefined) throw unasked('pages')
    return this.#tree
  }
}

const unasked = (kind: string): ProtocolFault =>
  new ProtocolFault('damaged', `The primary sent "${kind}" and was not asked`)
