// The house where writes are made: it owns the seal, and tells the threads that serve when it opens and closes.

import { TOKEN_FOLDER } from './auth/token-store.ts'
import { MountTable } from './core/mount-table.ts'
import { buildHouse, type House, type HouseParts } from './house.ts'
import { type Restorable, Restore } from './restore.ts'
import type { Barrier } from './storage/barrier.ts'
import type { Store, Transaction } from './storage/contract.ts'
import { systemScope } from './storage/contract.ts'
import type { Keyring } from './storage/keyring.ts'
import { sealedTransaction } from './storage/sealed-storage.ts'
import { type OpenedKeys, Seal, type SealConfig, type SealStatus } from './system/seal.ts'
import type { SealOperations } from './system/system.ts'

/** What the other threads are told; the keyring comes with the news that the server opened. */
export type SealNews = {
  readonly status: SealStatus
  readonly keyring: Keyring | undefined
  /** 'away': nobody may have the store open now. 'back': there is one again, another one perhaps. */
  readonly store?: 'away' | 'back'
}

export type WriterParts = Omit<HouseParts, 'sealStatus' | 'sealOperations' | 'forward' | 'catchUp' | 'store'> & {
  readonly store: Store
  /** Resolves when every thread that serves has taken it over. */
  readonly announce: (news: SealNews) => Promise<void>
  /** Undefined where a store cannot be restored. */
  readonly restorable?: Restorable
}

export type Made = { readonly shares: readonly Buffer[]; readonly rootToken: string }

export type WriterHouse = House & {
  readonly seal: Seal
  readonly operations: SealOperations
  /**
   * Like `operations.initialise`, with a root token of the caller's choice; `keep` gets what was made before it is
   * committed, so that it cannot be lost in between.
   */
  initialise(
    config: SealConfig,
    clusterName: string,
    options: { readonly rootToken?: string; readonly keep?: (made: Made) => void },
  ): Promise<Made>
}

const CORE_FOLDER = 'root/core/'

export async function buildWriterHouse(parts: WriterParts): Promise<WriterHouse> {
  const { store } = parts
  const seal = new Seal(store, parts.world)
  await seal.load()
  const operations: SealOperations = {
    initialise: (config, clusterName) => initialise(config, clusterName, {}),
    unseal: async (share) => {
      const keys = await give(share)
      if (keys !== undefined) await open(keys)
      else await announce(undefined)
    },
    reset: async () => {
      seal.reset()
      await announce(undefined)
    },
    restore: (snapshot, force) => restore.run(snapshot, force),
    seal: async () => {
      // The others first: while they still hold keys, nothing may say that the server is sealed.
      seal.close()
      await announce(undefined)
      house.close()
      store.setLeafKey(undefined)
    },
  }
  const house = buildHouse({ ...parts, sealStatus: () => seal.status(), sealOperations: operations })
  const announce = (keyring: Keyring | undefined) => parts.announce({ status: seal.status(), keyring })

  const restore = new Restore({
    restorable: parts.restorable,
    barrier: house.storage.barrier,
    clusterId: () => seal.status().cluster?.id,
    random: parts.world.random,
    exchange: async (adopt) => {
      await operations.seal()
      await parts.announce({ status: seal.status(), keyring: undefined, store: 'away' })
      try {
        await adopt()
        await seal.load()
      } finally {
        house.invalidation.reset()
        await parts.announce({ status: seal.status(), keyring: undefined, store: 'back' })
      }
    },
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
    try {
      await house.open(keys.keyring)
      await house.mounts.finishUnmounts()
      await announce(keys.keyring)
    } catch (cause) {
      seal.close()
      await announce(undefined)
      house.close()
      store.setLeafKey(undefined)
      throw cause
    }
  }

  async function initialise(
    config: SealConfig,
    clusterName: string,
    options: { readonly rootToken?: string; readonly keep?: (made: Made) => void },
  ): Promise<Made> {
    seal.requireUninitialised()
    const rootToken = options.rootToken ?? house.tokens.newToken()
    const also = async (tx: Transaction, barrier: Barrier, shares: readonly Buffer[]): Promise<void> => {
      const tokenTx = sealedTransaction(barrier, systemScope, TOKEN_FOLDER, tx)
      house.tokens.initialize(tokenTx)
      await house.tokens.insertWith(tokenTx, rootToken, house.tokenService.rootEntry())
      MountTable.initialize(sealedTransaction(barrier, systemScope, CORE_FOLDER, tx), parts.world)
      options.keep?.({ shares, rootToken })
    }
    try {
      const shares = await seal.initialise(config, clusterName, also)
      return { shares, rootToken }
    } finally {
      house.tokens.close()
      await announce(undefined)
    }
  }

  return { ...house, seal, operations, initialise }
}
