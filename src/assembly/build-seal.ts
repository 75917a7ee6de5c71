// The seal, on a thread that writes: what opens and closes the whole server, and the operations on its keys in between.
import { fail } from '../api/errors.ts'
import { ROOT_ID } from '../api/namespace.ts'
import { FOLLOWS_NONE, type RoleState } from '../api/node-role.ts'
import { NEW_TOKEN_LENGTH } from '../auth/token-text.ts'
import { describeCause } from '../core/describe-cause.ts'
import { Upkeep } from '../core/upkeep.ts'
import { type Log, namedLog } from '../lib/log.ts'
import { addOperationToken } from '../replication/set/operation-tokens.ts'
import { SETS_FOLDER } from '../replication/set/records.ts'
import type { Barrier } from '../storage/barrier.ts'
import { systemScope } from '../storage/contract.ts'
import { pgpFieldReader } from '../system/pgp-field.ts'
import type { ShareConfig } from '../system/seal/key-shares.ts'
import { KeyringRotation } from '../system/seal/keyring-rotation.ts'
import { Rekey } from '../system/seal/rekey.ts'
import type { Seal } from '../system/seal/seal.ts'
import { type SealBundle, wipeBundle } from '../system/seal/seal-bundle.ts'
import { OPERATION_TOKEN_WORDS, ROOT_TOKEN_WORDS, TokenAttempt } from '../system/seal/token-attempt.ts'
import type { SealOperations } from '../system/system.ts'
import { type Activation, type AlsoWritten, newKeys, type ReplaceData } from './activation.ts'
import { emptied } from './emptied-store.ts'
import { type InitialiseOptions, type InitialSecrets, initialise } from './initialisation.ts'
import type { WritingParts } from './node-parts.ts'
import type { NodeRooms } from './node-rooms.ts'
import { ownWork, RunningWork } from './own-work.ts'
import { buildReplication } from './replication/build-replication.ts'
import type { ReplicationRoom } from './replication/replication-room.ts'
import { orRefused } from './replication/set-refusals.ts'
import { roleUnder } from './replication/stored-role.ts'
import { Restore } from './restore.ts'
import type { RoleHolder } from './role-holder.ts'
import { SealAnnouncer } from './seal-state.ts'
import { UnsealController } from './unseal-controller.ts'

/** The parts that only a writing thread has. */
export type SealRoom = {
  readonly seal: Seal
  readonly operations: SealOperations
  readonly upkeep: Upkeep
  /** Unseals with the unseal key itself instead of its shares. @throws Refusal for a wrong key */
  unsealWith(key: Buffer): Promise<void>
  /** Unseals with the root key, which a development server keeps. @throws Refusal for a wrong key */
  unsealWithRoot(rootKey: Buffer): Promise<void>
  readonly replication: ReplicationRoom
  /** The seal, for another cluster of the set; the caller wipes it. @throws Refusal while sealed */
  bundle(): Promise<SealBundle>
  /** Takes over the shares of the primary, as `Seal.follow`. @throws BundleRefused, Refusal */
  follow(bundle: SealBundle, instead: string): Promise<boolean>
  /** Takes a primary's data and keys in the place of the own ones, and stays open. @throws BundleRefused, Refusal */
  activate(activation: Activation, replace: ReplaceData): Promise<void>
  /** Unseals at start, if the seal can do that. A failure is logged, and the server stays sealed. */
  openByItself(): Promise<void>
  /** The role of the node. */
  readonly role: Pick<RoleHolder, 'state' | 'role'>
  /** Makes the node another one among others, on every thread. @throws as `UnsealController.changeRole` does */
  changeRole(to: RoleState): Promise<void>
  /** Called before the store is closed: stores what is counted in memory only. */
  rest(): Promise<void>
  /** Like `operations.initialise`, but leaves the server sealed. */
  initialise(config: ShareConfig, clusterName: string, options: InitialiseOptions): Promise<InitialSecrets>
}

