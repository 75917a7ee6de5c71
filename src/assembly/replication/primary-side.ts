// What secondaries ask of their primary, answered by its store and its seal: on the thread that writes.

import { describeCause } from '../../core/describe-cause.ts'
import { encodeBase64 } from '../../lib/base64.ts'
import type { Log } from '../../lib/log.ts'
import type { World } from '../../lib/world.ts'
import type { Arrival, Greeted, KeyPackage, PrimaryOwner } from '../../replication/link/link-sides.ts'
import type { SetReach } from '../../replication/reach.ts'
import {
  admitInstance,
  admitSecondary,
  type BootstrapClaim,
  claimBootstrap,
  confirmBootstrap,
  type Greeting,
  isReceiverOf,
  noteSecondary,
  noteTrust,
  OTHER_RECEIVER,
  type PeerRefusal,
  renewLeaf,
  trustFor,
} from '../../replication/set/admission.ts'
import { clearAsked, noteAsked } from '../../replication/set/asked-takeover.ts'
import { readAuthorities, trustedOf } from '../../replication/set/authorities.ts'
import { leavePlaceInSet, takeSuccessor } from '../../replication/set/changing-hands.ts'
import { peerSegment, REPLICATION_FAMILIES, uriOfPeer } from '../../replication/set/peer-name.ts'
import { knownSecondaries } from '../../replication/set/primary-operations.ts'
import { placeNote, readAbandoned, readLineage, readState, type SetTransaction } from '../../replication/set/records.ts'
import { treeKeeper } from '../../replication/source/source-keeper.ts'
import type { Judged } from '../../replication/source/source-reach.ts'
import type { Barrier } from '../../storage/barrier.ts'
import type { Store, TreeBucket } from '../../storage/contract.ts'
import { StorageCorrupt, StorageRefused } from '../../storage/errors.ts'
import type { LogHold, ReplicationFamily } from '../../storage/peer-log.ts'
import type { View } from '../../storage/sealed-storage.ts'
import { type SealBundle, sealBundle, wipeBundle } from '../../system/seal/seal-bundle.ts'
import { KEYRING, SEAL_FOLDER } from '../../system/seal/seal-records.ts'
import type { TreeChecks } from '../../system/tree-checks.ts'
import { askerOf, type HandingOver } from './handing-over.ts'
import type { ReadingReach } from './reading-reach.ts'

/** The parts that the primary's side works with. */
export type PrimarySideParts = {
  readonly view: View
  readonly store: Store
  readonly barrier: Barrier
  readonly world: Pick<World, 'clock' | 'random' | 'timers'>
  /** The seal as it is now; the caller wipes it. @throws Refusal while sealed */
  readonly bundle: () => Promise<SealBundle>
  /** Id of the present shares. */
  readonly sealId: () => string
  readonly handingOver: HandingOver
  /** The index up to which all secondaries for disaster recovery have the log; Infinity if there are none. */
  readonly reachedByStandIns: () => Promise<{ readonly index: number; readonly areConnected: boolean }>
  readonly reading: Pick<ReadingReach, 'reachAsOfNow'>
  readonly log: Log
  /** The records of the sets say another role than before. */
  readonly onChanged: () => Promise<void>
  /** Ends the links of these secondaries: they hear why when they come again. */
  readonly sendAway: (family: ReplicationFamily, ids: readonly string[]) => Promise<void>
  readonly checks: Pick<TreeChecks, 'suspect'>
  /** A secondary trusts other authorities than before. */
  readonly onTrust: () => Promise<void>
}

/** How long a question to hand over waits for those who may take the place of this cluster. */
const STAND_INS_MS = 1_000
const STAND_INS_LOOK_MS = 20

/** The name of the hold of a secondary's log. */
export const holdOf = (family: ReplicationFamily, id: string): string => `${family}/${peerSegment(id)}`

/** What binds keys on their way to one secondary: those that were recorded on another way open nothing. */
export const contextOf = ({ set, id }: Pick<Arrival, 'set' | 'id'>): Buffer =>
  Buffer.from(uriOfPeer({ ...set, role: 'secondary', id }))

/** Thrown to leave a transaction without a change. */
class OnlyLooked extends Error {}

/** The primary's side of all sets. */
export class PrimarySide implements Omit<PrimaryOwner, 'handed' | 'reached'> {
  readonly #parts: PrimarySideParts
  /** Holds of secondaries that were revoked: what they still have under way must not hold the log again. */
  readonly #released = new Set<string>()

  constructor(parts: PrimarySideParts) {
    this.#parts = parts
  }

  async admit(arrival: Arrival, receiver: Buffer, instance: number, clusterId: string): Promise<Greeted | PeerRefusal> {
    return this.#run(async (tx) => {
      const admitted = await admitInstance(tx, this.#greeting(arrival), { receiver, instance, clusterId })
      if ('refused' in admitted) return admitted
      const { family } = arrival.set
      const [epoch, abandoned] = [await epochOf(tx, family), await readAbandoned(tx)]
      const followed = await readLineage(tx, family)
      return { epoch, histories: await this.#parts.store.histories(), abandoned, followed }
    })
  }

