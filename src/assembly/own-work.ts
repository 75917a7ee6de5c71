// The work that a node does without a request: one list, in the order in which it is begun. Each line says whose data
// it changes, which decides in which roles a node does it (api/node-role.ts). It begins and ends with the role, and
// with the seal; what waits for a data key begins with the next one. What a node must do to serve at all, in every
// role, is not here (node-gate.ts).
import { type DataOwner, isCopied, mayChange, type NodeRole } from '../api/node-role.ts'
import type { Audit } from '../audit/audit.ts'
import { addMissingIndexes } from '../auth/token-indexes.ts'
import type { JoiningMounts } from '../core/joining.ts'
import type { MountLeftovers } from '../core/mount-leftovers.ts'
import type { MountTable } from '../core/mount-table.ts'
import type { Upkeep } from '../core/upkeep.ts'
import type { Log } from '../lib/log.ts'
import { oneByOne } from '../lib/one-by-one.ts'
import type { Random } from '../lib/world.ts'
import type { NamespaceDeletion } from '../namespaces/deletion.ts'
import type { OwnPartOfNamespaces } from '../namespaces/own-part.ts'
import type { Store } from '../storage/contract.ts'
import { DataKeyUsedUp, StorageFull } from '../storage/errors.ts'
import type { SealedStorage } from '../storage/sealed-storage.ts'
import type { KeyringRotation } from '../system/seal/keyring-rotation.ts'
import type { SystemServices } from '../system/services.ts'
import { VERSION } from '../version.ts'
import { afterPromotion } from './after-promotion.ts'
import type { AuthServices } from './auth-services.ts'
import { noteLostWrites } from './lost-writes.ts'
import { makeOwnKeys, makeSharedKeys } from './own-keys.ts'
import type { ReplicationRoom } from './replication/replication-room.ts'

/** One line of the list. */
export type OwnWork = {
  readonly name: string
  /** The owner of what it changes, in the store or outside of it. */
  readonly changes: DataOwner
  /** True for what no node serves clients without. Other work waits for the next data key, if this one is used up. */
  readonly isVital?: boolean
  /** 'before serving': it ends before the first request is answered. Missing: afterwards. */
  readonly when?: 'before serving'
  /** True for what a performance secondary does of its own while it is copied, and its mounts are not all there. */
  readonly whileCopied?: true
  readonly begin: () => Promise<void> | void
  /** Missing: it has ended when `begin` resolves. */
  readonly end?: () => void
}

/** The rooms that have work of their own. */
export type OwnWorkRooms = {
  readonly auth: Pick<AuthServices, 'tokens' | 'wrappingJwt' | 'expiry' | 'policySweep' | 'aliasSweep' | 'identities'>
  readonly audit: Pick<Audit, 'declare' | 'noteHistory' | 'removeFormer'>
  readonly rotation: Pick<KeyringRotation, 'watch' | 'close' | 'beginTerms' | 'endTerms'>
  readonly mounts: Pick<MountTable, 'promoted' | 'addMissing' | 'finishUnmounts' | 'start' | 'stop'>
  readonly joining: Pick<JoiningMounts, 'start' | 'stop'>
  readonly mountLeftovers: Pick<MountLeftovers, 'start' | 'stop'>
  readonly namespaceDeletion: Pick<NamespaceDeletion, 'start' | 'stop'>
  readonly ownPartOfNamespaces: Pick<OwnPartOfNamespaces, 'start' | 'stop'>
  readonly services: Pick<SystemServices, 'versions' | 'reloads'>
  readonly upkeep: Pick<Upkeep, 'start' | 'stop'>
  readonly replication: Pick<ReplicationRoom, 'open' | 'close' | 'expect' | 'removal'>
  readonly storage: Pick<SealedStorage, 'barrier' | 'view'>
  readonly store: Pick<Store, 'transaction' | 'histories'>
  readonly random: Random
  readonly log: Log
}

/**
 * Returns the list. What completes the store comes first, since what follows may read it; what keeps running comes
 * last.
 */
