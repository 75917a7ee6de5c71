// The house where writes are made: it owns the seal, and tells the threads that serve when it opens and closes.

import { fail } from './api/errors.ts'
import { addMissingIndexes } from './auth/token-indexes.ts'
import { SYSTEM_FOLDER } from './auth/token-keys.ts'
import { NEW_TOKEN_LENGTH } from './auth/token-text.ts'
import { MountTable } from './core/mount-table.ts'
import { buildHouse, type House, type HouseParts } from './house.ts'
import { OneAtATime } from './lib/one-at-a-time.ts'
import { type Restorable, Restore } from './restore.ts'
import type { Barrier } from './storage/barrier.ts'
import type { Store, Transaction } from './storage/contract.ts'
import { Sealed, systemScope } from './storage/contract.ts'
import type { Keyring } from './storage/keyring.ts'
import { sealedTransaction } from './storage/sealed-storage.ts'
import { type AutoSeal, AutoSealFailed } from './system/auto-seal.ts'
import type { ShareConfig } from './system/key-shares.ts'
import { KeyringRotation } from './system/keyring-rotation.ts'
import { pgpFieldReader } from './system/pgp-field.ts'
import { Rekey } from './system/rekey.ts'
import { type OpenedKeys, Seal, type SealStatus } from './system/seal.ts'
import type { SealOperations } from './system/system.ts'
import { TokenAttempt } from './system/token-attempt.ts'

/** What the other threads are told; the keyring comes with the news that the server opened. */
export type SealNews = {
  readonly status: SealStatus
  readonly keyring: Keyring | undefined
  /** 'away': nobody may have the store open now. 'back': there is one again, another one perhaps. */
  readonly store?: 'away' | 'back'
}

export type WriterParts = Omit<HouseParts, 'sealStatus' | 'sealOperations' | 'forward' | 'catchUp' | 'store'> & {
  readonly store: Store
  /** Opens the server when it starts; undefined: shares do. */
  readonly autoSeal?: AutoSeal
  /** Resolves when every thread that serves has taken it over. */
  readonly announce: (news: SealNews) => Promise<void>
  /** Undefined where a store cannot be restored. */
  readonly restorable?: Restorable
}

export type Made = { readonly shares: readonly Buffer[]; readonly rootToken: string }

export type WriterHouse = House & {
  readonly seal: Seal
  readonly operations: SealOperations
  /** With a seal that opens by itself: at start. Logs why it does not; the server then stays sealed. */
  openByItself(): Promise<void>
  /** Before the store is closed: what is worth keeping is kept. */
  rest(): Promise<void>
  /**
   * Like `operations.initialise`, with a root token of the caller's choice; `keep` gets what was made before it is
   * committed, so that it cannot be lost in between.
   */
  initialise(
    config: ShareConfig,
    clusterName: string,
    options: { readonly rootToken?: string; readonly keep?: (made: Made) => void },
  ): Promise<Made>
}

const CORE_FOLDER = 'root/core/'

