// What the link to a primary asks of the secondary that has it, answered by its store and its seal: on the thread that
// writes.
//
//   root/core/replication/transfer/dr            the copy or comparison that is running; missing: what is here is whole
//   root/core/replication/performance/transfer   the same in the family performance
//   root/core/replication/performance/compares   the comparison that it begins with, as it took another one's place

import { describeCause } from '../../core/describe-cause.ts'
import { X25519_BYTES, x25519Key } from '../../crypto/primitives/hpke.ts'
import { encodeBase64 } from '../../lib/base64.ts'
import type { Log } from '../../lib/log.ts'
import { OneAtATime } from '../../lib/one-at-a-time.ts'
import type { World } from '../../lib/world.ts'
import type { FollowerStanding, SecondaryOwner, ShownStanding } from '../../replication/link/link-sides.ts'
import { ProtocolFault } from '../../replication/protocol/frames.ts'
import type { Place } from '../../replication/protocol/messages.ts'
import { digestOfReach, type SetReach } from '../../replication/reach.ts'
import { wipeActivation } from '../../replication/set/activation-bundle.ts'
import { leavePlaceInSet, readParted, takeConflict } from '../../replication/set/changing-hands.ts'
import { dropFormers, forgetFormers, type WhichFormers } from '../../replication/set/formers.ts'
import { REPLICATION_FAMILIES } from '../../replication/set/peer-name.ts'
import { knownSecondaries } from '../../replication/set/primary-operations.ts'
import {
  EVERYTHING,
  placeOfNote,
  putLineage,
  readPromotions,
  readState,
  SETS_FOLDER,
  type SetReader,
  type SetTransaction,
  setPath,
  wholeLineage,
} from '../../replication/set/records.ts'
import {
  activationWasHeard,
  copyIsWhole,
  enteredActivation,
  keepPrimaryAddresses,
  keepRenewedLeaf,
  keepTrust,
  ownIdentity,
  ownInstance,
  type RenewedLeaf,
} from '../../replication/set/secondary-operations.ts'
import { COMPARES, putStood, readTransfer, TRANSFER_NOTE, transferPath } from '../../replication/set/transfer-note.ts'
import { HeldBack } from '../../replication/sink/held-back.ts'
import { type SinkNote, sinkKeeper, type TakenWith } from '../../replication/sink/sink-keeper.ts'
import type { SinkBatch, SinkKeeper } from '../../replication/sink/sink-parts.ts'
import { partedAt } from '../../replication/undone/undone-records.ts'
import type { Barrier } from '../../storage/barrier.ts'
import { isOwnPart, scopeOfKey } from '../../storage/classes.ts'
import { type Adopted, type Store, systemScope, type Transaction, type TreeBucket } from '../../storage/contract.ts'
import { StorageRefused } from '../../storage/errors.ts'
import type { Invalidation } from '../../storage/invalidation.ts'
import type { Origin, ReplicationFamily } from '../../storage/peer-log.ts'
import type { View } from '../../storage/sealed-storage.ts'
import type { KeyringRotation } from '../../system/seal/keyring-rotation.ts'
import { BundleRefused, openBundle, type SealBundle, wipeBundle } from '../../system/seal/seal-bundle.ts'
import type { TreeChecks } from '../../system/tree-checks.ts'
import { FollowedPurge } from './followed-purge.ts'
import { KeptReach } from './kept-reach.ts'
import { contextOf } from './primary-side.ts'
import { ReachSweep, type ReachSweepParts } from './reach-sweep.ts'
import { removeStrayReloads } from './stray-reloads.ts'

/** What is noted of a filter, after the namespace. */
const REACH_PREFIX = `core/replication/${setPath('performance', 'reach')}`
/** How long the log stays for DR secondaries of this cluster before what a filter forbids goes from it. */
const FOLLOWERS_MS = 10_000

