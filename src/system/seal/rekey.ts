// New shares of a new key, in the place of the old ones: of the unseal key, or of the recovery key where the server
// opens by itself. Enough of the old shares start it; where it was asked for, it takes effect only when enough of the
// new ones were given back, and until then the old ones work (threats S-04).
//
//   root/core/unseal-shares-backup, recovery-shares-backup
//     behind the barrier: {"format":1,"nonce":…,"keys":{FINGERPRINT:[hex of an OpenPGP message]}}

import { fail } from '../../api/errors.ts'
import { constantTimeEqual } from '../../crypto/primitives/constant-time.ts'
import { copySecret } from '../../crypto/primitives/secret-bytes.ts'
import { mapOf, text, texts as textsKind } from '../../lib/member-kinds.ts'
import { OneAtATime } from '../../lib/one-at-a-time.ts'
import { dictionary } from '../../lib/own.ts'
import type { World } from '../../lib/world.ts'
import { systemScope, type Transaction } from '../../storage/contract.ts'
import { type SealedStorage, sealedTransaction, type View } from '../../storage/sealed-storage.ts'
import { type RecordOf, storedRecord } from '../../storage/stored-record.ts'
import { WrongCombination } from './attempt-limits.ts'
import { combineKey, SHARED_KEY_BYTES, type ShareConfig, splitKey, wipeAll } from './key-shares.ts'
import type { Seal } from './seal.ts'
import { SEAL_FOLDER } from './seal-records.ts'
import { readPgpKeys, type ShareTexts, shareTexts } from './share-answer.ts'
import { ShareAttempt } from './share-attempt.ts'
import { checkShareNumbers } from './share-numbers.ts'
import { requireGoodShares } from './share-trial.ts'
import type { ReadPgpKey, TextEncryptor } from './token-attempt.ts'

export type RekeyParts = {
  readonly of: 'unseal key' | 'recovery key'
  readonly seal: Seal
  readonly storage: SealedStorage
  readonly world: World
  readonly readPgpKey: ReadPgpKey
  /** Tells the other threads how many shares there are now. Never throws: the shares that go out are the only ones. */
  readonly announce: () => Promise<void>
}

export type RekeyRequest = ShareConfig & {
  readonly pgpKeys: readonly string[]
  readonly backup: boolean
  readonly verification: boolean
}

type Purpose = ShareConfig & {
  readonly encryptors: readonly TextEncryptor[]
  readonly backup: boolean
  readonly verification: boolean
}

/** A new key whose shares were handed out and are not in force yet. */
type Pending = {
  readonly key: Buffer
  readonly config: ShareConfig
  readonly texts: ShareTexts
  readonly backup: boolean
  readonly nonce: string
}

export type RekeyStatus = {
  readonly nonce: string
  readonly started: boolean
  readonly config: ShareConfig
  readonly progress: number
  readonly required: number
  readonly fingerprints: readonly string[] | undefined
  readonly backup: boolean
  readonly verification: boolean
  /** Empty before the new shares were handed out. */
  readonly verificationNonce: string
}

export type Rekeyed = ShareTexts & {
  readonly nonce: string
  readonly backup: boolean
  readonly verificationNonce: string
}

export type VerifyStatus = {
  readonly nonce: string
  readonly started: boolean
  readonly config: ShareConfig
  readonly progress: number
}

export const SHARES_BACKUP = storedRecord('A backup of shares', { nonce: text, keys: mapOf(textsKind) }, 'dropped')
export type SharesBackup = RecordOf<typeof SHARES_BACKUP>

const NONE: ShareConfig = { shares: 0, threshold: 0 }

export class Rekey {
  readonly #parts: RekeyParts
  readonly #attempt: ShareAttempt<Purpose>
  readonly #verification: ShareAttempt<Pending>
  readonly #turns = new OneAtATime()
  readonly #view: View
  readonly #backupName: string

