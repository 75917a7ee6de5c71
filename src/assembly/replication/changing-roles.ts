// How a set changes hands, on the thread that writes: promotion, demotion, leaving a set, another primary. Each is one
// durable step of the store (replication/set/changing-hands.ts); what is around it is here.
//
//   promotion   looks ─▶ the primary hands over, if it can be reached ─▶ a new history begins with the new role
//               ─▶ this server takes the role ─▶ the former primary is told, for as long as it takes
import { fail, Refusal } from '../../api/errors.ts'
import { describeCause } from '../../core/describe-cause.ts'
import { encodeBase64 } from '../../lib/base64.ts'
import type { Log } from '../../lib/log.ts'
import type { World } from '../../lib/world.ts'
import type { LinkControl, NodeFacts, PrimaryStatus } from '../../replication/link/link-sides.ts'
import { type KeyedCertificate, newAuthority } from '../../replication/set/certificates.ts'
import {
  changePrimary,
  demotePrimary,
  leavePrimary,
  promotePrimary,
  readParted,
  requireClusterAddress,
} from '../../replication/set/changing-hands.ts'
import type { FamilyOperation } from '../../replication/set/family-operations.ts'
import { untoldFormers } from '../../replication/set/formers.ts'
import { type Mended, mendHalfPart } from '../../replication/set/half-part.ts'
import type { SetName } from '../../replication/set/peer-name.ts'
import { disableFamily, handsOver, requireKept, requireOperation } from '../../replication/set/primary-operations.ts'
import { readState, SETS_FOLDER, type SetReader, SetRefused, setPath } from '../../replication/set/records.ts'
import { type KeptActivation, movePrimary } from '../../replication/set/secondary-operations.ts'
import { putTakenOver } from '../../replication/set/taken-over.ts'
import { comparesInPlace, isHalf, transferPath } from '../../replication/set/transfer-note.ts'
import { HISTORY_ID_BYTES } from '../../storage/backend.ts'
import type { Barrier } from '../../storage/barrier.ts'
import { type Store, systemScope, type Transaction } from '../../storage/contract.ts'
import {
  DataKeyUsedUp,
  isClosed,
  StorageConflict,
  StorageFull,
  StorageRefused,
  WriteNotAllowed,
} from '../../storage/errors.ts'
import { faultOfKnown } from '../../storage/log/histories.ts'
import type { NewHistory, ReplicationFamily } from '../../storage/peer-log.ts'
import { sealedTransaction, type View, type ViewTransaction } from '../../storage/sealed-storage.ts'
import type { GivenActivation, GivenPromotion, Promoted } from '../../system/replication-operations.ts'
import type { KeyringRotation } from '../../system/seal/keyring-rotation.ts'
import type { TreeChecks } from '../../system/tree-checks.ts'
import type { Activating } from './activating.ts'
import { type HandingOver, OPERATOR, PROMOTION_MS } from './handing-over.ts'
import { answeringOf, HAS_NO_PRIMARY } from './moving-primary.ts'
import { missingHere, notNow, requireNothing, requireUnfiltered } from './promotion-lack.ts'
import type { SecondarySide } from './secondary-side.ts'

/** How long a demotion waits for secondaries that have not got all of the log. */
const DRAIN_MS = 5_000
const DRAIN_LOOK_MS = 50
/** How long the answer to a promotion waits for the former primary to hear of it. */
const TOLD_MS = 1_000

/** The parts that it works with. */
export type ChangingRolesParts = {
  readonly view: View
  readonly store: Pick<Store, 'position'>
  readonly barrier: Barrier
  readonly world: Pick<World, 'clock' | 'random' | 'timers'>
  readonly rotation: Pick<KeyringRotation, 'beginHistory'>
  readonly links: LinkControl
  readonly handingOver: HandingOver
  readonly checks: Pick<TreeChecks, 'told'>
  readonly log: Log
  readonly secondarySide: Pick<SecondarySide, 'whileNothingComes' | 'standing'>
  readonly activating: Activating
  readonly facts: () => NodeFacts
  /** Takes over the role and the links that the records say. */
  readonly changed: () => Promise<void>
}