export function ownWork(rooms: OwnWorkRooms): readonly OwnWork[] {
  const { auth, audit, namespaceDeletion, services, replication, storage, store, random, log } = rooms
  const { tokens, wrappingJwt, expiry, policySweep, aliasSweep, identities } = auth
  const makers = { barrier: storage.barrier, tokens, random }
  return [
    {
      name: 'keys of this cluster',
      changes: 'cluster',
      when: 'before serving',
      whileCopied: true,
      begin: () => store.transaction((tx) => makeOwnKeys(tx, makers)),
    },
    { name: 'whom writes wait for', changes: 'node', when: 'before serving', begin: () => replication.expect() },
    {
      name: 'declared audit devices',
      changes: 'node',
      isVital: true,
      when: 'before serving',
      begin: () => audit.declare(),
    },
    { name: 'the history that audit knows', changes: 'node', when: 'before serving', begin: audit.noteHistory },
    {
      name: 'what a promotion leaves to do',
      // Of a DR secondary that takes over a performance secondary too: that changes nothing which the set shares.
      changes: 'cluster',
      isVital: true,
      when: 'before serving',
      begin: () => afterPromotion(rooms),
    },
    {
      name: 'what a promotion in the set leaves to do',
      // A performance secondary that is promoted owned its cluster before, so that the line above has been done.
      changes: 'set',
      isVital: true,
      when: 'before serving',
      begin: () => afterPromotion(rooms),
    },
    {
      name: 'writes that were lost to the set',
      changes: 'set',
      // A secondary that comes is to have it with the first of the new numbers.
      when: 'before serving',
      begin: () => noteLostWrites(storage, store),
    },
    {
      name: 'memberships of earlier releases',
      changes: 'set',
      when: 'before serving',
      begin: () => identities.moveLoginGroups(),
    },
    ...workOfKeyring(rooms),
    { name: 'keys of the set', changes: 'set', begin: () => store.transaction((tx) => makeSharedKeys(tx, makers)) },
    { name: 'audit entries of earlier releases', changes: 'cluster', begin: () => audit.removeFormer() },
    ...completionOfMounts(rooms, 'shared'),
    ...completionOfMounts(rooms, 'local'),
    {
      name: 'leftovers of mounts',
      changes: 'cluster',
      begin: () => rooms.mountLeftovers.start(),
      end: () => rooms.mountLeftovers.stop(),
    },
    {
      name: 'what the primary has to know of mounts',
      changes: 'cluster',
      begin: () => rooms.joining.start(),
      end: () => rooms.joining.stop(),
    },
    { name: 'indexes of tokens', changes: 'cluster', begin: () => addMissingIndexes(tokens.view) },
    { name: 'the version of this program', changes: 'node', begin: () => noteVersion(services, log) },
    { name: 'the key of wrapping tokens', changes: 'set', begin: () => wrappingJwt.addKey() },
    { name: 'the end of tokens', changes: 'cluster', begin: () => expiry.start(), end: () => expiry.stop() },
    {
      name: 'the deletion of namespaces',
      changes: 'set',
      begin: () => namespaceDeletion.start(),
      end: () => namespaceDeletion.stop(),
    },
    {
      name: 'what is left here of deleted namespaces',
      changes: 'cluster',
      begin: () => rooms.ownPartOfNamespaces.start(),
      end: () => rooms.ownPartOfNamespaces.stop(),
    },
    { name: 'the end of policies', changes: 'set', begin: () => policySweep.start(), end: () => policySweep.stop() },
    {
      name: 'aliases without an entity',
      changes: 'cluster',
      begin: () => aliasSweep.start(),
      end: () => aliasSweep.stop(),
    },
    ...workOfMounts(rooms, 'shared'),
    ...workOfMounts(rooms, 'local'),
    {
      // Before the links: the next word of the primary may allow some of it again.
      name: 'what a filter keeps from this cluster',
      changes: 'cluster',
      whileCopied: true,
      begin: () => replication.removal.start(),
      end: () => replication.removal.stop(),
    },
    {
      name: 'links to other clusters',
      changes: 'node',
      begin: () => replication.open(),
      end: () => replication.close(),
    },
  ]
}

/** The count of uses is each node's own. New terms change the keyring that the whole set has. */
const workOfKeyring = ({ rotation }: OwnWorkRooms): readonly OwnWork[] => [
  { name: 'uses of the data key', changes: 'node', begin: () => rotation.watch(), end: () => rotation.close() },
  {
    name: 'new terms of the keyring',
    changes: 'set',
    begin: () => rotation.beginTerms(),
    end: () => rotation.endTerms(),
  },
]

/** Mounts that every cluster of a set has, and those that each cluster has for itself. */
type Sharing = 'shared' | 'local'
const ownerOf = (which: Sharing): DataOwner => (which === 'local' ? 'cluster' : 'set')

