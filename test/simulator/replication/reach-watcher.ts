// What must be so of filters in a simulated set at every moment (I9): nothing of what a filter keeps from a secondary
// is in any message to it, what it has of the rest is what its primary has, and in the end its store has no more.
import { isDeepStrictEqual } from 'node:util'
import type { RawMessage } from '../../../src/replication/protocol/frames.ts'
import { decodeMessage, encodeMessage, type Message } from '../../../src/replication/protocol/messages.ts'
import { NO_ENTRY, reachedScopes, type SetReach } from '../../../src/replication/reach.ts'
import { type NotedReach, readReach } from '../../../src/replication/set/records.ts'
import { type Change, ROOT_NAMESPACE, type StoredEntry } from '../../../src/storage/contract.ts'
import { decodeRun } from '../../../src/storage/log/change-record.ts'
import { treeScopeOf } from '../../../src/storage/log/tree.ts'
import type { SentDigests } from './entry-digests.ts'
import { type Placed, PlacedEntries, visibleTo } from './placed-entries.ts'
import type { SimulatedCluster } from './simulated-cluster.ts'
import type { SentOver } from './watched-links.ts'

/** `mount UUID`, or `namespace ENTRY ID`. */
type Thing = string
/** One link of a primary to a secondary: what was kept from that since the link began, or since the last word of it. */
type Watched = { readonly to: string; hidden: Set<Thing> }

type Known = {
  entries: PlacedEntries
  /** All that there ever was. */
  readonly things: Set<Thing>
  /** Leaves and values of the last entries of each mount, and of identities. */
  readonly contents: Map<string, readonly [leaf: Buffer, value: Buffer]>
  readonly links: Map<object, Watched>
}

const thingsOf = ({ mounts, namespaces }: Placed): Thing[] => [
  ...mounts.map(({ uuid }) => `mount ${uuid}`),
  ...namespaces.map(({ entry, id }) => `namespace ${entry} ${id}`),
]

/** Where identities of all namespaces lie. */
export const IDENTITIES_FOLDER = 'root/sys/identity/'

/** What stands in a message that tells of the thing. */
function namesOf(thing: Thing): readonly string[] {
  const [kind, name = '', id] = thing.split(' ')
  return kind === 'mount' ? [name] : [`namespace/${name}`, `${id}/sys/`, `/${id}/`]
}

const nameIn = (names: readonly string[], payload: Buffer): string | undefined =>
  names.find((each) => payload.includes(each))

/** Where a copy is, and what was wanted: keys that a message says, and that the answer to it may say again. */
function saidIn(raw: RawMessage): readonly string[] {
  const said = decodeMessage(raw)
  if (said.kind === 'hello') return said.transfer === undefined ? [] : [said.transfer.after]
  if (said.kind === 'piece') return said.upTo === undefined ? [] : [said.upTo]
  return said.kind === 'values-wanted' ? said.keys : []
}

/**
 * The message without the keys that stand in it since they were said before: where a copy goes on, and what was wanted
 * and is gone. The secondary may have learnt them before they were kept from it.
 */
function withoutEchoes(raw: RawMessage, said: ReadonlySet<string>): Buffer {
  const sent = decodeMessage(raw)
  const isNews = (key: string): boolean => !said.has(key)
  if (sent.kind === 'values') return Buffer.concat(encodeMessage({ ...sent, gone: sent.gone.filter(isNews) }))
  const isEcho = (sent.kind === 'piece' || sent.kind === 'course') && !isNews(sent.after)
  return isEcho ? Buffer.concat(encodeMessage({ ...sent, after: '' })) : raw.payload
}

/** Watches the filters of one set. */
export class ReachWatcher {
  readonly #known = new Map<SimulatedCluster, Known>()
  /** By secondary: all that was not kept from it at some time. */
  readonly #seen = new Map<string, Set<Thing>>()
  /** Keys that secondaries have said, and those up to which pieces of copies came. */
  readonly #said = new Set<string>()
  readonly #wrong: (cluster: SimulatedCluster, what: string) => void
  readonly #storedReach: (cluster: SimulatedCluster) => Buffer | undefined

  /** `storedReach`: the record of a secondary, in clear. */
  constructor(
    wrong: (cluster: SimulatedCluster, what: string) => void,
    storedReach: (cluster: SimulatedCluster) => Buffer | undefined,
  ) {
    this.#wrong = wrong
    this.#storedReach = storedReach
  }

