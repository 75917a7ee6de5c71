// What operators do with replication, on the thread that writes: each changes the records of a set, and then what this
// node is and which links it has.
import { fail } from '../../api/errors.ts'
import { describeCause } from '../../core/describe-cause.ts'
import { X25519_BYTES } from '../../crypto/primitives/hpke.ts'
import { Secret } from '../../crypto/primitives/secret.ts'
import { decodeBase64, encodeBase64 } from '../../lib/base64.ts'
import type { Log } from '../../lib/log.ts'
import { OneAtATimeByKey } from '../../lib/one-at-a-time.ts'
import type { World } from '../../lib/world.ts'
import type { LinkControl, LinkStatus, NodeFacts, SecondaryStatus } from '../../replication/link/link-sides.ts'
import { NONCE_BYTES, wipeActivation } from '../../replication/set/activation-bundle.ts'
import { activationText, readSecondaryKey, sealActivation } from '../../replication/set/activation-token.ts'
import { clearAsked, mayHaveTakenOver } from '../../replication/set/asked-takeover.ts'
import { newAuthority, newLeafKey } from '../../replication/set/certificates.ts'
import { readSuccessor } from '../../replication/set/changing-hands.ts'
import { untoldFormers } from '../../replication/set/formers.ts'
import { allFilters } from '../../replication/set/paths-filter.ts'
import { REPLICATION_FAMILIES } from '../../replication/set/peer-name.ts'
import {
  disableFamily,
  enablePrimary,
  issueActivation,
  knownSecondaries,
  requireOperation,
  revokeSecondary,
  wipeFormers,
} from '../../replication/set/primary-operations.ts'
import {
  allSecondaries,
  isLacking,
  readPromotions,
  readReach,
  readState,
  SECONDARY_IDENTITY,
  type SecondaryEntry,
  type SetReader,
  SetRefused,
  setPath,
} from '../../replication/set/records.ts'
import { keepPendingKey } from '../../replication/set/secondary-operations.ts'
import type { SynchronousWrites } from '../../replication/synchronous/synchronous-writes.ts'
import type { StorageClass, Store } from '../../storage/contract.ts'
import { Sealed, StorageClosed } from '../../storage/errors.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import type { View } from '../../storage/sealed-storage.ts'
import type {
  ActivationCheck,
  Demoted,
  FamilyTold,
  GivenActivation,
  GivenPromotion,
  IssuedToken,
  PathsFilters,
  Promoted,
  ReplicationOperations,
  UndoneRecords,
  WantedToken,
} from '../../system/replication-operations.ts'
import type { Activating } from './activating.ts'
import type { ChangingAuthority } from './changing-authority.ts'
import type { ChangingRoles } from './changing-roles.ts'
import type { HandingOver } from './handing-over.ts'
import type { KeptUndone } from './kept-undone.ts'
import { type PathsFiltersParts, pathsFilters } from './paths-filters.ts'
import type { PrimarySide } from './primary-side.ts'
import { orRefused } from './set-refusals.ts'

/** The parts that operations work with. */
export type OperationsParts = {
  readonly view: View
  readonly store: Pick<Store, 'position'>
  readonly handingOver: Pick<HandingOver, 'look' | 'overAt'>
  readonly world: Pick<World, 'clock' | 'random' | 'timers'>
  readonly log: Log
  readonly links: LinkControl
  readonly primarySide: Pick<PrimarySide, 'release' | 'dropHold' | 'issued'>
  readonly activating: Activating
  readonly changingRoles: Pick<ChangingRoles, 'promote' | 'demote' | 'disable' | 'updatePrimary' | 'movePrimary'>
  readonly changingAuthority: Pick<ChangingAuthority, 'begin'>
  readonly undone: KeptUndone
  readonly synchronous: Pick<SynchronousWrites, 'forget' | 'issued' | 'told'>
  readonly facts: () => NodeFacts
  readonly reading: PathsFiltersParts['reading']
  readonly toPrimary: PathsFiltersParts['toPrimary']
  /** Takes over the role and the links that the records say. */
  readonly changed: () => Promise<void>
}

