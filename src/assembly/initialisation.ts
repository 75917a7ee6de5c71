// The first content of a new server besides its keys: a root token and the first mounts, in the same transaction.
import { fail } from '../api/errors.ts'
import { ROOT_ID } from '../api/namespace.ts'
import { SYSTEM_FOLDER } from '../auth/token-keys.ts'
import { initializeMounts } from '../core/stored-mounts.ts'
import type { World } from '../lib/world.ts'
import { systemScope } from '../storage/contract.ts'
import { sealedTransaction } from '../storage/sealed-storage.ts'
import { AutoSealFailed } from '../system/seal/auto-seal.ts'
import type { ShareConfig } from '../system/seal/key-shares.ts'
import type { Seal } from '../system/seal/seal.ts'
import type { AlsoWrites } from '../system/seal/seal-creation.ts'
import { SEAL_FOLDER } from '../system/seal/seal-records.ts'
import type { AuthServices } from './auth-services.ts'
import { makeOwnKeys, makeSharedKeys } from './own-keys.ts'
import type { SealAnnouncer } from './seal-state.ts'
import type { UnsealController } from './unseal-controller.ts'

/** The secrets of a new server, for the caller alone. */
export type InitialSecrets = { readonly shares: readonly Buffer[]; readonly rootToken: string }

/** How an initialisation differs from what `sys/init` does. */
export type InitialiseOptions = {
  /** A token is made up if this is missing. */
  readonly rootToken?: string
  /** Gets the secrets before the commit, so that they cannot be lost. If it throws, nothing is stored. */
  readonly keep?: (made: InitialSecrets) => void | Promise<void>
}

/** The parts that an initialisation works with. */
export type InitialisationParts = {
  readonly seal: Seal
  readonly auth: Pick<AuthServices, 'tokens' | 'tokenService'>
  readonly opening: Pick<UnsealController, 'exclusively'>
  readonly news: SealAnnouncer
  readonly world: World
}

/** Initialises the store and leaves the server sealed. @throws Refusal if it is initialised already */
export async function initialise(
  { seal, auth, opening, news, world }: InitialisationParts,
  config: ShareConfig,
  clusterName: string,
  options: InitialiseOptions,
): Promise<InitialSecrets> {
  const { tokens, tokenService } = auth
  seal.requireUninitialised()
  const rootToken = options.rootToken ?? tokens.newToken(ROOT_ID)
  const also: AlsoWrites = async (tx, barrier, shares) => {
    const tokenTx = sealedTransaction(barrier, systemScope, SYSTEM_FOLDER, tx)
    const makers = { barrier, tokens, random: world.random }
    await makeOwnKeys(tx, makers)
    await tokens.open(tokenTx)
    await makeSharedKeys(tx, makers)
    await tokens.insertWith(tokenTx, rootToken, tokenService.rootEntry())
    initializeMounts(sealedTransaction(barrier, systemScope, SEAL_FOLDER, tx), world)
    await options.keep?.({ shares, rootToken })
  }
  try {
    const shares = await opening.exclusively(() => seal.initialise(config, clusterName, also))
    return { shares, rootToken }
  } catch (cause) {
    if (cause instanceof AutoSealFailed) throw fail('auto_seal_failed', [cause.message], cause)
    throw cause
  } finally {
    tokens.close()
    // The keys may be in force by now: a thread that cannot be told must not make the caller lose them.
    await news.tellDone()
  }
}