const WRITES_AGAIN =
  'This server was too slow: it has begun to write again, so not all of its log is with its secondaries. Try again'
/** A primary that lost its power is taken for one that can be reached until its link has been silent for a while. */
const LINK_MAY_BE_DEAD = ' If it is gone, its link ends within 15 seconds: ask again then, without "force"'

/** The operations of one server. */
export class ChangingRoles {
  readonly #parts: ChangingRolesParts
  /** Hears of former primaries that know, while a promotion waits for its own. */
  #told: ((replacedBy: readonly string[]) => void) | undefined
  #isRunning = false

  constructor(parts: ChangingRolesParts) {
    this.#parts = parts
  }

  /** Former primaries know; `replacedBy` names them. */
  takeoverKnown(replacedBy: readonly string[]): void {
    this.#told?.(replacedBy)
  }

  /**
   * `secondary/promote`. Resolves when this cluster is the primary, and its former primary knows or could not be
   * reached within a moment. @throws SetRefused; nothing was changed then
   */
  promote(family: ReplicationFamily, given: GivenPromotion): Promise<Promoted> {
    return this.#alone(async () => {
      const { links } = this.#parts
      await this.#mustAllowAndKeep(family, 'secondary/promote')
      // Before the primary is asked to write nothing: a mistake in a field is to cost its clients nothing.
      requireClusterAddress(given.clusterAddress)
      const isReindexing = (await this.#parts.checks.told()).reindex !== undefined
      if (isReindexing && !given.force) throw notNow('a reindex is running, so it is not known what differs')
      if (family === 'performance' && !given.force) await requireUnfiltered(this.#parts.view)
      const asked = await this.#handOver(family, given.force)
      const historyId = this.#parts.world.random.bytes(HISTORY_ID_BYTES)
      const name = encodeBase64(historyId)
      const told = new Promise<true>((resolve) => {
        this.#told = (replacedBy) => replacedBy.includes(name) && resolve(true)
      })
      let hasFormer = false
      try {
        hasFormer = await this.#hasPrimary(family)
        const primary = await this.#primaryOf(family)
        if (!given.force && !asked.isDrained) requireNothing(await missingHere(this.#parts.view, family, primary))
        // What came while the primary handed over may be news of a filter.
        if (family === 'performance' && !given.force) await requireUnfiltered(this.#parts.view)
        await this.#begin(family, given, { ...asked, historyId }, primary?.primaryIndex ?? 0)
      } catch (cause) {
        this.#told = undefined
        // What may be found at the next start is not taken back: the primary writes again when its lease ends.
        if (asked.isDrained && !(cause instanceof MayBeStored)) await links.takeBack(family)
        throw cause
      }
      await this.#becomes()
      const isTold = hasFormer && (await this.#within(told, TOLD_MS))
      this.#told = undefined
      const others = family === 'dr' ? await this.#untoldBut(name) : 0
      return { former: !hasFormer ? 'nobody' : isTold ? 'told' : 'untold', others }
    })
  }

  /** Asks the primary to hand over, if there is a link. @throws SetRefused where it does not, unless forced */
  async #handOver(family: ReplicationFamily, force: boolean) {
    const { links, world } = this.#parts
    const startedAtMs = world.clock.monotonicMs()
    const { isSilent } = await links.status()
    if (isSilent && !force) throw notNow('what its link does could not be found out')
    const handed = isSilent ? ({ kind: 'no-link' } as const) : await links.handOver(family, PROMOTION_MS)
    if (handed.kind === 'failed' && !force) {
      // It may have heard the question, and is not to wait for nothing.
      await links.takeBack(family)
      throw notNow(`its primary did not hand over. ${handed.sentence}${LINK_MAY_BE_DEAD}`)
    }
    const isDrained = handed.kind === 'drained'
    return { isDrained, grantsNothing: isDrained && handed.grantsNothing, startedAtMs }
  }

  /** How many primaries before the last one do not know. */
  async #untoldBut(last: string): Promise<number> {
    const untold = await this.#parts.view.transaction(untoldFormers)
    return untold.filter((one) => one !== last).length
  }

  /** Whether there will be a former primary to tell. */
  async #hasPrimary(family: ReplicationFamily): Promise<boolean> {
    return (await this.#parts.view.transaction((tx) => tx.get(setPath(family, 'identity')))) !== undefined
  }

  async #primaryOf(family: ReplicationFamily): Promise<PrimaryStatus | undefined> {
    return (await this.#parts.links.status()).primaries.find((one) => one.family === family)
  }

  /** The durable step. */
  async #begin(
    family: ReplicationFamily,
    { clusterAddress }: GivenPromotion,
    asked: {
      readonly isDrained: boolean
      readonly grantsNothing: boolean
      readonly startedAtMs: number
      readonly historyId: Buffer
    },
    primaryIndex: number,
  ): Promise<void> {
    const { view, store, world, secondarySide } = this.#parts
    const { random, clock } = world
    const nowMs = clock.nowMs()
    const { setId, epoch } = await view.transaction(async (tx) => (await readState(tx, family)) ?? gone())
    const authority = newAuthority({ setId, family }, { random, nowMs })
    const { historyId } = asked
    let another: KeyedCertificate | undefined
    const authorityOf = (set: SetName): KeyedCertificate => (another ??= newAuthority(set, { random, nowMs }))
    try {
      await secondarySide.whileNothingComes(family, async () => {
        if (asked.isDrained && clock.monotonicMs() - asked.startedAtMs > PROMOTION_MS)
          throw notNow('its primary handed over, and may write again by now: try again')
        const { origins } = await store.position()
        const place = origins.find((origin) => origin.family === 'performance')
        const parted = await view.transaction((tx) => readParted(tx, family))
        const followed = parted?.isOwnLog ? undefined : origins.find((origin) => origin.family === family)
        const promotion = { family, authority, clusterAddress, historyId, followed, nowMs }
        const next = { id: historyId, knownIndex: knownIndex(primaryIndex), knownEpoch: epoch }
        let mended: Mended = 'whole'
        const begin = async (tx: ViewTransaction): Promise<void> => {
          const half = await isHalf(tx, family)
          mended = half && family === 'dr' ? await mendHalfPart(tx, authorityOf) : 'whole'
          if (family === 'dr') await comparesInPlace(tx, place)
          await promotePrimary(tx, { ...promotion, isHalf: half })
          tx.delete(transferPath(family))
          putTakenOver(tx, {
            epoch: epoch + 1,
            atMs: nowMs,
            takesPlace: family === 'dr',
            isHandedOver: asked.grantsNothing,
          })
        }
        const isDone = async (): Promise<boolean> => (await this.#modeOf(family)) === 'primary'
        await this.#beginHistory(begin, next, isDone, await this.#termsAfter(family))
        const warning = MENDED[mended]
        if (warning !== undefined) this.#parts.log('warn', warning)
      })
    } finally {
      authority.key.fill(0)
      another?.key.fill(0)
    }
  }

  /**
   * `primary/demote`. Connected secondaries get all of the log first, within a few seconds. Returns the ids of those
   * that may lack a part of it all the same. @throws SetRefused; it goes on as primary then
   */
  demote(family: ReplicationFamily): Promise<readonly string[]> {
    return this.#alone(async () => {
      const { view, store, world, handingOver, secondarySide } = this.#parts
      await this.#mustAllow(family, 'primary/demote')
      const isFenced = await view.transaction(async (tx) => (await readState(tx, family))?.isFenced ?? false)
      let behind: readonly string[] = []
      try {
        if (!isFenced) {
          this.#requireNobodyTakesPlace(family)
          await handingOver.begin(OPERATOR)
          behind = await this.#drained(family)
          this.#requireNobodyTakesPlace(family)
          if (!handingOver.isOn) throw new SetRefused(503, WRITES_AGAIN)
        }
        const { historyId } = await store.position()
        const demoted = { historyId, nowMs: world.clock.nowMs() }
        const step = (): Promise<void> => view.transaction((tx) => demotePrimary(tx, family, demoted))
        // What a DR secondary has of a performance set comes with the log of its DR primary alone.
        await (family === 'dr' ? secondarySide.whileNothingComes('performance', step) : step())
      } catch (cause) {
        await handingOver.end(OPERATOR)
        throw cause
      }
      await handingOver.demoted(family)
      return behind
    })
  }