const FOLLOWS_NO_PRIMARY =
  'This cluster follows no primary, so there is nothing to recover: a secondary without one is given one with ' +
  '"secondary/update-primary"'

/** How soon what follows a change is tried again, and how often. */
const RETRY_MS = 5_000
const RETRIES = 100

/** The operations of one server. */
export class OwnOperations implements ReplicationOperations {
  readonly undone: UndoneRecords
  readonly filters: PathsFilters
  readonly #parts: OperationsParts
  /** A token and a revocation of the same secondary: what follows from the one is done before the other begins. */
  readonly #changing = new OneAtATimeByKey()

  constructor(parts: OperationsParts) {
    this.undone = parts.undone
    this.filters = pathsFilters({ ...parts, clusterId: () => parts.facts().clusterId })
    this.#parts = parts
  }

  async enablePrimary(family: ReplicationFamily, clusterAddress: string): Promise<void> {
    const { view, world, changed } = this.#parts
    const setId = world.random.uuid()
    const nowMs = world.clock.nowMs()
    const authority = newAuthority({ setId, family }, { random: world.random, nowMs })
    try {
      const begun = { family, setId, authority, clusterAddress, nowMs }
      await orRefused(() => view.transaction((tx) => enablePrimary(tx, begun)))
    } finally {
      authority.key.fill(0)
    }
    await changed()
  }

  async disablePrimary(family: ReplicationFamily): Promise<void> {
    const { view, changed } = this.#parts
    const ids = await orRefused(() =>
      view.transaction(async (tx) => {
        const known = await knownSecondaries(tx, family)
        await disableFamily(tx, family, 'primary/disable')
        return known
      }),
    )
    if (family === 'dr') await view.transaction(wipeFormers)
    try {
      await changed()
    } finally {
      for (const id of ids) await this.#release(family, id)
    }
  }

