// Rekeying: a new key with new shares replaces the old one. It is the unseal key, or the recovery key of a server that
// opens by itself. Enough of the old shares permit it. With verification it takes effect only when enough new shares
// were given back; until then the old shares work (threats S-04). Only the primary of a set is rekeyed: the clusters
// that follow it get its shares (seal-handover.ts).
//
//   start ─▶ give old shares ─▶ new shares go out ─┬─▶ in force                    without verification
//                                                  └─▶ give new shares ─▶ in force   with verification

import { fail } from '../../api/errors.ts'
import { mayChange, type NodeRole } from '../../api/node-role.ts'
import { constantTimeEqual } from '../../crypto/primitives/constant-time.ts'
import { copySecret } from '../../crypto/primitives/secret-bytes.ts'
import { OneAtATime } from '../../lib/one-at-a-time.ts'
import { dictionary } from '../../lib/own.ts'
import type { World } from '../../lib/world.ts'
import { systemScope, type Transaction } from '../../storage/contract.ts'
import { type SealedStorage, sealedTransaction, type View } from '../../storage/sealed-storage.ts'
import { WrongCombination } from './attempt-limits.ts'
import { combineKey, SHARED_KEY_BYTES, type ShareConfig, splitKey, wipeAll } from './key-shares.ts'
import type { Seal } from './seal.ts'
import { SEAL_FOLDER } from './seal-records.ts'
import { readPgpKeys, type ShareTexts, shareTexts } from './share-answer.ts'
import { ShareAttempt } from './share-attempt.ts'
import { checkShareNumbers } from './share-numbers.ts'
import { requireGoodShares } from './share-trial.ts'
import { BACKUP_NAMES, SHARES_BACKUP, type SharesBackup } from './shares-backup.ts'
import type { ReadPgpKey, TextEncryptor } from './token-attempt.ts'

/** Parts that the assembly hands in. A server has a Rekey for each kind of key; one of the two refuses to start. */
export type RekeyParts = {
  readonly of: 'unseal key' | 'recovery key'
  readonly seal: Seal
  readonly storage: SealedStorage
  readonly world: World
  readonly readPgpKey: ReadPgpKey
  readonly nodeRole: () => NodeRole
  /**
   * Tells the other threads how many shares there are now. Never throws: the new key is stored by then, and an error
   * would keep its only shares from the caller.
   */
  readonly announce: () => Promise<void>
}

/** What the caller of a rekey asks for. `pgpKeys` has one key for each share, or is empty. */
export type RekeyRequest = ShareConfig & {
  readonly pgpKeys: readonly string[]
  readonly backup: boolean
  readonly verification: boolean
}

/** A request whose OpenPGP keys were read. */
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

/** How far the rekey is. `config` and the flags are those of the request; `progress` counts old shares. */
export type RekeyStatus = {
  readonly nonce: string
  readonly started: boolean
  readonly config: ShareConfig
  readonly progress: number
  readonly required: number
  readonly fingerprints: readonly string[] | undefined
  readonly backup: boolean
  readonly verification: boolean
  /** Names the verification; empty before the new shares were handed out. */
  readonly verificationNonce: string
}

/** The new shares, told once. `verificationNonce` is empty if they are in force already. */
export type Rekeyed = ShareTexts & {
  readonly nonce: string
  readonly backup: boolean
  readonly verificationNonce: string
}

/** How far the verification is; `progress` counts new shares. */
export type VerifyStatus = {
  readonly nonce: string
  readonly started: boolean
  readonly config: ShareConfig
  readonly progress: number
}

/** Shown while no rekey runs: clients read both numbers always. */
const NONE: ShareConfig = { shares: 0, threshold: 0 }

/** The one rekey of a kind of key that may be under way. Methods run one after the other, in the order of the calls. */
export class Rekey {
  readonly #parts: RekeyParts
  readonly #attempt: ShareAttempt<Purpose>
  readonly #verification: ShareAttempt<Pending>
  readonly #oneAtATime = new OneAtATime()
  readonly #view: View
  readonly #backupName: string