const completionOfMounts = ({ mounts }: OwnWorkRooms, which: Sharing): readonly OwnWork[] => [
  {
    name: `${which} mounts that are missing`,
    changes: ownerOf(which),
    begin: () => mounts.addMissing(which),
  },
  {
    name: `unmounting of ${which} mounts that was cut off`,
    changes: ownerOf(which),
    begin: () => mounts.finishUnmounts(which === 'local'),
  },
]

/** What engines do in their mounts, the requests to a cloud that change a mount's credential there among it. */
const workOfMounts = ({ mounts, upkeep }: OwnWorkRooms, which: Sharing): readonly OwnWork[] => {
  const isLocal = which === 'local'
  return [
    {
      name: `the upkeep of ${which} mounts`,
      changes: ownerOf(which),
      begin: () => upkeep.start(isLocal),
      end: () => upkeep.stop(isLocal),
    },
    {
      name: `what engines of ${which} mounts begin`,
      changes: ownerOf(which),
      begin: () => mounts.start(isLocal),
      end: () => mounts.stop(isLocal),
    },
  ]
}

/**
 * True if a node in this role does it. While a performance secondary is copied its mounts are not all there: it makes
 * its own keys, by which it can be operated, and leaves the rest of what it owns alone.
 */
const isDoneIn = (role: NodeRole, { changes, whileCopied }: OwnWork): boolean =>
  mayChange(role, changes) && (changes === 'node' || whileCopied === true || !isCopied(role))

/** The list while the server is open: which lines run. Each runs at most once at a time. */
export class RunningWork {
  readonly #list: readonly OwnWork[]
  readonly #log: Log
  readonly #running = new Set<OwnWork>()
  /** Lines that could not begin for want of a data key. */
  readonly #waiting = new Set<OwnWork>()
  /** Vital lines that could not begin. */
  readonly #lacking = new Set<OwnWork>()

  constructor(list: readonly OwnWork[], log: Log) {
    this.#list = list
    this.#log = log
  }

  /**
   * Begins each line of the stage that the role allows and that does not run, in order. One that fails holds up no
   * other, and is begun by the next call. @throws what the first of them threw, unless that only waits for a data key
   */
  async begin(role: NodeRole, when?: 'before serving'): Promise<void> {
    const toBegin = this.#list.filter((line) => line.when === when && isDoneIn(role, line))
    await oneByOne(toBegin.map((line) => () => this.#begin(line)))
  }

  /** True if some line waits for the next data key. */
  get isWaiting(): boolean {
    return this.#waiting.size > 0
  }

  /** True if a line without which no node serves clients could not begin. */
  get lacksVital(): boolean {
    return this.#lacking.size > 0
  }

  /** Ends each line that the role does not allow. */
  keepTo(role: NodeRole): void {
    for (const line of this.#lacking) if (!isDoneIn(role, line)) this.#lacking.delete(line)
    for (const line of this.#running) if (!isDoneIn(role, line)) this.#end(line)
    for (const line of this.#waiting) if (!isDoneIn(role, line)) this.#waiting.delete(line)
  }

  /** Ends all lines. */
  end(): void {
    for (const line of this.#running) this.#end(line)
    this.#waiting.clear()
    this.#lacking.clear()
  }

  async #begin(line: OwnWork): Promise<void> {
    if (this.#running.has(line)) return
    this.#running.add(line)
    try {
      await line.begin()
      this.#waiting.delete(line)
      this.#lacking.delete(line)
    } catch (cause) {
      this.#end(line)
      if (line.isVital === true) this.#lacking.add(line)
      // The next key of a node that follows another comes from its primary, and only an open node takes it.
      if (!(cause instanceof DataKeyUsedUp) || line.isVital === true) throw cause
      this.#waiting.add(line)
      this.#log('warn', 'Work of the server waits for the next data key: this one is used up', { work: line.name })
    }
  }

  #end(line: OwnWork): void {
    this.#running.delete(line)
    line.end?.()
  }
}

/** Notes the version of this program. A full disk is no reason to stay sealed: the next unseal notes it. */
async function noteVersion({ versions }: Pick<SystemServices, 'versions'>, log: Log): Promise<void> {
  try {
    await versions.note(VERSION)
  } catch (cause) {
    if (!(cause instanceof StorageFull)) throw cause
    log('warn', 'The version of the server could not be recorded: the storage device is full, free space on it')
  }
}
