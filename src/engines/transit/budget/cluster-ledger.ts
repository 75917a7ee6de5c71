// The ledger of a mount on the cluster that owns it: it grants blocks to itself and to the clusters that follow it.
// What it wrote last may be lost with it: another cluster, which has not got it, may take its place. So it makes sure
// that no cluster can have more than a few blocks that are lost so, and the cluster that is promoted counts all of
// them. One that hands over grants nothing until it knows what became of that: so nothing is lost then but its name.
import { fromPeer } from '../../../api/from-peer.ts'
import type { PromotedAs } from '../../../api/mount.ts'
import { maintains } from '../../../api/node-role.ts'
import type { SeenEntries } from '../../../api/seen-entries.ts'
import { checked, count, group, integer, oneOf, text } from '../../../lib/member-kinds.ts'
import { own } from '../../../lib/own.ts'
import type { View, ViewTransaction } from '../../../storage/sealed-storage.ts'
import {
  CLUSTER_LIVES,
  CLUSTER_LIVES_COUNT,
  newClusterName,
  readClusterLives,
  readMountStanding,
} from './cluster-use.ts'
import {
  type AskedVersion,
  askedVersion,
  type CountedKeyReader,
  type ExhaustedParts,
  rotateExhausted,
} from './exhausted-version.ts'
import {
  CLUSTERS,
  CLUSTERS_RECORD,
  type Clusters,
  type Ledger,
  MESSAGE_COUNT,
  readClusters,
  readLedger,
  type Standing,
  standingOf,
  USE_FOLDER,
  withBlock,
  withoutGone,
} from './message-ledger.ts'
import { type MessageLimits, MOST_CLUSTERS } from './message-limits.ts'

/** Changes of the names of clusters that may not be seen: the own one, which is named at once, and others. */
const MOST_UNSEEN_NAMES = 3
/**
 * Further blocks of a version that may not be seen. A secondary that cannot be reached so holds up no encryption for
 * 2^29 messages of each version: six days at a thousand a second.
 */
const MOST_UNSEEN_BLOCKS = 8
/** What a promoted cluster may not know of: so many clusters with their first blocks, and further blocks. */
const UNSEEN = MOST_UNSEEN_NAMES + MOST_UNSEEN_BLOCKS

/**
 * As `UNSEEN`, where the former owner handed over. One whose place was taken alone may have had no name yet. Any other
 * one goes on where it was: it may be named, and so may those that take its place for disaster recovery.
 */
const UNSEEN_OF_REPLACED = 1
const UNSEEN_OF_OTHER = MOST_UNSEEN_NAMES

/** A name as `newClusterName` draws it. */
const CLUSTER_NAME = checked(text, (name) => /^[\w-]{16}$/.test(name))
const JOIN = group({ kind: oneOf('join'), cluster: CLUSTER_NAME }, 'dropped')
const BLOCK = group(
  {
    kind: oneOf('block'),
    cluster: CLUSTER_NAME,
    name: text,
    version: integer({ min: 1 }),
    identity: text,
    /** The number of the wanted block: that of the last one, and one more. */
    number: count,
  },
  'dropped',
)

/** A question from another cluster: to be named in the ledger, or for a block of a version. */
export type GrantCall =
  | { readonly kind: 'join'; readonly cluster: string }
  | ({ readonly kind: 'block'; readonly cluster: string; readonly number: number } & AskedVersion)

/** The answer: whether it was granted, now or before. What counts is the ledger that the asking cluster receives. */
export type GrantAnswer = { readonly isGranted: boolean }

/** Asks the owner of the ledger; resolves when what it wrote can be read here. */
export type AskPrimary = (question: GrantCall) => Promise<unknown>

/** The parts of the mount that the ledger uses. */
export type LedgerParts = ExhaustedParts & {
  readonly storage: View
  readonly keys: CountedKeyReader
  readonly limits: MessageLimits
  readonly randomBytes: (count: number) => Buffer
  /** Missing: no other cluster may be promoted. */
  readonly seen?: SeenEntries | undefined
}

/** Writes the ledger of one mount. */
export class ClusterLedger {
  readonly #parts: LedgerParts