export async function buildWriterHouse(parts: WriterParts): Promise<WriterHouse> {
  const { store, world, log } = parts
  const seal = new Seal(store, world, parts.autoSeal)
  await seal.load()
  /** Unseal, seal and initialise: never two of them at once. */
  const turns = new OneAtATime()
  const operations: SealOperations = {
    get rotation() {
      return rotation
    },
    get rekey() {
      return rekey
    },
    get recoveryRekey() {
      return recoveryRekey
    },
    get rootToken() {
      return rootToken
    },
    restore: async (snapshot, force) => {
      try {
        return await restore.run(snapshot, force)
      } finally {
        // Also where it failed after the server was sealed for it.
        if (wasSealedToRestore) await openByItself()
        wasSealedToRestore = false
      }
    },
    initialise: async (config, clusterName) => {
      const made = await initialise(config, clusterName, {})
      await openByItself()
      return made
    },
    unseal: (share) =>
      turns.run(async () => {
        const keys = await give(share)
        if (keys !== undefined) await open(keys)
        else await announce(undefined)
      }),
    reset: () =>
      turns.run(async () => {
        seal.reset()
        await announce(undefined)
      }),
    seal: () => turns.run(close),
  }
  const house = buildHouse({ ...parts, sealStatus: () => seal.status(), sealOperations: operations })
  const announce = (keyring: Keyring | undefined) => {
    const status = seal.status()
    return parts.announce({ status, keyring: status.sealed ? undefined : keyring })
  }
  const { storage } = house
  const readPgpKey = pgpFieldReader(world)
  const rotation = new KeyringRotation({ store, storage, world, log, rootKey: () => seal.rootKey, announce })
  const rekeyParts = { seal, storage, world, readPgpKey, announce: () => announce(undefined) }
  const rekey = new Rekey({ ...rekeyParts, of: 'unseal key' })
  const recoveryRekey = new Rekey({ ...rekeyParts, of: 'recovery key' })
  const issue = async (): Promise<string> => {
    const token = house.tokens.newToken()
    await house.tokens.insert(token, house.tokenService.rootEntry())
    return token
  }
  const rootToken = new TokenAttempt({ seal, world, readPgpKey, tokenLength: NEW_TOKEN_LENGTH, issue })

  let wasSealedToRestore = false
  const restore = new Restore({
    restorable: parts.restorable,
    barrier: house.storage.barrier,
    openKeyring: (record) => seal.openKeyring(record, house.storage.barrier.keyring),
    clusterId: () => seal.status().cluster?.id,
    random: parts.world.random,
    requireFitting: (sealConfig) => seal.requireOpenable(sealConfig),
    exchange: (adopt) =>
      turns.run(async () => {
        // Somebody may have sealed it while the snapshot was on its way.
        if (seal.status().sealed) throw new Sealed('The server is sealed')
        wasSealedToRestore = true
        await close()
        await parts.announce({ status: seal.status(), keyring: undefined, store: 'away' })
        try {
          await adopt()
          await seal.load()
        } finally {
          house.invalidation.reset()
          await parts.announce({ status: seal.status(), keyring: undefined, store: 'back' })
        }
      }),
  })

  async function give(share: Buffer): Promise<OpenedKeys | undefined> {
    try {
      return await seal.give(share)
    } catch (cause) {
      // A wrong combination made it forget the shares before it, which the others show as progress.
      await announce(undefined)
      throw cause
    }
  }

  async function open(keys: OpenedKeys): Promise<void> {
    store.setLeafKey(keys.leafKey)
    keys.leafKey.fill(0)
    try {
      await rotation.open()
      await house.open(keys.keyring)
      await rotation.watch()
      await house.mounts.addMissing()
      await house.mounts.finishUnmounts()
      await addMissingIndexes(house.tokens.view)
      house.expiry.start()
      await announce(keys.keyring)
    } catch (cause) {
      await forget()
      throw cause
    }
  }

  async function close(): Promise<void> {
    if (!seal.status().sealed) await rest()
    await forget()
  }

  async function forget(): Promise<void> {
    for (const attempt of [rekey, recoveryRekey, rootToken]) attempt.forget()
    rotation.close()
    house.expiry.stop()
    // The others first: while they still hold keys, nothing may say that the server is sealed.
    seal.close()
    await announce(undefined)
    store.setLeafKey(undefined)
    house.close()
  }

  async function rest(): Promise<void> {
    if (seal.status().sealed) return
    try {
      await rotation.rest()
    } catch (cause) {
      // What is stored is larger than the truth, which is safe.
      log('warn', 'The use of the data key could not be stored', { cause: cause instanceof Error ? cause.name : '' })
    }
  }

  async function openByItself(): Promise<void> {
    await turns.run(async () => {
      try {
        const keys = await seal.openByItself()
        if (keys !== undefined) await open(keys)
      } catch (cause) {
        if (!(cause instanceof AutoSealFailed)) throw cause
        log('error', `The server stays sealed. ${cause.message}`)
      }
    })
  }

  async function initialise(
    config: ShareConfig,
    clusterName: string,
    options: { readonly rootToken?: string; readonly keep?: (made: Made) => void },
  ): Promise<Made> {
    seal.requireUninitialised()
    const rootToken = options.rootToken ?? house.tokens.newToken()
    const also = async (tx: Transaction, barrier: Barrier, shares: readonly Buffer[]): Promise<void> => {
      const tokenTx = sealedTransaction(barrier, systemScope, SYSTEM_FOLDER, tx)
      house.tokens.initialize(tokenTx)
      await house.tokens.insertWith(tokenTx, rootToken, house.tokenService.rootEntry())
      MountTable.initialize(sealedTransaction(barrier, systemScope, CORE_FOLDER, tx), parts.world)
      options.keep?.({ shares, rootToken })
    }
    try {
      const name = clusterName === '' ? parts.facts.clusterName : clusterName
      const shares = await turns.run(() => seal.initialise(config, name, also))
      return { shares, rootToken }
    } catch (cause) {
      if (cause instanceof AutoSealFailed) throw fail('bad_request', [cause.message], cause)
      throw cause
    } finally {
      house.tokens.close()
      await announce(undefined)
    }
  }

  return { ...house, seal, operations, initialise, openByItself, rest }
}