  constructor(parts: RekeyParts) {
    this.#parts = parts
    this.#view = parts.storage.view(systemScope, SEAL_FOLDER)
    const isUnseal = parts.of === 'unseal key'
    this.#backupName = BACKUP_NAMES[parts.of]
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

  /** @throws Refusal if this server has the other kind of key */
  #requireKind(): void {
    const { seal, of } = this.#parts
    if (seal.hasRecoveryKey === (of === 'recovery key')) return
    throw fail('not_offered', [
      of === 'recovery key'
        ? 'recovery rekeying not supported: this server has unseal shares, see sys/rekey'
        : 'barrier rekeying not supported: this server opens by itself, see sys/rekey-recovery-key',
    ])
  }

  /** @throws Refusal on a cluster that follows another: the primary's shares are its shares too */
  #requirePrimary(): void {
    if (mayChange(this.#parts.nodeRole(), 'set')) return
    throw fail('not_offered', [
      'this cluster follows a primary and has its shares: rekey the primary, and the new shares reach this cluster too',
    ])
  }

  /** The status of rekey and verification together. @throws Refusal if this server has the other kind of key */
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

  /** Starts a rekey. @throws Refusal while another runs, or naming the field that is wrong */
  start({ shares, threshold, pgpKeys, backup, verification }: RekeyRequest): Promise<RekeyStatus> {
    return this.#oneAtATime.run(async () => {
      this.#requireKind()
      this.#requirePrimary()
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

  /** Drops the rekey and its verification, if any; the old shares stay good. */
  cancel(): Promise<void> {
    return this.#oneAtATime.run(async () => {
      this.#requireKind()
      this.forget()
    })
  }

  /**
   * Takes one old share; with the last one needed it makes the new ones.
   * @throws WrongCombination; the rekey then goes on without any share
   */
  give(share: Buffer, nonce: string): Promise<RekeyStatus | Rekeyed> {
    return this.#oneAtATime.run(async () => {
      this.#requireKind()
      this.#requirePrimary()
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

  /** Makes key and shares, tries them, and puts them in force, or lets them wait for verification. */
  async #make(purpose: Purpose, nonce: string): Promise<Rekeyed> {
    const { world } = this.#parts
    const { shares, threshold, backup } = purpose
    const config = { shares, threshold }
    const key = world.random.bytes(SHARED_KEY_BYTES)
    const made = splitKey(key, config, world.random)
    try {
      requireGoodShares({ shares: made, config, key }, world.random)
      const texts = await shareTexts(made, purpose.encryptors)
      // Encrypting takes a while. If the server was sealed meanwhile, the store may be another one: the permission of
      // the old shares is gone with the attempt.
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

  /** Puts the new key in force. Key and backup change in one transaction, so a backup is always of the key in force. */
  async #take({ key, config, texts, backup, nonce }: Pending): Promise<void> {
    const { seal, announce } = this.#parts
    await seal.replaceSharedKey(key, config, (tx) => {
      // The role may have changed since the request came: encrypting takes a while, and so may other commits.
      this.#requirePrimary()
      this.#putBackup(tx, backup ? texts : undefined, nonce)
    })
    await announce()
  }

  /** Stores the backup, or removes the old one: a backup of shares that are no longer good would mislead. */
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

  /** @throws Refusal if this server has the other kind of key */
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

  /** Forgets the new shares given back so far. The verification waits on, under a new nonce. */
  restartVerification(): Promise<VerifyStatus> {
    return this.#oneAtATime.run(async () => {
      this.#requireKind()
      const running = this.#verification.running
      if (running === undefined) throw fail('not_in_progress', ['no rekey verification in progress'])
      const pending = { ...running.purpose, key: copySecret(running.purpose.key) }
      this.#verification.cancel()
      this.#verification.start(pending)
      return this.verifyStatus()
    })
  }

  /** Takes one new share. True with the last one needed: the new shares are then in force. @throws WrongCombination */
  verify(share: Buffer, nonce: string): Promise<boolean> {
    return this.#oneAtATime.run(async () => {
      this.#requireKind()
      this.#requirePrimary()
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

  /** The backup of the last rekey, if one was asked for. */
  async backup(): Promise<SharesBackup | undefined> {
    const bytes = await this.#view.get(this.#backupName)
    return bytes === undefined ? undefined : SHARES_BACKUP.decode(bytes)
  }

  /** Removes the backup; does nothing if there is none. */
  async deleteBackup(): Promise<void> {
    await this.#view.transaction(async (tx) => tx.delete(this.#backupName))
  }

  /** Drops everything, at seal: no secret of an attempt outlives the open server. */
  forget(): void {
    this.#attempt.cancel()
    this.#verification.cancel()
  }
}