/** The parts that the secondary's side works with. */
export type SecondarySideParts = {
  readonly view: View
  readonly store: Store
  readonly barrier: Barrier
  readonly rotation: Pick<KeyringRotation, 'adopt'>
  readonly world: World
  readonly log: Log
  readonly sealId: () => string
  readonly checks: Pick<TreeChecks, 'mend'>
  readonly leases: ReachSweepParts['leases']
  readonly invalidation: Pick<Invalidation, 'register'>
  /** Takes over the shares of the primary, as `Seal.follow`. @throws BundleRefused, Refusal while sealed */
  readonly follow: (bundle: SealBundle, instead: string) => Promise<boolean>
  /** The records of the sets say another role, or other parts, than before. */
  readonly onChanged: () => Promise<void>
  /** Ends the links of these secondaries: they hear why when they come again. */
  readonly sendAway: (family: ReplicationFamily, ids: readonly string[]) => Promise<void>
  /** Of former primaries, as the histories that name them. */
  readonly onTakeoverKnown: (replacedBy: readonly string[]) => void
  /** Keeps what this cluster wrote behind a place that it shares with its primary, before it is undone. */
  readonly keepUndone: (family: ReplicationFamily, fork: Place) => Promise<void>
}

/** The secondary's side of the sets that this cluster follows. */
export class SecondarySide implements SecondaryOwner {
  readonly #parts: SecondarySideParts
  readonly #keepers: Readonly<Record<ReplicationFamily, SinkKeeper>>
  /** One step after the other, so that a promotion can be between two. */
  readonly #taking = new OneAtATime()
  /** Leaves and authorities are kept in the order in which they were sent: the last word of the primary counts. */
  readonly #certificates = new OneAtATime()
  /** Families in which this cluster was promoted, has left its set, or was given another primary. */
  readonly #ended = new Set<ReplicationFamily>()
  /** False: what this secondary has is what it applied of its present primary. Missing: not known. */
  readonly #isParted = new Map<ReplicationFamily, boolean>()
  readonly #reach: KeptReach
  readonly #sweep: ReachSweep
  readonly #followedPurge: FollowedPurge
  /** The note as it was stored last; undefined: not known. */
  readonly #noted = new Map<ReplicationFamily, string>()