  constructor(parts: RekeyParts) {
    this.#parts = parts
    this.#view = parts.storage.view(systemScope, SEAL_FOLDER)
    const isUnseal = parts.of === 'unseal key'
    this.#backupName = isUnseal ? 'unseal-shares-backup' : 'recovery-shares-backup'
    const [kind, operation] = isUnseal ? ['barrier rekey', 'rekey'] : ['recovery rekey', 'recovery rekey']
    this.#attempt = new ShareAttempt(parts.world, {
      alreadyRunning: 'rekey already in progress',
      notRunning: `no ${kind} in progress`,
      wrongNonce: (nonce) => `incorrect nonce supplied; nonce for this ${operation} operation is "${nonce}"`,
    })
    this.#verification = new ShareAttempt<Pending>(
      parts.world,
      {
        alreadyRunning: 'rekey already in progress',
        notRunning: 'no rekey verification in progress',
        wrongNonce: (nonce) => `incorrect nonce supplied; nonce for this verify operation is "${nonce}"`,
      },
      ({ key }) => key.fill(0),
    )
  }

  /** @throws Refusal where there is no such key */
  #requireKind(): void {
    const { seal, of } = this.#parts
    if (seal.hasRecoveryKey === (of === 'recovery key')) return
    throw fail('not_offered', [
      of === 'recovery key'
        ? 'recovery rekeying not supported: this server has unseal shares, see sys/rekey'
        : 'barrier rekeying not supported: this server opens by itself, see sys/rekey-recovery-key',
    ])
  }

  status(): RekeyStatus {
    this.#requireKind()
    const [running, pending] = [this.#attempt.running, this.#verification.running]
    const required = this.#parts.seal.shareConfig.threshold
    if (pending !== undefined) {
      const { config, texts, backup, nonce } = pending.purpose
      const { fingerprints } = texts
      const shown = { nonce, started: true, config, progress: 0, required, fingerprints, backup }
      return { ...shown, verification: true, verificationNonce: pending.nonce }
    }
    const purpose = running?.purpose
    const fingerprints = purpose?.encryptors.map(({ fingerprint }) => fingerprint)
    return {
      nonce: running?.nonce ?? '',
      started: running !== undefined,
      config: purpose ?? NONE,
      progress: running?.progress ?? 0,
      required,
      fingerprints: fingerprints?.length === 0 ? undefined : fingerprints,
      backup: purpose?.backup ?? false,
      verification: purpose?.verification ?? false,
      verificationNonce: '',
    }
  }

  start({ shares, threshold, pgpKeys, backup, verification }: RekeyRequest): Promise<RekeyStatus> {
    return this.#turns.run(async () => {
      this.#requireKind()
      if (this.#verification.running !== undefined) throw fail('already_in_progress', ['rekey already in progress'])
      checkShareNumbers('secret', shares, threshold)
      if (backup && pgpKeys.length === 0)
        throw fail('fields_conflict', [
          'backup',
          'cannot keep a backup of new keys without pgp_keys to encrypt them to',
        ])
      const encryptors = await readPgpKeys(this.#parts.readPgpKey, 'pgp_keys', pgpKeys, shares)
      this.#attempt.start({ shares, threshold, encryptors, backup, verification })
      return this.status()
    })
  }

  cancel(): Promise<void> {
    return this.#turns.run(async () => {
      this.#requireKind()
      this.forget()
    })
  }

  /** Takes one of the old shares; with the last that is needed the new ones are made. */
  give(share: Buffer, nonce: string): Promise<RekeyStatus | Rekeyed> {
    return this.#turns.run(async () => {
      this.#requireKind()
      const { seal } = this.#parts
      const given = this.#attempt.give(share, nonce, seal.shareConfig.threshold)
      if (given === undefined) return this.status()
      if (!(await seal.accepts(given)))
        throw new WrongCombination(fail('key_share_wrong', ['rekey aborted: the shares do not give the key']))
      const running = this.#attempt.running
      if (running === undefined) throw fail('not_in_progress', ['no rekey in progress'])
      const made = await this.#make(running.purpose, nonce)
      this.#attempt.cancel()
      return made
    })
  }

  async #make(purpose: Purpose, nonce: string): Promise<Rekeyed> {
    const { world } = this.#parts
    const { shares, threshold, backup } = purpose
    const config = { shares, threshold }
    const key = world.random.bytes(SHARED_KEY_BYTES)
    const made = splitKey(key, config, world.random)
    try {
      requireGoodShares({ shares: made, config, key }, world.random)
      const texts = await shareTexts(made, purpose.encryptors)
      // Sealed meanwhile, and perhaps another store since: the shares that allowed it are forgotten.
      if (this.#attempt.running?.nonce !== nonce) throw fail('not_in_progress', ['no rekey in progress'])
      const pending = { key, config, texts, backup, nonce }
      if (purpose.verification) {
        return {
          ...texts,
          nonce,
          backup,
          verificationNonce: this.#verification.start({ ...pending, key: copySecret(key) }),
        }
      }
      await this.#take(pending)
      return { ...texts, nonce, backup, verificationNonce: '' }
    } finally {
      wipeAll([...made, key])
    }
  }

  async #take({ key, config, texts, backup, nonce }: Pending): Promise<void> {
    const { seal, announce } = this.#parts
    await seal.replaceSharedKey(key, config, (tx) => this.#putBackup(tx, backup ? texts : undefined, nonce))
    await announce()
  }

  /** Of shares that are no longer good none is kept. */
  #putBackup(tx: Transaction, texts: ShareTexts | undefined, nonce: string): void {
    const core = sealedTransaction(this.#parts.storage.barrier, systemScope, SEAL_FOLDER, tx)
    if (texts?.fingerprints === undefined) {
      core.delete(this.#backupName)
      return
    }
    const keys = dictionary<string[]>()
    for (const [index, fingerprint] of texts.fingerprints.entries()) {
      keys[fingerprint] = [...(keys[fingerprint] ?? []), texts.keys[index] ?? '']
    }
    core.put(this.#backupName, SHARES_BACKUP.encode({ nonce, keys }))
  }

  verifyStatus(): VerifyStatus {
    this.#requireKind()
    const running = this.#verification.running
    return {
      nonce: running?.nonce ?? '',
      started: running !== undefined,
      config: running?.purpose.config ?? NONE,
      progress: running?.progress ?? 0,
    }
  }

  /** The shares given back are forgotten; the new ones still wait, under another nonce. */
  restartVerification(): Promise<VerifyStatus> {
    return this.#turns.run(async () => {
      this.#requireKind()
      const running = this.#verification.running
      if (running === undefined) throw fail('not_in_progress', ['no rekey verification in progress'])
      const pending = { ...running.purpose, key: copySecret(running.purpose.key) }
      this.#verification.cancel()
      this.#verification.start(pending)
      return this.verifyStatus()
    })
  }

  /** Takes one of the new shares; true with the last that is needed: they are in force. */
  verify(share: Buffer, nonce: string): Promise<boolean> {
    return this.#turns.run(async () => {
      this.#requireKind()
      const running = this.#verification.running
      const threshold = running?.purpose.config.threshold ?? 1
      const given = this.#verification.give(share, nonce, threshold)
      if (given === undefined || running === undefined) return false
      const { key, config } = running.purpose
      const combined = combineKey(given, config)
      wipeAll(given)
      const isRight = combined !== undefined && constantTimeEqual(combined, key)
      combined?.fill(0)
      if (!isRight)
        throw new WrongCombination(
          fail('key_share_wrong', ['rekey verification failed: the shares do not give the new key']),
        )
      await this.#take(running.purpose)
      this.#verification.cancel()
      return true
    })
  }

  async backup(): Promise<SharesBackup | undefined> {
    const bytes = await this.#view.get(this.#backupName)
    return bytes === undefined ? undefined : SHARES_BACKUP.decode(bytes)
  }

  async deleteBackup(): Promise<void> {
    await this.#view.transaction(async (tx) => tx.delete(this.#backupName))
  }

  /** At seal. */
  forget(): void {
    this.#attempt.cancel()
    this.#verification.cancel()
  }
}