  /** A DR secondary that is being promoted has all that this cluster is: it would be the primary of the set too. */
  #requireNobodyTakesPlace(family: ReplicationFamily): void {
    if (family === 'performance' && this.#parts.handingOver.isAskedBy('dr')) throw handsOver()
  }

  /** Waits until connected secondaries have what there is, for a while. Returns the ids of those that may not. */
  async #drained(family: ReplicationFamily): Promise<readonly string[]> {
    const { store, links, world } = this.#parts
    const { index } = await store.position()
    const endsAtMs = world.clock.monotonicMs() + DRAIN_MS
    for (;;) {
      const { secondaries } = await links.status()
      const behind = secondaries.filter(
        (one) => one.family === family && one.isConnected && (one.acknowledgedIndex ?? 0) < index,
      )
      if (behind.length === 0 || world.clock.monotonicMs() >= endsAtMs) return behind.map(({ id }) => id)
      await this.#pause(DRAIN_LOOK_MS)
    }
  }

  /** `secondary/disable`: the cluster is in no set any more, and goes on with what it has. @throws SetRefused */
  disable(family: ReplicationFamily): Promise<void> {
    return this.#alone(async () => {
      const { view, world, secondarySide } = this.#parts
      await this.#mustAllow(family, 'secondary/disable')
      const state = await view.transaction(async (tx) => (await readState(tx, family)) ?? gone())
      const next = { id: world.random.bytes(HISTORY_ID_BYTES), knownIndex: 0, knownEpoch: state.epoch }
      const nowMs = world.clock.nowMs()
      const leave = async (tx: ViewTransaction): Promise<void> => {
        await disableFamily(tx, family, 'secondary/disable')
        tx.delete(transferPath(family))
        // It uses the keys of the set on its own from now on, as a promoted cluster does.
        putTakenOver(tx, {
          epoch: state.epoch + 1,
          atMs: nowMs,
          takesPlace: family === 'dr',
          isHandedOver: false,
        })
      }
      const hasLeft = async (): Promise<boolean> => (await this.#modeOf(family)) === undefined
      await secondarySide.whileNothingComes(family, () => this.#beginHistory(leave, next, hasLeft))
      await this.#becomes()
    })
  }

  /** `secondary/update-primary`. A blank token: it follows none. @throws SetRefused, ActivationRefused, Refusal */
  updatePrimary(family: ReplicationFamily, given: GivenActivation, force: boolean): Promise<void> {
    return this.#alone(async () => {
      const { view, secondarySide, activating } = this.#parts
      // Before a wrapped token is used up.
      await this.#mustAllowAndKeep(family, 'secondary/update-primary')
      if (given.token.trim() === '') {
        const isBehind = (await missingHere(view, family, await this.#primaryOf(family))) !== undefined
        const leave = (): Promise<void> => view.transaction((tx) => leavePrimary(tx, family, isBehind))
        await secondarySide.whileNothingComes(family, leave)
      } else {
        // What an earlier primary has sent must not count as of this one.
        const change = (kept: KeptActivation) => (): Promise<void> =>
          view.transaction((tx) => changePrimary(tx, kept, force))
        await activating.update(family, given, force, (kept) => secondarySide.whileNothingComes(family, change(kept)))
      }
      await this.#becomes()
    })
  }

  /** `secondary/update-primary` with addresses of the primary. @throws SetRefused; nothing was changed then */
  movePrimary(family: ReplicationFamily, addresses: readonly string[]): Promise<void> {
    return this.#alone(async () => {
      await this.#mustAllowAndKeep(family, 'secondary/update-primary')
      const answering = await answeringOf(this.#parts, family, addresses)
      const isMoved = await this.#parts.view.transaction((tx) => movePrimary(tx, family, answering))
      if (!isMoved) throw new SetRefused(400, HAS_NO_PRIMARY)
      await this.#becomes()
    })
  }

  /** What was stored counts, whatever follows from it: a part that cannot begin now is begun again by itself. */
  async #becomes(): Promise<void> {
    try {
      await this.#parts.changed()
    } catch (cause) {
      this.#failedBehind(cause)
    }
  }

  /** What is stored counts, though something behind it fails, such as telling another thread: `isDone` looks. */
  async #beginHistory(
    work: (tx: ViewTransaction) => Promise<void>,
    next: NewHistory,
    isDone: () => Promise<boolean>,
    terms: 'new term' | 'same terms' = 'new term',
  ): Promise<void> {
    try {
      await this.#parts.rotation.beginHistory(this.#inSets(work), next, terms)
    } catch (cause) {
      const found = await isDone().catch(() => 'unknown' as const)
      if (found !== true) throw found === false && isSurelyNotStored(cause) ? cause : new MayBeStored(cause)
      this.#failedBehind(cause)
    }
  }

  #failedBehind(cause: unknown): void {
    this.#parts.log('error', 'The role of this cluster has changed, and not all of its work could begin', {
      cause: describeCause(cause),
    })
  }

  /** A DR secondary that takes over a performance secondary has the keys of that set, which its primary changes. */
  async #termsAfter(family: ReplicationFamily): Promise<'new term' | 'same terms'> {
    const isOfSet = family === 'dr' && (await this.#modeOf('performance')) === 'secondary'
    return isOfSet ? 'same terms' : 'new term'
  }

  async #modeOf(family: ReplicationFamily): Promise<string | undefined> {
    return (await this.#parts.view.transaction((tx) => readState(tx, family)))?.mode
  }

  /** Gives work in the folder of the sets the form of work on the whole store. */
  #inSets(work: (tx: ViewTransaction) => Promise<void>): (tx: Transaction) => Promise<void> {
    return (tx) => work(sealedTransaction(this.#parts.barrier, systemScope, SETS_FOLDER, tx))
  }

  async #mustAllow(family: ReplicationFamily, operation: FamilyOperation): Promise<void> {
    await this.#parts.view.transaction((tx: SetReader) => requireOperation(tx, family, operation))
  }

  /** As `#mustAllow`, for what would be lost while this cluster hands over. */
  async #mustAllowAndKeep(family: ReplicationFamily, operation: FamilyOperation): Promise<void> {
    await this.#mustAllow(family, operation)
    await this.#parts.view.transaction((tx) => requireKept(tx, family))
  }

  async #alone<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isRunning) throw fail('already_in_progress', ['Another change of what this cluster is is under way'])
    this.#isRunning = true
    try {
      return await work()
    } catch (cause) {
      throw cause instanceof MayBeStored ? cause.cause : cause
    } finally {
      this.#isRunning = false
    }
  }

  async #within(promise: Promise<true>, ms: number): Promise<boolean> {
    return Promise.race([promise, this.#pause(ms).then(() => false)])
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#parts.world.timers.after(ms, resolve))
  }
}