/** Builds the seal over the rooms of this thread; nothing is opened yet. */
export function buildSeal(
  parts: WritingParts,
  { seal, role }: { readonly seal: Seal; readonly role: RoleHolder },
  rooms: NodeRooms,
): SealRoom {
  const { world, log, channels = {} } = parts
  const { announce = async () => {} } = channels
  const news = new SealAnnouncer({ seal, role }, announce, namedLog(log, 'seal'))
  const { barrier } = rooms.storage
  const newShares = async (): Promise<void> => {
    await news.tellDone()
    replication.rekeyed()
    if (parts.onRekeyed !== undefined) await handOver(seal, barrier, parts.onRekeyed, namedLog(log, 'seal'))
  }
  const newTerm = (): Promise<void> => opening.newTerm()
  const holders = buildHolders(parts, seal, rooms, { news, newShares, newTerm })
  const upkeep = new Upkeep(() => rooms.mounts.mounted(), world, namedLog(log, 'core'))
  const bundle = (): Promise<SealBundle> => seal.bundle(barrier)
  const follow = (followed: SealBundle, instead: string): Promise<boolean> =>
    opening.exclusively(async () => {
      const isTaken = await seal.follow(followed, barrier, instead)
      if (!isTaken) return false
      // The shares that were given for them, and permitted new ones, count no more.
      for (const attempt of attemptsOf(holders)) attempt.forget()
      await newShares()
      return true
    })
  const activate = (activation: Activation, replace: ReplaceData): Promise<void> =>
    opening.replaceKeys(() => newKeys({ seal, barrier, world }, activation), replace)
  const changeRole = async (to: RoleState): Promise<void> => {
    await opening.changeRole(to)
    // Only a secondary for disaster recovery has operation tokens.
    if (to.role.dr !== 'secondary' && to.role.dr !== 'bootstrapping') holders.operationToken.forget()
  }
  const replication: ReplicationRoom = buildReplication(parts, rooms, {
    seal,
    rotation: holders.rotation,
    bundle,
    follow,
    activate: async (activation, also) => activate(activation, replacing(parts, activation, also)),
    changeRole,
  })
  const opening: UnsealController = buildOpening(parts, { seal, role, rooms, holders, upkeep, news, replication })
  const initialised: SealRoom['initialise'] = (config, clusterName, options) => {
    const name = clusterName === '' ? parts.facts.clusterName : clusterName
    return initialise({ seal, auth: rooms, opening, news, world }, config, name, options)
  }
  const restore = buildRestore(parts, seal, rooms, opening)
  return {
    seal,
    operations: operationsOf(parts, { holders, opening, restore, initialised }),
    upkeep,
    unsealWith: (key) => opening.unsealWith(key),
    unsealWithRoot: (rootKey) => opening.unsealWithRoot(rootKey),
    replication,
    bundle,
    follow,
    activate,
    openByItself: () => opening.openByItself(),
    rest: () => opening.rest(),
    role,
    changeRole,
    initialise: initialised,
  }
}

/** @throws Refusal on a server whose store cannot be replaced */
function replacing({ store, leaveOnly, world }: WritingParts, keep: Activation, also: AlsoWritten): ReplaceData {
  if (leaveOnly === undefined) throw fail('not_offered', ['The store of this server cannot be replaced'])
  return emptied({ store, leaveOnly, world, keep, also })
}

type Operated = {
  readonly holders: Holders
  readonly opening: UnsealController
  readonly restore: Restore
  readonly initialised: SealRoom['initialise']
}

/** What endpoints of the seal do. */
function operationsOf({ channels }: WritingParts, { holders, opening, restore, initialised }: Operated) {
  const operations: SealOperations = {
    ...holders,
    configReloads: channels?.configReloads ?? new Map(),
    initialise: async (config, clusterName, keep) => {
      const made = await initialised(config, clusterName, { keep })
      await opening.openNew()
      return made
    },
    unseal: (share) => opening.unseal(share),
    reset: () => opening.reset(),
    seal: () => opening.close(),
    restore: (snapshot, force) => restore.run(snapshot, force),
  }
  return operations
}

type Holders = Pick<SealOperations, 'rotation' | 'rekey' | 'recoveryRekey' | 'rootToken' | 'operationToken'>

/** Those that hold shares, or what shares have permitted, between two requests. */
const attemptsOf = ({ rekey, recoveryRekey, rootToken, operationToken }: Holders) => [
  rekey,
  recoveryRekey,
  rootToken,
  operationToken,
]

/** Who hears of new shares and keys. */
type Heard = {
  readonly news: SealAnnouncer
  readonly newShares: () => Promise<void>
  readonly newTerm: () => Promise<void>
}