  async claim(arrival: Arrival, claim: BootstrapClaim & { readonly isLook: boolean }) {
    const outcome = await this.#claimed(arrival, claim)
    if ('refused' in outcome) return outcome
    return claim.isLook ? 'welcome' : this.#package(arrival, claim.receiver, outcome.epoch)
  }

  async #claimed(arrival: Arrival, { isLook, ...claim }: BootstrapClaim & { readonly isLook: boolean }) {
    let looked: { readonly epoch: number } | PeerRefusal | undefined
    try {
      return await this.#run(async (tx) => {
        const claimed = await claimBootstrap(tx, this.#greeting(arrival), claim)
        const outcome = 'refused' in claimed ? claimed : { epoch: await epochOf(tx, arrival.set.family) }
        if (!isLook) return outcome
        looked = outcome
        throw new OnlyLooked()
      })
    } catch (cause) {
      if (cause instanceof OnlyLooked && looked !== undefined) return looked
      throw cause
    }
  }

  async #package(arrival: Arrival, receiver: Buffer, epoch: number): Promise<KeyPackage> {
    const { store } = this.#parts
    const seal = await this.#sealed(arrival, receiver)
    const [keyring, leafKey] = [await store.get(KEYRING), await store.get(`${SEAL_FOLDER}leaf-key`)]
    if (keyring === undefined || leafKey === undefined) throw new StorageCorrupt('A store has no keyring or leaf key')
    return { seal, keyring, leafKey, epoch }
  }

  async #sealed(arrival: Arrival, receiver: Buffer): Promise<Buffer> {
    const { bundle, world } = this.#parts
    const own = await bundle()
    try {
      return sealBundle(own, receiver, contextOf(arrival), world.random)
    } finally {
      wipeBundle(own)
    }
  }

  async confirm(arrival: Arrival, claim: BootstrapClaim) {
    const confirmed = await this.#run((tx) => confirmBootstrap(tx, this.#greeting(arrival), claim))
    return 'refused' in confirmed ? confirmed : 'confirmed'
  }

  async renew(arrival: Arrival, spki: Buffer) {
    const { random, clock } = this.#parts.world
    return this.#run(async (tx) => {
      const renewed = await renewLeaf(tx, this.#greeting(arrival), spki, { random, nowMs: clock.nowMs() })
      if ('refused' in renewed) return renewed
      const trusted = trustedOf(await readAuthorities(tx, arrival.set.family))
      return { certificate: renewed.certificate, trusted }
    })
  }

  trustFor(arrival: Arrival): Promise<readonly Buffer[] | undefined> {
    return this.#run((tx) => trustFor(tx, this.#greeting(arrival)))
  }

  async trusts(arrival: Arrival, fingerprints: readonly Buffer[]): Promise<void> {
    const marks = fingerprints.map((one) => encodeBase64(one))
    const isNews = await this.#run((tx) => noteTrust(tx, this.#greeting(arrival), marks))
    if (!isNews) return
    const { onTrust, log } = this.#parts
    // Not awaited, and tried again at the next look: the link goes on.
    onTrust().catch((cause: unknown) => log('debug', 'The links were not told of it', { cause: describeCause(cause) }))
  }

  async note({ set, id }: Arrival, noted: Parameters<PrimaryOwner['note']>[1]): Promise<void> {
    const { historyId } = await this.#parts.store.position()
    const acknowledged =
      noted.acknowledged === undefined ? undefined : { historyId: encodeBase64(historyId), index: noted.acknowledged }
    const entry = { acknowledged, clusterAddresses: [...noted.addresses], apiAddress: noted.api }
    await this.#run((tx) => noteSecondary(tx, set.family, id, entry))
  }

  /**
   * The certificate alone is not enough: a copy of the activation token has it too, and with the seal everything that
   * the set has could be read.
   */
  async sealFor(arrival: Arrival, { key, sealId }: { readonly key: Buffer; readonly sealId: string }) {
    const admitted = await this.#run((tx) => admitSecondary(tx, this.#greeting(arrival)))
    if ('refused' in admitted) throw new StorageRefused(admitted.sentence)
    if (!isReceiverOf(admitted.entry, key)) throw new StorageRefused(OTHER_RECEIVER)
    return this.#parts.sealId() !== sealId ? this.#sealed(arrival, key) : undefined
  }

  async hold({ set, id }: Arrival, hold: Pick<LogHold, 'kind' | 'from'>): Promise<void> {
    const name = holdOf(set.family, id)
    if (this.#released.has(name)) throw new StorageRefused('The secondary was revoked: the log is not held for it')
    await this.#parts.store.hold({ name, ...hold })
  }

  /** The log is held no more for this secondary, until `issued` says that it has a new token. */
  async release(family: ReplicationFamily, id: string): Promise<void> {
    const name = holdOf(family, id)
    this.#released.add(name)
    await this.#parts.store.release(name)
  }

  /** As `release` for a while: who has a new token may hold it again. */
  async dropHold(family: ReplicationFamily, id: string): Promise<void> {
    await this.#parts.store.release(holdOf(family, id))
  }

  /** Gives up the holds of those that follow no more: a server that ends right behind a revocation leaves one. */
  async releaseStrays(): Promise<void> {
    const { view, store } = this.#parts
    const known = await view.transaction(async (tx) => {
      const ids = REPLICATION_FAMILIES.map(async (family) =>
        (await knownSecondaries(tx, family)).map((id) => holdOf(family, id)),
      )
      return new Set((await Promise.all(ids)).flat())
    })
    for (const { name } of (await store.retained()).holds) if (!known.has(name)) await store.release(name)
  }

  /** The id has a new token. */
  issued(family: ReplicationFamily, id: string): void {
    this.#released.delete(holdOf(family, id))
  }

  async drain(arrival: Arrival) {
    const { handingOver, store } = this.#parts
    const { family } = arrival.set
    const admitted = await this.#run((tx) => admitSecondary(tx, this.#greeting(arrival)))
    if ('refused' in admitted) return admitted
    await handingOver.begin(askerOf(family, arrival.id))
    // Not before it began: until then, what the secondary acknowledges may be of an earlier time.
    const noted = await this.#run(async (tx) => {
      const again = await admitSecondary(tx, this.#greeting(arrival))
      if (!('refused' in again)) noteAsked(tx, family, again.entry)
      return again
    })
    if ('refused' in noted) return noted
    // Behind what was being committed: the caller reads where the log ends.
    const { index } = await store.position()
    return { grantsNothing: family === 'dr' || (await this.#standInsHave(index)) }
  }

  /**
   * Waits a moment until all have this that may take the place of this cluster in a set for performance. One that has
   * not does not know who asked: it would grant messages beside the one that is promoted. One that is away is not
   * waited for, since nothing is written meanwhile.
   */
  async #standInsHave(index: number): Promise<boolean> {
    const { world, reachedByStandIns } = this.#parts
    for (const endsAtMs = world.clock.monotonicMs() + STAND_INS_MS; ; await world.timers.sleep(STAND_INS_LOOK_MS)) {
      const reached = await reachedByStandIns()
      if (reached.index >= index) return true
      if (!reached.areConnected || world.clock.monotonicMs() >= endsAtMs) return false
    }
  }

  async resume(arrival: Arrival): Promise<void> {
    const { set, id } = arrival
    const isHeard = await this.#run(async (tx) => {
      if ('refused' in (await admitSecondary(tx, this.#greeting(arrival)))) return false
      await clearAsked(tx, set.family, id)
      return true
    })
    if (isHeard) await this.#parts.handingOver.end(askerOf(set.family, id))
  }

  async tookOver(arrival: Arrival, told: Parameters<PrimaryOwner['tookOver']>[1]) {
    const { handingOver, log, onChanged, sendAway } = this.#parts
    const { family } = arrival.set
    const { receiver, followed, historyId, before, ...takeover } = told
    const place = followed === undefined ? null : placeNote(followed)
    const successor = {
      ...takeover,
      historyId: encodeBase64(historyId),
      followed: place,
      before: before.map(encodeBase64),
    }
    const taken = await this.#run((tx) => takeSuccessor(tx, this.#greeting(arrival), receiver, successor))
    const fields = { family, secondary: arrival.id, cluster: takeover.clusterId }
    if (taken !== 'fenced') {
      log('warn', 'A secondary says that it took over, and is not believed', { ...fields, why: taken.sentence })
      return taken
    }
    const hasLeft = await this.#run(leavePlaceInSet)
    handingOver.drop()
    await onChanged()
    log('warn', 'Another cluster took over as primary: this one writes nothing from now on', fields)
    const others = (await this.#run((tx) => knownSecondaries(tx, family))).filter((id) => id !== arrival.id)
    await sendAway(family, others)
    if (hasLeft) await sendAway('performance', await this.#run((tx) => knownSecondaries(tx, 'performance')))
    return taken
  }

  async tree() {
    const { index, tree } = await this.#parts.store.tree()
    return { index, pages: tree.pages() }
  }

  keysIn(buckets: readonly TreeBucket[]) {
    return treeKeeper(this.#parts.store, 'dr').keysIn(buckets)
  }

  root(family: ReplicationFamily, reach: SetReach | undefined) {
    return treeKeeper(this.#parts.store, family).root(reach)
  }

  /** The links send a secondary nothing that this does not allow. */
  async reachOf({ id }: Arrival): Promise<Judged> {
    const { index, reach } = await this.#parts.reading.reachAsOfNow(id)
    return { index, reach }
  }

  async differs(_arrival: Arrival): Promise<void> {
    this.#parts.checks.suspect()
  }

  #greeting({ set, id, certificate }: Arrival): Greeting {
    return { family: set.family, certificate, says: { ...set, id }, nowMs: this.#parts.world.clock.nowMs() }
  }

  #run<T>(work: (tx: SetTransaction) => Promise<T>): Promise<T> {
    return this.#parts.view.transaction(work)
  }
}

async function epochOf(tx: SetTransaction, family: ReplicationFamily): Promise<number> {
  return (await readState(tx, family))?.epoch ?? 0
}
