// Replication, on a thread that writes: the records of the sets, what peers and operators ask, and the links, which
// another thread may have. The links are open while the server is: they begin and end with its own work.

import { FOLLOWS_NONE, type RoleState } from '../../api/node-role.ts'
import type { Core } from '../../core/core.ts'
import { describeCause } from '../../core/describe-cause.ts'
import { type Log, namedLog } from '../../lib/log.ts'
import { OneAtATime } from '../../lib/one-at-a-time.ts'
import { PeriodicTask } from '../../lib/periodic-task.ts'
import type { LinkOwner, LinkState, NodeFacts, PrimaryPart } from '../../replication/link/link-sides.ts'
import { SETS_FOLDER } from '../../replication/set/records.ts'
import type { SynchronousSettings } from '../../replication/synchronous/settings.ts'
import type { SynchronousWrites } from '../../replication/synchronous/synchronous-writes.ts'
import { systemScope } from '../../storage/contract.ts'
import { Sealed, StorageClosed } from '../../storage/errors.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import type { View } from '../../storage/sealed-storage.ts'
import type { ReplicationOperations } from '../../system/replication-operations.ts'
import type { KeyringRotation } from '../../system/seal/keyring-rotation.ts'
import type { Seal } from '../../system/seal/seal.ts'
import type { SealBundle } from '../../system/seal/seal-bundle.ts'
import type { WithServices } from '../../system/services.ts'
import { VERSION } from '../../version.ts'
import type { Activation, AlsoWritten } from '../activation.ts'
import type { WritingParts } from '../node-parts.ts'
import type { NodeRooms } from '../node-rooms.ts'
import { Activating } from './activating.ts'
import { ChangingAuthority } from './changing-authority.ts'
import { ChangingRoles } from './changing-roles.ts'
import { FilteredSecondaries, type FilteredSecondariesParts } from './filtered-secondaries.ts'
import { handedSide } from './handed-side.ts'
import { HandingOver } from './handing-over.ts'
import { KeptUndone } from './kept-undone.ts'
import { noOperations, OwnOperations } from './operations.ts'
import { OwnParts } from './own-parts.ts'
import { PrimaryLink } from './primary-link.ts'
import { PrimarySide } from './primary-side.ts'
import { ReadingReach } from './reading-reach.ts'
import type { ReplicationParts } from './replication-parts.ts'
import type { ReplicationRoom } from './replication-room.ts'
import { SecondarySide } from './secondary-side.ts'
import { storedRole } from './stored-role.ts'
import { newSynchronousWrites, secondariesWithAll } from './synchronous.ts'

/** How the seal is reached: it is built with this room, and so comes as functions. */
export type SealForLinks = {
  readonly seal: Pick<Seal, 'status' | 'id' | 'rootKey' | 'requireOwnRoot'>
  readonly bundle: () => Promise<SealBundle>
  readonly follow: (bundle: SealBundle, instead: string) => Promise<boolean>
  readonly rotation: Pick<KeyringRotation, 'adopt' | 'beginHistory'>
  readonly activate: (activation: Activation, also: AlsoWritten) => Promise<void>
  readonly changeRole: (to: RoleState) => Promise<void>
}

/** Rooms that the links need. */
export type RoomsOfLinks = Pick<NodeRooms, 'primaryAddress' | 'storage'> &
  Omit<FilteredSecondariesParts, 'view'> & {
    readonly leases: Pick<NodeRooms['leases'], 'revokeAllOf'>
    readonly core: Pick<Core, 'answersTo'>
  } & WithServices<'treeChecks'>

/** A server without links. */
const NO_LINKS: ReplicationRoom = {
  operations: noOperations(),
  owner: undefined,
  removal: { start: () => {}, stop: () => {} },
  open: async () => {},
  expect: async () => {},
  waitFor: async () => {},
  synchronous: undefined,
  close: () => {},
  forget: async () => {},
  rekeyed: () => {},
}

/** How often the certificates of this node are looked at. They are due after weeks, or when the clock was set back. */
const LOOK_MS = 60_000
/** And where that failed, or the links could not be opened. */
const RETRY_MS = 10_000