  async secondaryToken(family: ReplicationFamily, { id, ttlMs, publicKey }: WantedToken): Promise<IssuedToken> {
    const { view, world, store, facts, primarySide, synchronous } = this.#parts
    const { random, clock } = world
    const connected = await orRefused(() => this.#connectedIds(family))
    const { clusterAddresses, apiAddress } = facts()
    const issuing = {
      family,
      id,
      ttlMs,
      random,
      nowMs: clock.nowMs(),
      leafKey: new Secret(newLeafKey(random)),
      nonce: new Secret(random.bytes(NONCE_BYTES)),
      clusterAddress: clusterAddresses[0] ?? '',
      apiAddress,
      historyId: (await store.position()).historyId,
      isConnected: (one: string) => connected.has(one),
    }
    try {
      return await orRefused(async () => {
        // Before anything of the id changes.
        if (publicKey !== '') readSecondaryKey(family, publicKey)
        const { bundle, ...became } = await this.#changing.run(`${family}/${id}`, async () => {
          const issued = await view.transaction((tx) => issueActivation(tx, issuing))
          if (issued.replaced !== 'nothing') await this.#cutOff(family, id)
          primarySide.issued(family, id)
          if (family === 'dr') synchronous.issued(id)
          return issued
        })
        if (publicKey === '') return { kind: 'wrapped', text: activationText(bundle), ...became }
        return { kind: 'sealed', text: sealActivation(bundle, publicKey, random), ...became }
      })
    } finally {
      wipeActivation(issuing)
    }
  }

  revokeSecondary(family: ReplicationFamily, id: string): Promise<boolean> {
    return this.#changing.run(`${family}/${id}`, async () => {
      const hadFilter = await orRefused(() => this.#parts.view.transaction((tx) => revokeSecondary(tx, family, id)))
      await this.#cutOff(family, id)
      return hadFilter
    })
  }

  rotateAuthority(family: ReplicationFamily): Promise<readonly string[]> {
    return orRefused(() => this.#parts.changingAuthority.begin(family))
  }

  /** @throws SetRefused while nobody knows: the token would cut off a secondary that follows */
  async #connectedIds(family: ReplicationFamily): Promise<ReadonlySet<string>> {
    const { view, links } = this.#parts
    await view.transaction((tx) => requireOperation(tx, family, 'primary/secondary-token'))
    const { isSilent, secondaries } = await links.status()
    if (isSilent)
      throw new SetRefused(503, 'The links of this server do not say which secondaries are connected: try again soon')
    return new Set(secondaries.filter((one) => one.family === family && one.isConnected).map(({ id }) => id))
  }

  /** The id is refused by now; what it has open is closed, and the log is held for it no more. */
  async #cutOff(family: ReplicationFamily, id: string): Promise<void> {
    const { links, synchronous } = this.#parts
    if (family === 'dr') synchronous.forget(id)
    await this.#afterwards('A secondary that was sent away may still have its link', () => links.disconnect(family, id))
    await this.#release(family, id)
  }

  async #release(family: ReplicationFamily, id: string): Promise<void> {
    const { primarySide } = this.#parts
    // The id may have a new token by then.
    const again = (): Promise<void> => primarySide.dropHold(family, id)
    await this.#afterwards(
      'The log may be kept for a secondary that was sent away',
      () => primarySide.release(family, id),
      again,
    )
  }

  /** What follows a change that counts already, so its failure is not that of the operation: it is tried again. */
  async #afterwards(failure: string, work: () => Promise<void>, again = work, retries = RETRIES): Promise<void> {
    const { world, log } = this.#parts
    try {
      await work()
    } catch (cause) {
      // The next unseal begins without links, and looks through what is held.
      if (cause instanceof Sealed || cause instanceof StorageClosed) return
      log('warn', failure, { cause: describeCause(cause) })
      if (retries > 0) world.timers.after(RETRY_MS, () => void this.#afterwards(failure, again, again, retries - 1))
    }
  }

  async generatePublicKey(family: ReplicationFamily): Promise<string> {
    const seed = this.#parts.world.random.bytes(X25519_BYTES)
    try {
      return await orRefused(() => this.#parts.view.transaction((tx) => keepPendingKey(tx, family, seed)))
    } finally {
      seed.fill(0)
    }
  }

  async enableSecondary(family: ReplicationFamily, given: GivenActivation): Promise<void> {
    await orRefused(() => this.#parts.activating.enable(family, given))
  }

  async acknowledged(storageClass: StorageClass): Promise<number> {
    return (await this.reached(storageClass)).index
  }

  /** As `acknowledged`; and whether all of these secondaries are connected, so that they may have more in a moment. */
  async reached(storageClass: StorageClass): Promise<{ readonly index: number; readonly areConnected: boolean }> {
    const { view, store, links } = this.#parts
    const families = familiesOf(storageClass)
    const found = await view.transaction((tx) => Promise.all(families.map((family) => activeOf(tx, family))))
    const entries = found.flat()
    if (entries.length === 0) return { index: Infinity, areConnected: true }
    const historyId = encodeBase64((await store.position()).historyId)
    const { secondaries } = await links.status()
    const all = entries.map(({ family, entry: { id, acknowledged } }) => {
      const linked = secondaries.find((one) => one.family === family && one.id === id)
      const noted = acknowledged?.historyId === historyId ? acknowledged.index : 0
      return { index: linked?.acknowledgedIndex ?? noted, isConnected: linked?.isConnected === true }
    })
    return {
      index: Math.min(...all.map(({ index }) => index)),
      areConnected: all.every(({ isConnected }) => isConnected),
    }
  }

  async mayBeReplaced(storageClass: StorageClass): Promise<boolean> {
    const { view } = this.#parts
    const asked = await this.#asked(familiesOf(storageClass))
    const areUnheard = asked.map(({ family, id, isHeard }) =>
      view.transaction(async (tx) => {
        // It may have asked again meanwhile.
        if (!isHeard()) return true
        await clearAsked(tx, family, id)
        return false
      }),
    )
    return (await Promise.all(areUnheard)).includes(true)
  }

  /**
   * Secondaries of these families that asked this cluster to hand over. `isHeard`: one of them has got something since,
   * and so was not promoted.
   */
  async #asked(families: readonly ReplicationFamily[]) {
    const { view, links, handingOver } = this.#parts
    const asked = await view.transaction((tx) => Promise.all(families.map((family) => askedOf(tx, family))))
    if (asked.flat().length === 0) return []
    await handingOver.look()
    const { secondaries } = await links.status()
    return asked.flat().map(({ family, id }) => {
      const linked = secondaries.find((one) => one.family === family && one.id === id)
      return { family, id, isHeard: () => (linked?.acknowledgedIndex ?? 0) >= handingOver.overAt }
    })
  }

  async secondaryIds(family: ReplicationFamily): Promise<readonly string[]> {
    const active = await this.#parts.view.transaction((tx) => activeOf(tx, family))
    return active.map(({ entry }) => entry.id)
  }

  promote(family: ReplicationFamily, given: GivenPromotion): Promise<Promoted> {
    return orRefused(() => this.#parts.changingRoles.promote(family, given))
  }

  async demote(family: ReplicationFamily): Promise<Demoted> {
    const { view, changingRoles } = this.#parts
    const { ids, filtered } = await view.transaction(async (tx) => ({
      ids: await knownSecondaries(tx, family),
      filtered: family === 'performance' ? (await allFilters(tx)).map(({ id }) => id) : [],
    }))
    const behind = await orRefused(() => changingRoles.demote(family))
    for (const id of ids) await this.#release(family, id)
    return { behind, filtered }
  }

  disableSecondary(family: ReplicationFamily): Promise<void> {
    return orRefused(() => this.#parts.changingRoles.disable(family))
  }

  updatePrimary(family: ReplicationFamily, given: GivenActivation, force: boolean): Promise<void> {
    return orRefused(() => this.#parts.changingRoles.updatePrimary(family, given, force))
  }

  movePrimary(family: ReplicationFamily, addresses: readonly string[]): Promise<void> {
    return orRefused(() => this.#parts.changingRoles.movePrimary(family, addresses))
  }

  async check(family: ReplicationFamily, given: GivenActivation): Promise<readonly ActivationCheck[]> {
    return orRefused(() => this.#parts.activating.check(family, given))
  }

  async recover(): Promise<void> {
    const { view, links } = this.#parts
    const followed = await view.transaction(async (tx) => {
      const told = await Promise.all(REPLICATION_FAMILIES.map(async (of) => ({ of, told: await readTold(tx, of) })))
      return told.filter((one) => one.told?.identity !== undefined).map(({ of }) => of)
    })
    if (followed.length === 0) throw fail('replication_refused', [FOLLOWS_NO_PRIMARY])
    for (const family of followed) await links.recover(family)
  }

  compareAgain(family: ReplicationFamily): Promise<void> {
    return this.#parts.links.compareAgain(family)
  }

  async told(family: ReplicationFamily): Promise<FamilyTold | undefined> {
    const { view, links, undone, synchronous } = this.#parts
    const read = await view.transaction((tx) => readTold(tx, family))
    if (read === undefined) return undefined
    const undoneRecords = await undone.count(family)
    const { isSilent, ports, faults, secondaries, primaries, untold } = await links.status()
    // Of who has said that it took over, something was heard.
    const asked = read.state.isFenced ? [] : await this.#asked([family])
    const { entries, isUntold, ...told } = read
    // The links remember those that were revoked since, too.
    const active = new Set(entries.filter(({ state }) => state === 'active').map(({ id }) => id))
    const linked = secondaries.filter((one) => one.family === family && active.has(one.id))
    return {
      ...told,
      undoneRecords,
      synchronous: family === 'dr' ? synchronous.told : [],
      programVersion: this.#parts.facts().version,
      isSilent,
      portFaults: ports.length === 0 ? faults : [],
      secondaries: [...linked, ...withoutLink(entries, family, new Set(linked.map(({ id }) => id)))],
      mayHaveTakenOver: asked.filter((one) => !one.isHeard()).map(({ id }) => id),
      untold: isUntold ? untoldSentence(untold.filter((one) => one.family === family)) : undefined,
      primary: read.identity === undefined ? undefined : primaries.find((one) => one.family === family),
    }
  }
}

const untoldSentence = (untold: LinkStatus['untold']): string =>
  untold.length === 0 ? NOT_CALLED : untold.map(({ sentence }) => sentence).join('; ')

async function readTold(tx: SetReader, family: ReplicationFamily) {
  const state = await readState(tx, family)
  if (state === undefined) return undefined
  const identity = await tx.get(setPath(family, 'identity'))
  const entries = await allSecondaries(tx, family)
  return {
    state,
    entries,
    knownSecondaries: entries.filter((entry) => entry.state !== 'revoked').map(({ id }) => id),
    identity: identity === undefined ? undefined : SECONDARY_IDENTITY.decode(identity),
    successor: await readSuccessor(tx, family),
    isUntold: family === 'dr' && (await untoldFormers(tx)).length > 0,
    filters: family === 'performance' && state.mode === 'primary' ? await readFilters(tx) : [],
    isFiltered: family === 'performance' && state.mode === 'secondary' && isLacking(await readReach(tx)),
    promotedFrom: state.mode === 'primary' ? await readPromotedFrom(tx, family, state.epoch) : undefined,
  }
}

/** The families whose secondaries get entries of the class. */
const familiesOf = (storageClass: StorageClass): readonly ReplicationFamily[] =>
  REPLICATION_FAMILIES.filter((family) => storageClass === 'replicated' || family === 'dr')

async function askedOf(tx: SetReader, family: ReplicationFamily) {
  if ((await readState(tx, family))?.mode !== 'primary') return []
  return (await mayHaveTakenOver(tx, family)).map((id) => ({ family, id }))
}

/** The secondaries that this cluster let in, while it is their primary. */
async function activeOf(tx: SetReader, family: ReplicationFamily) {
  if ((await readState(tx, family))?.mode !== 'primary') return []
  const entries = await allSecondaries(tx, family)
  return entries.filter(({ state }) => state === 'active').map((entry) => ({ family, entry }))
}

async function readFilters(tx: SetReader): Promise<FamilyTold['filters']> {
  const filters = await allFilters(tx)
  return filters.map(({ id, mode, paths }) => ({ id, mode, paths: paths.length }))
}

/** Where the log of the former primary ended for the promotion that began this epoch. */
async function readPromotedFrom(tx: SetReader, family: ReplicationFamily, epoch: number) {
  const followed = (await readPromotions(tx, family)).findLast((one) => one.epoch === epoch)?.followed
  if (followed === undefined || followed === null) return undefined
  return { historyId: decodeBase64(followed.historyId), index: followed.index }
}

const NOT_CALLED = 'The former primary is not being called at the moment'

/** Those that were let in and have had no link since this server started. */
function withoutLink(
  entries: readonly SecondaryEntry[],
  family: ReplicationFamily,
  linked: ReadonlySet<string>,
): SecondaryStatus[] {
  return entries
    .filter(({ id, state }) => state === 'active' && !linked.has(id))
    .map(({ id, clusterId, apiAddress, clusterAddresses, acknowledged }) => ({
      family,
      id,
      clusterId,
      isConnected: false,
      apiAddress,
      clusterAddress: clusterAddresses[0] ?? '',
      lastBeatMs: undefined,
      roundTripMs: undefined,
      clockSkewMs: undefined,
      canaryAgeMs: undefined,
      acknowledgedIndex: acknowledged?.index,
    }))
}

/** Where there are no links. */
export function noOperations(): ReplicationOperations {
  const refuse = (): Promise<never> => Promise.reject(fail('not_offered', ['This server does not replicate']))
  return {
    enablePrimary: refuse,
    disablePrimary: refuse,
    secondaryToken: refuse,
    revokeSecondary: refuse,
    rotateAuthority: refuse,
    acknowledged: async () => Infinity,
    mayBeReplaced: async () => false,
    secondaryIds: async () => [],
    generatePublicKey: refuse,
    enableSecondary: refuse,
    promote: refuse,
    demote: refuse,
    disableSecondary: refuse,
    updatePrimary: refuse,
    movePrimary: refuse,
    check: refuse,
    undone: { list: refuse, show: refuse, remove: refuse },
    filters: {
      named: refuse,
      read: refuse,
      write: refuse,
      preview: refuse,
      remove: refuse,
      filtered: refuse,
      filteredHere: refuse,
    },
    recover: refuse,
    compareAgain: async () => {},
    told: async () => undefined,
  }
}