/** A step that may be found at the next start, although it failed. */
class MayBeStored extends Error {
  constructor(cause: unknown) {
    super('It is not known whether it was stored', { cause })
  }
}

/** By what storage throws before it writes. A failure while it writes leaves open what the device has. */
const isSurelyNotStored = (cause: unknown): boolean =>
  !isClosed(cause) &&
  [SetRefused, Refusal, StorageFull, StorageRefused, StorageConflict, WriteNotAllowed, DataKeyUsedUp].some(
    (kind) => cause instanceof kind,
  )

/** What the operator of a cluster that is promoted in the middle of a comparison has to know of its part in the set. */
const MENDED: Readonly<Partial<Record<Mended, string>>> = {
  'new authority':
    'This cluster had half of the records of its primary as the primary of a performance set. It is the primary of ' +
    'that set with a new authority: give each secondary a token of it, and its filter anew',
  'no primary':
    'This cluster had half of the records of its primary as a performance secondary. It follows no primary of that ' +
    'set: give it a token of that one with "secondary/update-primary"',
}

/** What a primary says may be wrong: it must not bar a promotion. */
const knownIndex = (index: number): number => (faultOfKnown({ index }) === undefined ? index : 0)

function gone(): never {
  throw new SetRefused(400, 'This cluster is in no set any more')
}