/** Builds the room; nothing is opened. */
export function buildReplication(parts: WritingParts, rooms: RoomsOfLinks, seal: SealForLinks): ReplicationRoom {
  return parts.links === undefined ? NO_LINKS : new OwnReplication(parts, parts.links, rooms, seal)
}

class OwnReplication implements ReplicationRoom {
  readonly operations: ReplicationOperations
  readonly owner: LinkOwner
  readonly removal: ReplicationRoom['removal']
  readonly synchronous: SynchronousWrites
  readonly #links: ReplicationParts
  readonly #parts: WritingParts
  readonly #seal: SealForLinks
  readonly #view: View
  readonly #log: Log
  readonly #ownParts: OwnParts
  readonly #primarySide: PrimarySide
  readonly #secondarySide: SecondarySide
  readonly #handingOver: HandingOver
  readonly #reading: ReadingReach
  readonly #plays = new OneAtATime()
  readonly #renewal: PeriodicTask
  /** The port that was opened where the configuration leaves it to the system. */
  #ports: readonly number[] = []
  #isOpen = false
  /** False until the links have taken over what was played last. */
  #isPlayed = false

  constructor(parts: WritingParts, links: ReplicationParts, rooms: RoomsOfLinks, seal: SealForLinks) {
    const { storage, services, core, leases, primaryAddress, invalidation } = rooms
    const { world, store } = parts
    this.#parts = parts
    this.#links = links
    this.#seal = seal
    this.synchronous = parts.synchronous ?? newSynchronousWrites(parts, seal.seal)
    this.#log = namedLog(parts.log, 'replication')
    this.#view = storage.view(systemScope, SETS_FOLDER)
    this.#ownParts = new OwnParts(world, this.#log)
    const { treeChecks: checks } = services
    const common = {
      view: this.#view,
      store,
      barrier: storage.barrier,
      world,
      checks,
      sealId: () => seal.seal.id,
    }
    const changed = (): Promise<void> => this.#changed()
    const logEnd = async (): Promise<number> => (await store.position()).index
    const handingOver = new HandingOver({ view: this.#view, logEnd, world, log: this.#log, changed })
    this.#handingOver = handingOver
    const shared = { log: this.#log, onChanged: changed }
    const undone = new KeptUndone({ ...common, log: this.#log, rootKey: () => seal.seal.rootKey })
    const sendAway = async (family: ReplicationFamily, ids: readonly string[]): Promise<void> => {
      await Promise.all(ids.map((id) => links.control.disconnect(family, id)))
    }
    const changingAuthority = new ChangingAuthority({
      view: this.#view,
      world,
      log: this.#log,
      play: () => this.#play(),
    })
    const reading = new ReadingReach({ store, barrier: storage.barrier, ticks: world.ticks })
    this.#reading = reading
    const onTrust = (): Promise<void> => changingAuthority.goOn()
    const reachedByStandIns = (): ReturnType<OwnOperations['reached']> => operations.reached('local')
    const ofPrimary = { bundle: seal.bundle, handingOver, reachedByStandIns, sendAway, onTrust, reading }
    const primarySide = new PrimarySide({ ...common, ...shared, ...ofPrimary })
    const secondarySide = new SecondarySide({
      ...common,
      ...shared,
      rotation: seal.rotation,
      follow: seal.follow,
      leases,
      invalidation,
      sendAway,
      onTakeoverKnown: (replacedBy) => changingRoles.takeoverKnown(replacedBy),
      keepUndone: (family, fork) => undone.keep(family, fork),
    })
    this.#primarySide = primarySide
    this.#secondarySide = secondarySide
    this.removal = secondarySide.removal
    const secondaries = new FilteredSecondaries({ view: this.#view, ...rooms })
    this.owner = joined(primarySide, secondarySide, {
      handed: handedSide({ core, secondaries, reading, log: this.#log }),
      reached: async (progress) => this.synchronous.reached(progress),
    })
    const facts = (): NodeFacts => this.#facts()
    const { control, primaryApi } = links
    const activating = new Activating({
      view: this.#view,
      links: control,
      primaryApi,
      world,
      facts,
      activate: seal.activate,
      requireOwnRoot: (bundle) => seal.seal.requireOwnRoot(bundle),
    })
    const changingRoles = new ChangingRoles({
      view: this.#view,
      store,
      barrier: storage.barrier,
      world,
      rotation: seal.rotation,
      links: control,
      handingOver,
      checks,
      log: this.#log,
      secondarySide,
      activating,
      facts,
      changed,
    })
    const operations = new OwnOperations({
      view: this.#view,
      store,
      world,
      log: this.#log,
      links: control,
      primarySide,
      activating,
      changingRoles,
      handingOver,
      undone,
      synchronous: this.synchronous,
      facts,
      changed,
      changingAuthority,
      reading,
      toPrimary: new PrimaryLink({
        ask: (call, body) => control.ask(call, body),
        timers: world.timers,
        primaryAddress,
      }),
    })
    this.operations = operations
    this.#renewal = new PeriodicTask(
      async () => {
        await changingAuthority.goOn()
        if (!this.#isPlayed || !this.#ownParts.areGood) await this.#play()
        return LOOK_MS
      },
      {
        world,
        log: this.#log,
        failure: 'The certificates of the links could not be looked at',
        retryMs: RETRY_MS,
        isClosed,
      },
    )
  }

  async open(): Promise<void> {
    this.#isOpen = true
    this.#secondarySide.forget()
    try {
      await this.#handingOver.goOn()
    } catch (cause) {
      this.#log('error', 'It is not known whether this cluster was handing over', { cause: describeCause(cause) })
    }
    try {
      await this.#primarySide.releaseStrays()
    } catch (cause) {
      this.#log('warn', 'The log may be kept for secondaries that were revoked', { cause: describeCause(cause) })
    }
    this.#secondarySide.open()
    this.#renewal.start(await this.#firstPlay())
  }

  /** How long it takes until the next look. */
  async #firstPlay(): Promise<number> {
    try {
      await this.#play()
      return LOOK_MS
    } catch (cause) {
      this.#log('error', 'The links to other clusters could not be opened', { cause: describeCause(cause) })
      return RETRY_MS
    }
  }

  /** Where the records cannot be read, whoever is configured is waited for: the log says so, and writes may be late. */
  async expect(): Promise<void> {
    if (this.synchronous.ids.length === 0) return
    try {
      this.synchronous.know(await this.#view.transaction((tx) => secondariesWithAll(tx, this.#parts.store)))
    } catch (cause) {
      if (isClosed(cause)) return
      this.#log('error', 'It is not known whom writes wait for', { cause: describeCause(cause) })
      this.synchronous.know(new Set(this.synchronous.ids))
    }
  }

  async waitFor(settings: SynchronousSettings): Promise<void> {
    this.synchronous.configure(settings)
    if (!this.#isOpen) return
    await this.expect()
    await this.#play()
  }

  close(): void {
    this.#isOpen = false
    this.synchronous.know(undefined)
    this.#handingOver.drop()
    this.#secondarySide.close()
    this.#renewal.stop()
  }

  async forget(): Promise<void> {
    this.#isOpen = false
    await this.#plays.run(() => {
      // Not before: what ran until now may have made one.
      this.#ownParts.forget()
      this.#reading.forget()
      return this.#links.control.play({ facts: this.#facts(), listenAt: [], parts: [] })
    })
  }

  rekeyed(): void {
    this.synchronous.rekeyed()
    this.#links.control.sealChanged(this.#seal.seal.id)
  }

  async #changed(): Promise<void> {
    // Before the first write that is answered in the new role.
    await this.expect()
    await this.#seal.changeRole((await this.#view.transaction((tx) => storedRole(tx))) ?? FOLLOWS_NONE)
    await this.#play()
  }

  /** Tells the links what the records say now. */
  #play(): Promise<void> {
    return this.#plays.run(async () => {
      if (!this.#isOpen) return
      this.#isPlayed = false
      const { control, listenAt } = this.#links
      const { cluster } = this.#seal.seal.status()
      const own = await this.#view.transaction((tx) => this.#ownParts.read(tx, cluster?.id ?? ''))
      const parts = own.map((part) => (part.role === 'primary' ? withSynchronous(part, this.synchronous.ids) : part))
      // No link gets a key once the server is being sealed.
      if (!this.#isOpen) return
      const state = (): LinkState => ({ facts: this.#facts(), listenAt, parts })
      await control.play(state())
      const { ports, isSilent } = await control.status()
      if (isSilent) return
      if (ports.join() !== this.#ports.join()) {
        this.#ports = ports
        // Where the system chose the port, it is part of the address that peers are told.
        await control.play(state())
      }
      this.#isPlayed = true
    })
  }

  #facts(): NodeFacts {
    const { facts } = this.#parts
    const { cluster } = this.#seal.seal.status()
    const address = this.#links.clusterAddress(this.#ports[0])
    return {
      version: VERSION,
      clusterId: cluster?.id ?? '',
      clusterAddresses: address === '' ? [] : [address],
      apiAddress: facts.apiAddress,
    }
  }
}

/** Writes wait for secondaries for disaster recovery alone: no other has all. */
const withSynchronous = (part: PrimaryPart, synchronous: readonly string[]): PrimaryPart =>
  part.set.family === 'dr' && synchronous.length > 0 ? { ...part, synchronous } : part

/** Both sides as one object: which of them is asked follows from the verb. */
function joined(
  primary: PrimarySide,
  secondary: SecondarySide,
  others: Pick<LinkOwner, 'handed' | 'reached'>,
): LinkOwner {
  return {
    ...others,
    admit: (arrival, ...shown) => primary.admit(arrival, ...shown),
    claim: (arrival, claim) => primary.claim(arrival, claim),
    confirm: (arrival, claim) => primary.confirm(arrival, claim),
    renew: (arrival, spki) => primary.renew(arrival, spki),
    trustFor: (arrival) => primary.trustFor(arrival),
    trusts: (arrival, fingerprints) => primary.trusts(arrival, fingerprints),
    note: (arrival, noted) => primary.note(arrival, noted),
    sealFor: (arrival, receiver) => primary.sealFor(arrival, receiver),
    hold: (arrival, hold) => primary.hold(arrival, hold),
    tree: () => primary.tree(),
    keysIn: (buckets) => primary.keysIn(buckets),
    root: (family, reach) => primary.root(family, reach),
    reachOf: (arrival) => primary.reachOf(arrival),
    differs: (arrival) => primary.differs(arrival),
    standing: (family) => secondary.standing(family),
    shown: (family) => secondary.shown(family),
    unconfirmed: (family) => secondary.unconfirmed(family),
    confirmed: (family, nonce) => secondary.confirmed(family, nonce),
    primaryIsAt: (family, addresses, api) => secondary.primaryIsAt(family, addresses, api),
    renewed: (family, leaf) => secondary.renewed(family, leaf),
    trustCame: (family, trusted) => secondary.trustCame(family, trusted),
    sealCame: (family, sealed, instead) => secondary.sealCame(family, sealed, instead),
    take: (family, batch) => secondary.take(family, batch),
    ownTree: () => secondary.ownTree(),
    ownKeysIn: (buckets) => secondary.ownKeysIn(buckets),
    ownReach: (family) => secondary.ownReach(family),
    ownRoot: (family) => secondary.ownRoot(family),
    drain: (arrival) => primary.drain(arrival),
    resume: (arrival) => primary.resume(arrival),
    tookOver: (arrival, takeover) => primary.tookOver(arrival, takeover),
    takeoverKnown: (family, which) => secondary.takeoverKnown(family, which),
    conflict: (family, replacedBy, sentence) => secondary.conflict(family, replacedBy, sentence),
    mend: (family) => secondary.mend(family),
  }
}

/** The server was sealed, or its store put away, meanwhile. */
const isClosed = (cause: unknown): boolean => cause instanceof Sealed || cause instanceof StorageClosed