  constructor(parts: SecondarySideParts) {
    this.#parts = parts
    const store = {
      adopt: (...adopted: Parameters<Store['adopt']>) => parts.rotation.adopt(...adopted),
      tree: () => parts.store.tree(),
      image: () => parts.store.image(),
      roots: (...wanted: Parameters<Store['roots']>) => parts.store.roots(...wanted),
    }
    const keeper = (family: ReplicationFamily, filtered?: Pick<TakenWith, 'heldBack'>): SinkKeeper =>
      sinkKeeper(store, family, {
        note: (tx, taken) => this.#note(tx, family, taken),
        reached: () => this.ownReach(family),
        mend: () => parts.checks.mend(),
        ...filtered,
      })
    const heldBack = new HeldBack(async (key) => (await parts.store.get(key)) !== undefined)
    this.#keepers = { dr: keeper('dr'), performance: keeper('performance', { heldBack }) }
    this.#reach = new KeptReach(parts)
    this.#followedPurge = new FollowedPurge({ ...parts, kept: this.#reach, purge: () => this.#purge() })
    const due = (): void => this.#followedPurge.due()
    parts.invalidation.register({ prefix: REACH_PREFIX, changed: due, reset: due })
    this.#sweep = new ReachSweep({
      ...parts,
      kept: this.#reach,
      alone: (step) => this.#taking.run(step),
      remove: (keys) => this.#remove(keys),
      purge: () => this.#purge(),
    })
  }

  async standing(family: ReplicationFamily): Promise<FollowerStanding> {
    const { view, store, sealId } = this.#parts
    await this.#taking.run(() => this.#begins(family))
    const position = await store.position()
    const followed = position.origins.find((origin) => origin.family === family)
    const { transfer, epoch, receiver, mode, parted, instance } = await view.transaction(async (tx) => ({
      transfer: await readTransfer(tx, family),
      parted: await readParted(tx, family),
      receiver: await receiverOf(tx, family),
      instance: await ownInstance(tx, family),
      ...(await modeOf(tx, family)),
    }))
    // The process may have ended right behind the last piece.
    if (mode === 'bootstrapping' && followed !== undefined && transfer === undefined) await this.#isWhole(family)
    this.#isParted.set(family, parted !== undefined)
    const applied = parted?.isOwnLog ? position : followed
    const stands = { applied, isParted: parted !== undefined, transfer }
    const reach = digestOfReach(await this.ownReach(family))
    return { ...stands, epoch, receiver, instance, histories: await store.histories(), sealId: sealId(), reach }
  }

  shown(family: ReplicationFamily): Promise<ShownStanding> {
    return this.#parts.view.transaction(async (tx) => ({
      receiver: await receiverOf(tx, family),
      instance: await ownInstance(tx, family),
    }))
  }

  async unconfirmed(family: ReplicationFamily) {
    const kept = await this.#parts.view.transaction((tx) => enteredActivation(tx, family))
    if (kept === undefined) return undefined
    const { bundle, receiver } = kept
    const said = { nonce: Buffer.from(bundle.nonce.reveal()), receiver: x25519Key(receiver).publicKey }
    receiver.fill(0)
    wipeActivation(bundle)
    return said
  }

  async confirmed(family: ReplicationFamily, nonce: Buffer): Promise<void> {
    await this.#parts.view.transaction((tx) => activationWasHeard(tx, family, nonce))
  }

  async primaryIsAt(family: ReplicationFamily, addresses: readonly string[], apiAddress: string): Promise<void> {
    const { view, onChanged } = this.#parts
    const isNew = await view.transaction((tx) => keepPrimaryAddresses(tx, family, addresses, apiAddress))
    if (isNew) await onChanged()
  }

  async renewed(family: ReplicationFamily, leaf: RenewedLeaf) {
    const { view, world, onChanged } = this.#parts
    const keep = (tx: SetTransaction) => keepRenewedLeaf(tx, family, leaf, world.clock.nowMs())
    try {
      await this.#certificates.run(() => view.transaction(keep))
    } finally {
      leaf.key.fill(0)
    }
    await onChanged()
  }

  async trustCame(family: ReplicationFamily, trusted: readonly Buffer[]): Promise<void> {
    const { view, onChanged } = this.#parts
    await this.#certificates.run(() => view.transaction((tx) => keepTrust(tx, family, trusted)))
    // Also where nothing is new: the links may not have heard of it when it was, and the primary counts on them.
    await onChanged()
  }

  async sealCame(family: ReplicationFamily, sealed: Buffer, instead: string): Promise<string> {
    await this.#takeSeal(family, sealed, instead)
    return this.#parts.sealId()
  }

  async #takeSeal(family: ReplicationFamily, sealed: Buffer, instead: string): Promise<void> {
    const { view, follow, log } = this.#parts
    const { seed, context } = await view.transaction(async (tx) => ({
      seed: await tx.get(setPath(family, 'receiver')),
      context: await contextOfOwn(tx, family),
    }))
    if (seed === undefined || context === undefined) return
    let bundle: SealBundle | undefined
    try {
      bundle = openBundle(x25519Key(seed), sealed, context)
      if (await follow(bundle, instead)) log('info', 'The new shares of the primary open this server from now on')
    } catch (cause) {
      if (!(cause instanceof BundleRefused)) throw cause
      log('error', `The shares of the primary could not be taken over. ${cause.message}`, { reason: cause.reason })
    } finally {
      seed.fill(0)
      if (bundle !== undefined) wipeBundle(bundle)
    }
  }

  async take(family: ReplicationFamily, batch: SinkBatch): Promise<Adopted> {
    return this.#taking.run(() => this.#take(family, batch))
  }

  /**
   * Runs work while nothing of a primary is applied. If it succeeds, nothing of that family ever is, until a link to
   * another one begins.
   */
  whileNothingComes<T>(family: ReplicationFamily, work: () => Promise<T>): Promise<T> {
    return this.#taking.run(async () => {
      const done = await work()
      this.#noted.clear()
      this.#ended.add(family)
      return done
    })
  }

  /** A link begins: what comes over it is applied, if the cluster follows a primary. Those to earlier ones ended. */
  async #begins(family: ReplicationFamily): Promise<void> {
    const { mode, identity, isStandIn } = await this.#parts.view.transaction(async (tx) => ({
      ...(await modeOf(tx, family)),
      identity: await tx.get(setPath(family, 'identity')),
      // The links hear a little later than the store that this cluster was demoted for disaster recovery.
      isStandIn: family === 'performance' && (await isSecondaryForDr(tx)),
    }))
    if (mode !== 'primary' && identity !== undefined && !isStandIn) this.#ended.delete(family)
  }

  async #take(family: ReplicationFamily, batch: SinkBatch): Promise<Adopted> {
    if (this.#ended.has(family)) throw new StorageRefused('This cluster does not follow a primary any more')
    if (batch.mode === 'anew') {
      const fork = batch.fork ?? (await this.#ownFork(family))
      const histories = await this.#parts.store.histories()
      for (const place of partedAt(fork, batch.followed ?? [], histories)) await this.#parts.keepUndone(family, place)
      await this.#parts.view.transaction((tx) => putLineage(tx, family, batch.followed ?? [], 'half'))
      if (family === 'dr') await this.#noteStood()
    }
    const outcome = await this.#keepers[family].take(await this.#narrowed(family, batch))
    if (outcome.kind === 'adopted' && batch.reach !== undefined) this.#sweep.due()
    const isEnd = outcome.kind === 'adopted' && batch.mode === 'redo' && batch.transfer === undefined
    const { followed } = batch
    if (outcome.kind === 'adopted' && batch.mode === 'follow' && followed !== undefined)
      await this.#parts.view.transaction((tx) => putLineage(tx, family, followed))
    if (isEnd) {
      await this.#parts.view.transaction((tx) => wholeLineage(tx, family))
      await this.#isWhole(family)
    }
    // What a comparison removed is gone now, as it is from the primary.
    if (isEnd && family === 'dr') this.#followedPurge.due()
    return outcome
  }

  async #noteStood(): Promise<void> {
    const { view, store } = this.#parts
    const place = await performancePlace(store)
    await view.transaction(async (tx) => putStood(tx, place))
  }

  /** With news of what this cluster is to have: what shows the rest goes in the same step. */
  async #narrowed(family: ReplicationFamily, batch: SinkBatch): Promise<SinkBatch> {
    if (batch.reach === undefined) return batch
    if (family !== 'performance') throw new ProtocolFault('damaged', 'The primary of a DR secondary sent a filter')
    const isNew = batch.mode === 'anew' && batch.transfer?.what === 'copy'
    const { shown, ...rest } = await this.#reach.restOf(batch.reach.only, isNew)
    return { ...batch, state: { entries: [], gone: shown }, reach: { ...batch.reach, rest } }
  }

  /** The store forgets what was deleted up to now. Those who follow this cluster get time to have the log before. */
  async #purge(): Promise<number> {
    const { store, world } = this.#parts
    await removeStrayReloads(store)
    const { index } = await store.position()
    if ((await store.retained()).holds.length > 0) await world.timers.sleep(FOLLOWERS_MS)
    await store.purge(index)
    return index
  }

  /**
   * Removes entries that this cluster is not to have: of a secondary, as of where it stands. That is no step of what
   * its primary sends, and so leaves what is noted of that alone. What a cluster keeps for itself is its own to remove.
   */
  async #remove(keys: readonly string[]): Promise<boolean> {
    const { view, store, rotation } = this.#parts
    const { state, isStandIn } = await view.transaction(async (tx) => ({
      state: await readState(tx, 'performance'),
      isStandIn: await isSecondaryForDr(tx),
    }))
    // Its DR primary removes it, and the log of that brings it here.
    if (isStandIn) return false
    if (state?.mode === 'primary' && state.isFenced) return false
    const isFollowing = state !== undefined && state.mode !== 'primary'
    const own = isFollowing ? keys.filter(isOwnPart) : keys
    if (own.length > 0)
      await store.transaction(async (tx) => {
        for (const key of own) tx.delete(scopeOfKey(key, 'replicated'), key)
      })
    const gone = isFollowing ? keys.filter((key) => !isOwnPart(key)) : []
    if (gone.length === 0) return true
    const at = await performancePlace(store)
    if (at === undefined) return false
    const taken = await rotation.adopt([], { mode: 'redo', after: at, at, state: { entries: [], gone } })
    if (taken.kind !== 'adopted') throw new StorageRefused(taken.sentence)
    return true
  }

  /**
   * Where the own log parted, for a primary that does not know it: it took over from another one than this cluster
   * handed over to. The one that took over from this cluster has said it. Else it is not known, and all since the
   * last promotion is kept, or since the log began: rather too much than the only copy lost. Who took a place in a
   * performance set has what it followed for disaster recovery in its log too: that is of the own log of the place.
   */
  async #ownFork(family: ReplicationFamily): Promise<Place | undefined> {
    const { view, store } = this.#parts
    const { parted, inPlace } = await view.transaction(async (tx) => ({
      parted: await readParted(tx, family),
      inPlace: family === 'performance' ? await readPromotions(tx, 'dr') : [],
    }))
    if (!parted?.isOwnLog) return undefined
    const histories = await store.histories()
    const told = parted.fork === null ? undefined : placeOfNote(parted.fork)
    if (told !== undefined && histories.some(({ id }) => id.equals(told.historyId))) return told
    const began = new Set(inPlace.map(({ historyId }) => historyId))
    const last = histories.findLast(({ id }) => !began.has(encodeBase64(id))) ?? histories.at(0)
    // The chain of a history begins with its id.
    return last && { historyId: last.id, index: last.startIndex - 1, chain: last.id }
  }

  async ownTree() {
    return (await this.#keepers.dr.tree()).pages()
  }

  ownKeysIn(buckets: readonly TreeBucket[]) {
    return this.#keepers.dr.keysIn(buckets)
  }

  ownRoot(family: ReplicationFamily) {
    return this.#keepers[family].root()
  }

  async ownReach(family: ReplicationFamily): Promise<SetReach | undefined> {
    return family === 'performance' ? (await this.#reach.noted()).reach : undefined
  }

  open(): void {
    this.#followedPurge.start()
  }

  close(): void {
    this.#followedPurge.stop()
  }

  /** Removes what is left of what this cluster is not to have. */
  get removal(): Pick<ReachSweep, 'start' | 'stop'> {
    return this.#sweep
  }

  mend(family: ReplicationFamily): Promise<void> {
    return this.#keepers[family].mend()
  }

  /** The store was opened anew: nothing is known of it. */
  forget(): void {
    this.#noted.clear()
    this.#isParted.clear()
    this.#ended.clear()
  }

  async takeoverKnown(family: ReplicationFamily, which: WhichFormers): Promise<void> {
    const { view, onChanged, onTakeoverKnown } = this.#parts
    if (family !== 'dr') return
    const gone = await view.transaction((tx) => forgetFormers(tx, which))
    if (gone.length === 0) return
    onTakeoverKnown(gone)
    await onChanged()
  }

  async conflict(family: ReplicationFamily, replacedBy: Buffer, sentence: string): Promise<void> {
    const { view, onChanged, sendAway, log } = this.#parts
    // Each in a step of its own, as they are of two classes. The conflict is heard of again until the second is stored.
    await view.transaction(leavePlaceInSet)
    if (!(await view.transaction((tx) => takeConflict(tx, family)))) return
    await view.transaction((tx) => dropFormers(tx, { replacedBy }))
    log('error', 'Two clusters were promoted: this one writes nothing from now on', { family, why: sentence })
    await onChanged()
    for (const each of REPLICATION_FAMILIES)
      await sendAway(each, await view.transaction((tx) => knownSecondaries(tx, each)))
  }

  /** Stores the note, in the step that applies what it is about. What is stored already is not stored again. */
  async #note(tx: Transaction, family: ReplicationFamily, { transfer, reach }: SinkNote): Promise<void> {
    await this.#joined(tx, family)
    if (reach !== undefined) await this.#reach.store(tx, { ...EVERYTHING, ...reach.rest, reach: reach.only })
    const key = SETS_FOLDER + transferPath(family)
    const noted = transfer === undefined ? '' : JSON.stringify(transfer)
    if (this.#noted.get(family) === noted) return
    // Not of what was committed, but of what is tried: if it fails, the next one must store its note.
    this.#noted.delete(family)
    if (family === 'performance' && (await tx.get(SETS_FOLDER + COMPARES)) !== undefined)
      tx.delete(systemScope, SETS_FOLDER + COMPARES)
    if (transfer !== undefined) tx.put(systemScope, key, this.#parts.barrier.seal(key, TRANSFER_NOTE.encode(transfer)))
    else if ((await tx.get(key)) !== undefined) tx.delete(systemScope, key)
    else this.#noted.set(family, noted)
  }

  /** From the first step on, what is here is of the present primary. */
  async #joined(tx: Transaction, family: ReplicationFamily): Promise<void> {
    if (this.#isParted.get(family) === false) return
    const key = SETS_FOLDER + setPath(family, 'parted')
    if ((await tx.get(key)) !== undefined) tx.delete(systemScope, key)
    else this.#isParted.set(family, false)
  }

  async #isWhole(family: ReplicationFamily): Promise<void> {
    const { view, world, log, onChanged } = this.#parts
    const isNew = await view.transaction((tx) => copyIsWhole(tx, family, world.clock.nowMs()))
    if (!isNew) return
    log('info', 'The copy of the primary is whole', { family })
    // Not awaited: the change of a role waits for a seal that is under way, which waits for what is asked of us.
    onChanged().catch((cause: unknown) =>
      log('error', 'The role of this server could not be changed', { cause: describeCause(cause) }),
    )
  }
}

/** Where a cluster stands in the log of its performance set. */
async function performancePlace(store: Pick<Store, 'position'>): Promise<Origin | undefined> {
  return (await store.position()).origins.find(({ family }) => family === 'performance')
}

async function receiverOf(tx: SetReader, family: ReplicationFamily): Promise<Buffer> {
  const seed = await tx.get(setPath(family, 'receiver'))
  if (seed === undefined) return Buffer.alloc(X25519_BYTES)
  const { publicKey } = x25519Key(seed)
  seed.fill(0)
  return publicKey
}

async function isSecondaryForDr(tx: SetReader): Promise<boolean> {
  const dr = await readState(tx, 'dr')
  return dr !== undefined && dr.mode !== 'primary'
}

async function modeOf(tx: SetReader, family: ReplicationFamily) {
  const state = await readState(tx, family)
  return { mode: state?.mode ?? 'disabled', epoch: state?.epoch ?? 0 }
}

async function contextOfOwn(tx: SetTransaction, family: ReplicationFamily): Promise<Buffer | undefined> {
  const identity = await ownIdentity(tx, family)
  if (identity === undefined) return undefined
  identity.own.key.fill(0)
  return contextOf({ set: identity.peer, id: identity.peer.id })
}