/** The operations on keys while the server is open. Some hold shares or new keys between two requests. */
function buildHolders(
  { store, world, log, slow }: WritingParts,
  seal: Seal,
  { storage, tokens, tokenService, nodeRole }: NodeRooms,
  { news, newShares, newTerm }: Heard,
): Holders {
  const readPgpKey = pgpFieldReader(world, slow)
  const attemptParts = {
    seal,
    world,
    readPgpKey,
    tokenLength: NEW_TOKEN_LENGTH,
    newToken: () => tokens.newToken(ROOT_ID),
  }
  const sets = storage.view(systemScope, SETS_FOLDER)
  const rekeyParts = { seal, storage, world, readPgpKey, nodeRole, announce: newShares }
  return {
    rotation: new KeyringRotation({
      store,
      storage,
      world,
      log: namedLog(log, 'seal'),
      rootKey: () => seal.rootKey,
      nodeRole,
      announce: (keyring) => news.tell(keyring),
      onNewTerm: newTerm,
    }),
    rekey: new Rekey({ ...rekeyParts, of: 'unseal key' }),
    recoveryRekey: new Rekey({ ...rekeyParts, of: 'recovery key' }),
    rootToken: new TokenAttempt({
      ...attemptParts,
      words: ROOT_TOKEN_WORDS,
      store: async (token) => {
        await tokens.insert(token, tokenService.rootEntry())
      },
    }),
    operationToken: new TokenAttempt({
      ...attemptParts,
      words: OPERATION_TOKEN_WORDS,
      store: (token) => orRefused(() => sets.transaction((tx) => addOperationToken(tx, token, world.clock.nowMs()))),
    }),
  }
}

/**
 * Makes the bundle of a rekey, of this cluster or of its primary, and hands it on. The hand-over is not waited for, and
 * no failure of it is one of the rekey: the caller waits for the only copy of the new shares. A secondary that was not
 * reached takes it later.
 */
async function handOver(
  seal: Seal,
  barrier: Barrier,
  onRekeyed: (bundle: SealBundle) => Promise<void>,
  log: Log,
): Promise<void> {
  const failed = (cause: unknown): void =>
    log('warn', 'The new shares could not be handed on to the secondaries yet', { cause: describeCause(cause) })
  try {
    const bundle = await seal.bundle(barrier)
    const handedOn = async (): Promise<void> => onRekeyed(bundle)
    handedOn()
      .catch(failed)
      .finally(() => wipeBundle(bundle))
  } catch (cause) {
    failed(cause)
  }
}

type OpeningRooms = {
  readonly seal: Seal
  readonly role: RoleHolder
  readonly rooms: NodeRooms
  readonly holders: Holders
  readonly upkeep: Upkeep
  readonly news: SealAnnouncer
  readonly replication: ReplicationRoom
}

function buildOpening(
  parts: WritingParts,
  { seal, role, rooms, holders, upkeep, news, replication }: OpeningRooms,
): UnsealController {
  const { store, slow, devices } = parts
  const { rotation } = holders
  const { gate, invalidation } = rooms
  const log = namedLog(parts.log, 'seal')
  return new UnsealController({
    seal,
    gate,
    invalidation,
    store,
    rotation,
    work: new RunningWork(
      ownWork({ ...rooms, auth: rooms, rotation, upkeep, replication, store, random: parts.world.random, log }),
      log,
    ),
    role,
    readRole: async (keyring) => {
      const stored = await roleUnder(keyring, store, parts.world.random)
      // A store that was restored may say less than the one before.
      return stored ?? (parts.links === undefined ? undefined : FOLLOWS_NONE)
    },
    attempts: attemptsOf(holders),
    news,
    timers: parts.world.timers,
    secretHolders: [slow, replication, ...(devices === undefined ? [] : [devices])],
    log,
  })
}

function buildRestore(
  parts: WritingParts,
  seal: Seal,
  { storage, audit }: NodeRooms,
  opening: UnsealController,
): Restore {
  const { restorable, store, world, log } = parts
  return new Restore({
    restorable,
    store,
    seal,
    opening,
    barrier: storage.barrier,
    world,
    auditDevices: () => audit.list(),
    log: namedLog(log, 'storage'),
  })
}
