// The house where writes are made: it owns the seal, and tells the threads that serve when it opens and closes.
import { NEW_TOKEN_LENGTH } from '../auth/token-text.ts'
import { namedLog } from '../lib/log.ts'
import type { Store } from '../storage/contract.ts'
import { pgpFieldReader } from '../system/pgp-field.ts'
import type { AutoSeal } from '../system/seal/auto-seal.ts'
import type { ShareConfig } from '../system/seal/key-shares.ts'
import { KeyringRotation } from '../system/seal/keyring-rotation.ts'
import { Rekey } from '../system/seal/rekey.ts'
import { type KeyKeeper, Seal } from '../system/seal/seal.ts'
import { TokenAttempt } from '../system/seal/token-attempt.ts'
import type { SealOperations } from '../system/system.ts'
import { buildHouse, type House, type HouseParts } from './house.ts'
import { type InitialiseOptions, initialise, type Made } from './initialisation.ts'
import { Opening, type SealNews } from './opening.ts'
import { type Restorable, Restore } from './restore.ts'

export type WriterParts = Omit<HouseParts, 'sealStatus' | 'sealOperations' | 'forward' | 'catchUp' | 'store'> & {
  readonly store: Store
  /** Opens the server when it starts; undefined: shares do. */
  readonly autoSeal?: AutoSeal
  /** Hears of each new unseal key; only where the server protects nothing. */
  readonly keyKeeper?: KeyKeeper
  /** Resolves when every thread that serves has taken it over. */
  readonly announce: (news: SealNews) => Promise<void>
  /** What reads a part of the configuration anew on every thread (sys/config/reload); missing: nothing does. */
  readonly configReloads?: SealOperations['configReloads']
  /** Undefined where a store cannot be restored. */
  readonly restorable?: Restorable
}

export type WriterHouse = House & {
  readonly seal: Seal
  readonly operations: SealOperations
  /** With the unseal key itself, in the place of its shares. @throws Refusal where it is another key */
  unsealWith(key: Buffer): Promise<void>
  /** With a seal that opens by itself: at start. Logs why it does not; the server then stays sealed. */
  openByItself(): Promise<void>
  /** Before the store is closed: what is worth keeping is kept. */
  rest(): Promise<void>
  /** Like `operations.initialise`; sealed afterwards. */
  initialise(config: ShareConfig, clusterName: string, options: InitialiseOptions): Promise<Made>
}

export async function buildWriterHouse(parts: WriterParts): Promise<WriterHouse> {
  const { store, world, log, facts } = parts
  const seal = new Seal(store, world, parts.autoSeal, parts.keyKeeper)
  await seal.load()
  const house = buildHouse({ ...parts, sealStatus: () => seal.status(), sealOperations: () => operations })
  const holders = holdersOf(parts, seal, house, () => opening)
  const { rotation, rekey, recoveryRekey, rootToken } = holders
  const attempts = [rekey, recoveryRekey, rootToken]
  const opening = new Opening({
    seal,
    house,
    store,
    rotation,
    attempts,
    announce: parts.announce,
    forgetful: [parts.slow, ...(parts.devices === undefined ? [] : [parts.devices])],
    log: namedLog(log, 'seal'),
  })
  const restore = new Restore({
    restorable: parts.restorable,
    seal,
    opening,
    barrier: house.storage.barrier,
    world,
    auditDevices: () => house.audit.list(),
    log: namedLog(log, 'storage'),
  })
  const initialiseHouse = (config: ShareConfig, clusterName: string, options: InitialiseOptions): Promise<Made> => {
    const name = clusterName === '' ? facts.clusterName : clusterName
    return initialise({ seal, house, opening, world }, config, name, options)
  }
  const operations: SealOperations = {
    ...holders,
    configReloads: parts.configReloads ?? new Map(),
    initialise: async (config, clusterName, keep) => {
      const made = await initialiseHouse(config, clusterName, { keep })
      await opening.openNew()
      return made
    },
    unseal: (share) => opening.unseal(share),
    reset: () => opening.reset(),
    seal: () => opening.close(),
    restore: (snapshot, force) => restore.run(snapshot, force),
  }
  return {
    ...house,
    seal,
    operations,
    unsealWith: (key) => opening.unsealWith(key),
    openByItself: () => opening.openByItself(),
    rest: () => opening.rest(),
    initialise: initialiseHouse,
  }
}

type Holders = Pick<SealOperations, 'rotation' | 'rekey' | 'recoveryRekey' | 'rootToken'>

/** What is done with keys while the server is open. */
function holdersOf(
  { store, world, log, slow }: WriterParts,
  seal: Seal,
  house: House,
  opening: () => Opening,
): Holders {
  const { storage, tokens, tokenService } = house
  const readPgpKey = pgpFieldReader(world, slow)
  const rekeyParts = { seal, storage, world, readPgpKey, announce: () => opening().announceDone() }
  return {
    rotation: new KeyringRotation({
      store,
      storage,
      world,
      log: namedLog(log, 'seal'),
      rootKey: () => seal.rootKey,
      announce: (keyring) => opening().announce(keyring),
    }),
    rekey: new Rekey({ ...rekeyParts, of: 'unseal key' }),
    recoveryRekey: new Rekey({ ...rekeyParts, of: 'recovery key' }),
    rootToken: new TokenAttempt({
      seal,
      world,
      readPgpKey,
      tokenLength: NEW_TOKEN_LENGTH,
      newToken: () => tokens.newToken(),
      store: async (token) => {
        await tokens.insert(token, tokenService.rootEntry())
      },
    }),
  }
}