  #of(cluster: SimulatedCluster): Known {
    const found = this.#known.get(cluster) ?? newKnown()
    this.#known.set(cluster, found)
    return found
  }

  /** What a cluster has that filters name. */
  placedAt(cluster: SimulatedCluster): Placed {
    const { barrier } = cluster.life ?? {}
    return this.#of(cluster).entries.placed((key, value) => barrier?.open(key, value) ?? Buffer.alloc(0))
  }

  opened(cluster: SimulatedCluster, entries: readonly StoredEntry[]): void {
    const known = this.#of(cluster)
    known.entries = PlacedEntries.of(entries)
    known.links.clear()
    known.contents.clear()
    for (const { key, leaf, value } of entries) if (isWatched(key)) known.contents.set(key, [leaf, value])
  }

  committed(cluster: SimulatedCluster, { operations }: Change): void {
    const known = this.#of(cluster)
    for (const { kind, key, newLeaf, value } of operations) {
      if (!isWatched(key)) continue
      if (kind === 'put') known.contents.set(key, [newLeaf, value])
      else known.contents.delete(key)
    }
    if (!known.entries.apply(operations) || known.links.size === 0) return
    const things = thingsOf(this.placedAt(cluster))
    const made = things.filter((thing) => !known.things.has(thing))
    for (const thing of things) known.things.add(thing)
    for (const link of known.links.values()) {
      const hidden = this.#hiddenFrom(cluster, link.to)
      link.hidden = new Set([...link.hidden, ...made].filter((thing) => hidden.has(thing)))
    }
  }

  /** All that a secondary is not to have, of what there ever was. */
  #hiddenFrom(cluster: SimulatedCluster, to: string): ReadonlySet<Thing> {
    const { things } = this.#of(cluster)
    const placed = this.placedAt(cluster)
    const present = thingsOf(placed)
    for (const thing of present) things.add(thing)
    const visible = visibleTo(to, placed)
    const seen = this.#seen.get(to) ?? new Set()
    this.#seen.set(to, seen)
    for (const thing of present) if (visible === undefined || isVisible(thing, visible)) seen.add(thing)
    return new Set(visible === undefined ? [] : [...things].filter((thing) => !isVisible(thing, visible)))
  }

  /** A message was given to a link to a performance primary. */
  sentBack({ kind, raw }: SentOver): void {
    if (kind === 'hello' || kind === 'values-wanted') for (const key of saidIn(raw)) this.#said.add(key)
  }

  /** A message was given to a link to a performance secondary. */
  sent(cluster: SimulatedCluster, { kind, raw, to, counts }: SentOver): void {
    const { links, contents } = this.#of(cluster)
    if (to === undefined || cluster.life?.isOpen !== true) return
    const link = links.get(counts) ?? { to, hidden: new Set(this.#hiddenFrom(cluster, to)) }
    links.set(counts, link)
    // What it tells must not show what was kept from the secondary all along either.
    this.#requireNoName(cluster, link, kind, raw)
    if (kind === 'piece') for (const key of saidIn(raw)) this.#said.add(key)
    const told = toldIn(kind, () => decodeMessage(raw))
    if (told !== undefined) {
      const { only } = told
      const hidden = [...this.#hiddenFrom(cluster, to)]
      link.hidden = new Set(only === undefined ? [] : hidden.filter((thing) => !isVisible(thing, only)))
    }
    const namespaces = new Set([...link.hidden].map((thing) => thing.split(' ')[2]))
    for (const [key, parts] of contents) {
      if (!link.hidden.has(`mount ${key.split('/', 3)[2]}`) && !namespaces.has(identityOf(key))) continue
      if (parts.some((part) => part.length > 0 && raw.payload.includes(part)))
        this.#wrong(cluster, `I9 "${kind}" to ${to} has the content of ${key}, which is kept from it`)
    }
  }

  #requireNoName(cluster: SimulatedCluster, { hidden, to }: Watched, kind: string, raw: RawMessage): void {
    for (const thing of hidden) {
      const names = namesOf(thing)
      const name = nameIn(names, raw.payload)
      if (name === undefined) continue
      const isEcho =
        this.#seen.get(to)?.has(thing) === true && nameIn(names, withoutEchoes(raw, this.#said)) === undefined
      if (!isEcho) this.#wrong(cluster, `I9 "${kind}" to ${to} has ${name}, which is kept from it`)
    }
  }

  /** What a secondary says that it is to have, and what still goes. */
  noted(cluster: SimulatedCluster): Promise<NotedReach> {
    return readReach({ get: async () => this.#storedReach(cluster) })
  }

  /** I3: a part of what is whole that is not what its primary had there, or that should be gone; undefined: none. */
  async differing(cluster: SimulatedCluster, theirs: SentDigests, ours: SentDigests): Promise<string | undefined> {
    const { reach, leaving } = await this.noted(cluster)
    const isReached = reachedScopes(reach)
    return [...new Set([...theirs.scopes.keys(), ...ours.scopes.keys()])].find((scope) => {
      const [one, other] = [theirs.scopes.get(scope) ?? 0n, ours.scopes.get(scope) ?? 0n]
      return isReached(scope) ? one !== other : other !== 0n && !leaving.includes(scope)
    })
  }

  /** What the filter at a primary lets the secondary of this id have now. */
  reachOf(primary: SimulatedCluster, id: string): SetReach | undefined {
    const visible = visibleTo(id, this.placedAt(primary))
    return visible && { ...visible, namespaces: new Map([[ROOT_NAMESPACE, NO_ENTRY], ...visible.namespaces]) }
  }

  /** What is not as the filter of the primary says, once all came; undefined: nothing. */
  async lacking(cluster: SimulatedCluster, id: string, primary: SimulatedCluster): Promise<string | undefined> {
    const { reach, leaving, mustPurge } = await this.noted(cluster)
    if (leaving.length > 0 || mustPurge) return `${cluster.name} still has ${leaving.join()}`
    return isDeepStrictEqual(reach, this.reachOf(primary, id))
      ? undefined
      : `${cluster.name} does not know what the filter lets it have`
  }

  /**
   * I9: neither entries nor log of a secondary have what is kept from it. What a DR secondary forgets follows an
   * invalidation, which no cluster here hears of: test/replication/filtering-faults.test.ts has its log.
   */
  async check(cluster: SimulatedCluster): Promise<void> {
    const { life } = cluster
    if (life === undefined) return
    const isReached = reachedScopes((await this.noted(cluster)).reach)
    const isKept = ({ class: of, key }: { readonly class: string; readonly key: string }): boolean =>
      of === 'replicated' && !isReached(treeScopeOf(key))
    const snapshot = await life.store.snapshot()
    const entries = await snapshot.stored('', Number.POSITIVE_INFINITY)
    await snapshot.close()
    const { origins } = await life.store.position()
    const hears = !origins.some(({ family }) => family === 'dr')
    const logged = hears ? decodeRun(life.disk.content.tables.log).flatMap(({ operations }) => operations) : []
    for (const [where, found] of [
      ['store', entries.find(isKept)],
      ['log', logged.find(isKept)],
    ] as const)
      if (found !== undefined) this.#wrong(cluster, `I9 its ${where} has ${found.key}, which is kept from it`)
  }
}

type Told = NonNullable<Message<'course'>['reach']>

/** What a message tells of what the secondary is to have. */
function toldIn(kind: string, read: () => Message): Told | undefined {
  if (kind !== 'reach' && kind !== 'course') return undefined
  const message = read()
  if (message.kind === 'reach') return message
  return message.kind === 'course' ? message.reach : undefined
}

function isVisible(
  thing: Thing,
  { mounts, namespaces }: { readonly mounts: ReadonlySet<string>; readonly namespaces: ReadonlyMap<string, string> },
): boolean {
  const [kind, name = '', id = ''] = thing.split(' ')
  return kind === 'mount' ? mounts.has(name) : namespaces.has(id)
}

const isWatched = (key: string): boolean => key.split('/', 2)[1] === 'logical' || key.startsWith(IDENTITIES_FOLDER)
/** Id of the namespace that has an identity; no id for anything else. */
const identityOf = (key: string): string =>
  (key.startsWith(IDENTITIES_FOLDER) ? key.slice(IDENTITIES_FOLDER.length).split('/')[1] : undefined) ?? ''

function newKnown(): Known {
  return { entries: PlacedEntries.of([]), things: new Set(), contents: new Map(), links: new Map() }
}
