// The work that a node does without a request, from unseal to seal: one list, in the order in which it is begun. Each
// line says whose data it changes, which decides in which roles a node does it (api/node-role.ts).
import { type DataOwner, mayChange, type NodeRole } from '../api/node-role.ts'
import type { Audit } from '../audit/audit.ts'
import { addMissingIndexes } from '../auth/token-indexes.ts'
import type { MountTable } from '../core/mount-table.ts'
import type { Upkeep } from '../core/upkeep.ts'
import type { Log } from '../lib/log.ts'
import type { Random } from '../lib/world.ts'
import { StorageFull, type Store } from '../storage/contract.ts'
import type { SealedStorage } from '../storage/sealed-storage.ts'
import type { SystemServices } from '../system/services.ts'
import { VERSION } from '../version.ts'
import type { AuthServices } from './auth-services.ts'
import { makeOwnKeys, makeSharedKeys } from './own-keys.ts'

/** One line of the list. */
export type OwnWork = {
  readonly name: string
  /** 'each mount': engines decide for each mount whether they may. */
  readonly changes: DataOwner | 'each mount'
  readonly begin: () => Promise<void> | void
  /** Missing: it has ended when `begin` resolves. */
  readonly end?: () => void
}

/** The rooms that have work of their own. */
export type OwnWorkRooms = {
  readonly auth: Pick<AuthServices, 'tokens' | 'wrappingJwt' | 'expiry' | 'policySweep' | 'aliasSweep' | 'identities'>
  readonly mounts: Pick<MountTable, 'addMissing' | 'finishUnmounts' | 'wipeLeftovers' | 'start'>
  readonly services: Pick<SystemServices, 'versions'>
  readonly upkeep: Pick<Upkeep, 'start' | 'stop'>
  readonly audit: Pick<Audit, 'removeFormer'>
  readonly storage: Pick<SealedStorage, 'barrier'>
  readonly store: Pick<Store, 'transaction'>
  readonly random: Random
  readonly log: Log
}

/**
 * Returns the list. What completes the store comes first, since what follows may read it; what keeps running comes
 * last.
 */
export function ownWork(rooms: OwnWorkRooms): readonly OwnWork[] {
  const { auth, mounts, services, upkeep, audit, storage, store, random, log } = rooms
  const { tokens, wrappingJwt, expiry, policySweep, aliasSweep, identities } = auth
  const makers = { barrier: storage.barrier, tokens, random }
  return [
    {
      name: 'keys of this cluster',
      changes: 'cluster',
      begin: () => store.transaction((tx) => makeOwnKeys(tx, makers)),
    },
    { name: 'keys of the set', changes: 'set', begin: () => store.transaction((tx) => makeSharedKeys(tx, makers)) },
    { name: 'audit entries of earlier releases', changes: 'cluster', begin: () => audit.removeFormer() },
    { name: 'mounts that are missing', changes: 'set', begin: () => mounts.addMissing('shared') },
    { name: 'local mounts that are missing', changes: 'cluster', begin: () => mounts.addMissing('local') },
    { name: 'unmounting that was cut off', changes: 'set', begin: () => mounts.finishUnmounts() },
    { name: 'leftovers of mounts', changes: 'cluster', begin: () => mounts.wipeLeftovers() },
    { name: 'indexes of tokens', changes: 'cluster', begin: () => addMissingIndexes(tokens.view) },
    { name: 'memberships of earlier releases', changes: 'set', begin: () => identities.moveLoginGroups() },
    { name: 'the version of this program', changes: 'node', begin: () => noteVersion(services, log) },
    { name: 'the key of wrapping tokens', changes: 'set', begin: () => wrappingJwt.addKey() },
    { name: 'the end of tokens', changes: 'cluster', begin: () => expiry.start(), end: () => expiry.stop() },
    { name: 'the end of policies', changes: 'set', begin: () => policySweep.start(), end: () => policySweep.stop() },
    {
      name: 'aliases without an entity',
      changes: 'cluster',
      begin: () => aliasSweep.start(),
      end: () => aliasSweep.stop(),
    },
    { name: 'the upkeep of mounts', changes: 'each mount', begin: () => upkeep.start(), end: () => upkeep.stop() },
    // These end with the mount table, which the gate closes.
    { name: 'what engines begin', changes: 'each mount', begin: () => mounts.start() },
  ]
}

/** Begins each line that the role allows, in order. @throws what a line throws; the lines after it are not begun */
export async function beginWork(list: readonly OwnWork[], role: NodeRole): Promise<void> {
  for (const { changes, begin } of list) {
    if (changes === 'each mount' || mayChange(role, changes)) await begin()
  }
}

/** Ends every line, also those that were not begun. */
export function endWork(list: readonly OwnWork[]): void {
  for (const { end } of list) end?.()
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