  constructor(parts: LedgerParts) {
    this.#parts = parts
  }

  /** True if this cluster owns the ledger at present. */
  get isOwner(): boolean {
    const { role, mount } = this.#parts
    return maintains(role(), mount())
  }

  /** Finds out which entries have been seen by all: to be called before each transaction that grants. */
  async look(): Promise<void> {
    if (this.isOwner) await this.#parts.seen?.look()
  }

  /** Names this cluster in the ledger that it owns: whoever takes its place counts it, seen or not. */
  async nameOwnIn(tx: ViewTransaction, cluster: string): Promise<Clusters> {
    return this.#named(tx, await readClusters(tx), cluster)
  }

  /** Names another cluster in the ledger, unless it is named; returns the clusters as they are then. */
  async #nameIn(tx: ViewTransaction, cluster: string, secondary: string): Promise<Clusters> {
    const before = await readClusters(tx)
    if (this.#mayBeReplaced || this.#unseen(CLUSTERS) >= MOST_UNSEEN_NAMES - 1) return before
    return this.#named(tx, before, cluster, secondary)
  }

  async #named(tx: ViewTransaction, before: Clusters, cluster: string, secondary?: string): Promise<Clusters> {
    if (before.clusters.includes(cluster)) return this.#ofSecondary(tx, before, cluster, secondary)
    const isFull = before.clusters.length >= MOST_CLUSTERS
    const { clusters, gone, of } = isFull ? await this.#withoutLeft(tx, before, secondary) : before
    if (clusters.length >= MOST_CLUSTERS) return before
    const known = secondary === undefined ? of : { ...of, [cluster]: secondary }
    const after = { clusters: [...clusters, cluster], gone, ...(known === undefined ? {} : { of: known }) }
    tx.put(CLUSTERS, CLUSTERS_RECORD.encode(after))
    return after
  }

  /** A former owner that follows is a secondary from then on: it was named as nobody's. */
  #ofSecondary(tx: ViewTransaction, before: Clusters, cluster: string, secondary: string | undefined): Clusters {
    const { of = {} } = before
    if (secondary === undefined || own(of, cluster) === secondary) return before
    const after = { ...before, of: { ...of, [cluster]: secondary } }
    tx.put(CLUSTERS, CLUSTERS_RECORD.encode(after))
    return after
  }

  /**
   * The clusters without those whose secondaries were revoked, and those that came again under another name: a cluster
   * draws one with each activation. `asking` comes again. Where none has, those go that are of no secondary: they owned
   * the ledger before a promotion, and have not followed since. One that is left out by mistake is named again with the
   * next block that it asks for.
   */
  async #withoutLeft(tx: ViewTransaction, before: Clusters, asking: string | undefined): Promise<Clusters> {
    const { cluster: itself } = await readClusterLives(tx)
    const { clusters, of = {} } = before
    const later = new Set(asking === undefined ? [] : [asking])
    const left = new Set<string>()
    const formerOwners = new Set<string>()
    for (const one of clusters.toReversed()) {
      if (one === itself) continue
      const secondary = own(of, one)
      if (secondary === undefined) {
        formerOwners.add(one)
        continue
      }
      if (later.has(secondary) || this.#parts.seen?.mayFollow(secondary) === false) left.add(one)
      later.add(secondary)
    }
    const isGone = left.size > 0 ? left : formerOwners
    return withoutGone(before, (one) => isGone.has(one))
  }

  /** Grants a cluster the block of this number, if it is the next; returns the entry as it is then. */
  async grantIn(
    tx: ViewTransaction,
    identity: string,
    { ledger, standing }: { readonly ledger: Ledger; readonly standing: Standing },
    wanted: { readonly cluster: string; readonly number: number },
  ): Promise<Ledger> {
    const { limits } = this.#parts
    if (this.#mayBeReplaced) return ledger
    const granted = withBlock(limits, ledger, standing, wanted)
    const seen = this.#unseen(USE_FOLDER + identity) === 0 ? ledger.granted : (ledger.seen ?? 0)
    if (granted === undefined || granted.granted - seen > MOST_UNSEEN_BLOCKS * limits.block) return ledger
    const after = { ...granted, seen }
    tx.put(USE_FOLDER + identity, MESSAGE_COUNT.encode(after))
    return after
  }

  get #mayBeReplaced(): boolean {
    return this.#parts.seen?.mayBeReplaced() ?? false
  }

  #unseen(path: string): number {
    return this.#parts.seen?.unseen(path) ?? 0
  }

  /** Answers another cluster, which is registered as `secondary`. @throws Refusal for what is no question */
  async answer(question: unknown, secondary: string): Promise<GrantAnswer> {
    const asked = read(question)
    if (!this.isOwner) return { isGranted: false }
    await this.look()
    if (asked.kind === 'join') return { isGranted: await this.#join(asked.cluster, secondary) }
    const { isGranted, isLast } = await this.#parts.storage.transaction((tx) => this.#grant(tx, asked, secondary))
    if (isLast && !isGranted) await rotateExhausted(this.#parts, asked)
    return { isGranted }
  }

  async #join(cluster: string, secondary: string): Promise<boolean> {
    const { clusters } = await this.#parts.storage.transaction((tx) => this.#nameIn(tx, cluster, secondary))
    return clusters.includes(cluster)
  }

  async #grant(tx: ViewTransaction, asked: Extract<GrantCall, { readonly kind: 'block' }>, secondary: string) {
    const { cluster, number, identity } = asked
    const { clusters } = await this.#nameIn(tx, cluster, secondary)
    const found = await askedVersion(tx, this.#parts.keys, asked)
    if (found === undefined || !clusters.includes(cluster)) return { isGranted: false, isLast: false }
    const mount = { ...(await readMountStanding(tx)), cluster }
    const ledger = await readLedger(tx, identity)
    const { limits } = this.#parts
    const standing = standingOf(limits, mount, found.its, ledger)
    const after = await this.grantIn(tx, identity, { ledger, standing }, { cluster, number })
    const isGranted = (own(after.clusters ?? {}, cluster)?.number ?? 0) >= number
    return { isGranted, isLast: standing.reserved >= limits.most && found.latestVersion === asked.version }
  }

  /**
   * Counts what may have been granted and is not known here: to be called when this cluster has become the owner, and
   * before it grants anything. `takesPlace`: it has taken the place of another one, of whose use it knows the past
   * alone, and goes on under a name of its own; the engine is to be reset on every thread then. One that does not own
   * the ledger asks the owner to name it, as any cluster does. Nothing but two entries is written, whatever the number
   * of keys.
   * `promotion` names the change: it counts once then, however often this is called before the first life after it.
   */
  async promoted({ takesPlace, isHandedOver, isOwner }: PromotedAs, promotion?: string): Promise<void> {
    await this.#parts.storage.transaction(async (tx) => {
      const before = await readClusters(tx)
      const { lives, cluster, promotion: known } = await readClusterLives(tx)
      if (promotion !== undefined && promotion === known) return
      const name = takesPlace ? newClusterName(this.#parts.randomBytes) : cluster
      const own = { lives: takesPlace ? 0 : lives, cluster: name, ...(promotion === undefined ? {} : { promotion }) }
      tx.put(CLUSTER_LIVES, CLUSTER_LIVES_COUNT.encode(own))
      if (!isOwner) return
      const others = takesPlace ? withoutGone(before, (one) => one === cluster) : before
      const ofReplaced = others.gone > before.gone ? 0 : UNSEEN_OF_REPLACED
      const unseen = !isHandedOver ? UNSEEN : takesPlace ? ofReplaced : UNSEEN_OF_OTHER
      const clusters = name === '' || others.clusters.includes(name) ? others.clusters : [...others.clusters, name]
      tx.put(CLUSTERS, CLUSTERS_RECORD.encode({ ...others, clusters, gone: others.gone + unseen }))
    })
  }
}

/** @throws Refusal that names the member which is wrong */
function read(question: unknown): GrantCall {
  const isJoin = (question as { readonly kind?: unknown } | null)?.kind === 'join'
  return isJoin ? fromPeer(JOIN, 'question', question) : fromPeer(BLOCK, 'question', question)
}
