// What a new server begins with besides its keys: a root token, and the first mounts, in the same transaction.
import { fail } from '../api/errors.ts'
import { SYSTEM_FOLDER } from '../auth/token-keys.ts'
import { initializeMounts } from '../core/stored-mounts.ts'
import type { World } from '../lib/world.ts'
import { systemScope } from '../storage/contract.ts'
import { sealedTransaction } from '../storage/sealed-storage.ts'
import { AutoSealFailed } from '../system/seal/auto-seal.ts'
import type { ShareConfig } from '../system/seal/key-shares.ts'
import type { Seal } from '../system/seal/seal.ts'
import type { AlsoWrites } from '../system/seal/seal-creation.ts'
import { CORE_FOLDER } from '../system/seal/seal-records.ts'
import type { House } from './house.ts'
import type { Opening } from './opening.ts'

export type Made = { readonly shares: readonly Buffer[]; readonly rootToken: string }

export type InitialiseOptions = {
  /** Made up where it is missing. */
  readonly rootToken?: string
  /** Gets what was made before it is committed, so that it cannot be lost; where it throws, nothing was done. */
  readonly keep?: (made: Made) => void | Promise<void>
}

export type InitialisationParts = {
  readonly seal: Seal
  readonly house: House
  readonly opening: Opening
  readonly world: World
}

/** The server is sealed afterwards. @throws Refusal where it was done already */
export async function initialise(
  { seal, house, opening, world }: InitialisationParts,
  config: ShareConfig,
  clusterName: string,
  options: InitialiseOptions,
): Promise<Made> {
  seal.requireUninitialised()
  const rootToken = options.rootToken ?? house.tokens.newToken()
  const also: AlsoWrites = async (tx, barrier, shares) => {
    const tokenTx = sealedTransaction(barrier, systemScope, SYSTEM_FOLDER, tx)
    house.tokens.initialize(tokenTx)
    await house.tokens.insertWith(tokenTx, rootToken, house.tokenService.rootEntry())
    initializeMounts(sealedTransaction(barrier, systemScope, CORE_FOLDER, tx), world)
    await options.keep?.({ shares, rootToken })
  }
  try {
    const shares = await opening.exclusively(() => seal.initialise(config, clusterName, also))
    return { shares, rootToken }
  } catch (cause) {
    if (cause instanceof AutoSealFailed) throw fail('auto_seal_failed', [cause.message], cause)
    throw cause
  } finally {
    house.tokens.close()
    await opening.announceDone()
  }
}
