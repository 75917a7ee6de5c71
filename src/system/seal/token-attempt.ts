// A token for holders of shares: a root token, or an operation token of disaster recovery (Interface 3.3). With enough
// shares it is made, and leaves the server encrypted: under a one-time password that only the starter has, or to an
// OpenPGP key. So no giver of a share gets the token, unless it is the starter.

import { fail } from '../../api/errors.ts'
import { secretBytes } from '../../crypto/primitives/secret-bytes.ts'
import { randomBase62 } from '../../lib/base62.ts'
import { OneAtATime } from '../../lib/one-at-a-time.ts'
import type { World } from '../../lib/world.ts'
import { WrongCombination } from './attempt-limits.ts'
import type { Seal } from './seal.ts'
import { type AttemptWords, ShareAttempt } from './share-attempt.ts'

/** Encrypts a text to an OpenPGP key. */
export type TextEncryptor = { readonly fingerprint: string; readonly encrypt: (text: string) => Promise<Buffer> }
/** Reads an OpenPGP public key from the text of `field`. @throws Refusal if the key cannot be used */
export type ReadPgpKey = (field: string, armoured: string) => Promise<TextEncryptor>

/** Texts of the refusals; `aborted`: the shares do not give the key. */
export type TokenAttemptWords = AttemptWords & { readonly aborted: string }

/** Words of root generation. */
export const ROOT_TOKEN_WORDS: TokenAttemptWords = {
  alreadyRunning: 'root generation already in progress',
  notRunning: 'no root generation in progress',
  wrongNonce: (nonce: string) =>
    `incorrect nonce supplied; nonce for this root generation operation is ${JSON.stringify(nonce)}`,
  aborted: 'root generation aborted: the shares do not give the key',
}

/** Words of operation tokens. The nonce is not told: whoever may give shares was given it with the attempt. */
export const OPERATION_TOKEN_WORDS: TokenAttemptWords = {
  alreadyRunning: 'operation token generation already in progress',
  notRunning: 'no operation token generation in progress',
  wrongNonce: () => 'incorrect nonce supplied: read the nonce of this operation token generation with the attempt',
  aborted: 'operation token generation aborted: the shares do not give the key of the primary',
}

/** Parts that the assembly hands in. */
export type TokenAttemptParts = {
  readonly seal: Seal
  readonly world: World
  readonly readPgpKey: ReadPgpKey
  readonly words: TokenAttemptWords
  readonly tokenLength: number
  /** Returns a new random token, which is good for nothing until it is stored. */
  readonly newToken: () => string
  /** Stores the token as what the attempt makes. */
  readonly store: (token: string) => Promise<void>
}

/** The receiver of the token: the starter, who has the one-time password, or the holder of an OpenPGP key. */
type Receiver = { readonly otp: Buffer } | { readonly pgp: TextEncryptor }

/** How far the attempt is. Absent texts are empty, because answers have all keys always. */
export type TokenAttemptStatus = {
  readonly nonce: string
  readonly started: boolean
  readonly progress: number
  readonly required: number
  readonly complete: boolean
  readonly encodedToken: string
  readonly pgpFingerprint: string
  /** The password that was made here; only in the answer to `start` (threats S-09). */
  readonly otp: string
  readonly otpLength: number
}

/** The one attempt that may be under way. Methods run one after the other, in the order of the calls. */
export class TokenAttempt {
  readonly #parts: TokenAttemptParts
  readonly #attempt: ShareAttempt<Receiver>
  readonly #oneAtATime = new OneAtATime()

  constructor(parts: TokenAttemptParts) {
    this.#parts = parts
    this.#attempt = new ShareAttempt<Receiver>(parts.world, parts.words, (receiver) => {
      if ('otp' in receiver) receiver.otp.fill(0)
    })
  }

  /** @throws Refusal before the initialisation */
  status(): TokenAttemptStatus {
    const { running } = this.#attempt
    return {
      nonce: running?.nonce ?? '',
      started: running !== undefined,
      progress: running?.progress ?? 0,
      required: this.#parts.seal.shareConfig.threshold,
      complete: false,
      encodedToken: '',
      pgpFingerprint: running !== undefined && 'pgp' in running.purpose ? running.purpose.pgp.fingerprint : '',
      otp: '',
      otpLength: this.#parts.tokenLength,
    }
  }

  /**
   * Starts an attempt. With neither a password nor a key, a password is made here and told this once (threats S-09).
   * @throws Refusal while one is under way, or naming the field that is wrong
   */
  start(otp: string, pgpKey: string): Promise<TokenAttemptStatus> {
    return this.#oneAtATime.run(async () => {
      if (otp !== '' && pgpKey !== '') throw fail('fields_conflict', ['Give otp or pgp_key, not both'])
      if (pgpKey !== '') {
        this.#attempt.start({ pgp: await this.#parts.readPgpKey('pgp_key', pgpKey) })
        return this.status()
      }
      const { tokenLength, world } = this.#parts
      const made = otp === '' ? randomBase62(tokenLength, world.random.bytes) : ''
      const bytes = secretBytes(tokenLength)
      const given = otp === '' ? made : otp
      if (given.length !== tokenLength || Buffer.byteLength(given) !== tokenLength)
        throw fail('out_of_range', ['OTP string has incorrect length']) // Wire text.
      bytes.write(given, 'latin1')
      this.#attempt.start({ otp: bytes })
      return { ...this.status(), otp: made }
    })
  }

  /** Drops the attempt, if any. @throws Refusal if `nonce` is given and names another one */
  cancel(nonce = ''): Promise<void> {
    return this.#oneAtATime.run(async () => this.#attempt.cancel(nonce))
  }

  /** Takes one share; with the last one needed it makes the token. @throws WrongCombination, Refusal */
  give(share: Buffer, nonce: string): Promise<TokenAttemptStatus> {
    return this.#oneAtATime.run(async () => {
      const { words, seal } = this.#parts
      const { threshold } = seal.shareConfig
      const given = this.#attempt.give(share, nonce, threshold)
      if (given === undefined) return this.status()
      if (!(await seal.accepts(given))) throw new WrongCombination(fail('key_share_wrong', [words.aborted]))
      const receiver = this.#attempt.running?.purpose
      if (receiver === undefined) throw fail('not_in_progress', [words.notRunning])
      const before = this.status()
      const token = this.#parts.newToken()
      // The token is encrypted before it is stored. A seal in between wipes the password, and a token that no one can
      // read must not stay in the store.
      const encodedToken = await encoded(token, receiver)
      await this.#parts.store(token)
      this.#attempt.cancel()
      return { ...before, progress: threshold, complete: true, encodedToken, otpLength: 0 }
    })
  }

  /** Drops the attempt, at seal. */
  forget(): void {
    this.#attempt.cancel()
  }
}

/** Base64 of token XOR password, without padding, or of the OpenPGP message, with padding: what clients decode. */
async function encoded(token: string, receiver: Receiver): Promise<string> {
  if ('pgp' in receiver) return (await receiver.pgp.encrypt(token)).toString('base64')
  const { otp } = receiver
  const bytes = secretBytes(otp.length)
  bytes.write(token, 'latin1')
  for (let at = 0; at < bytes.length; at++) bytes.writeUInt8(bytes.readUInt8(at) ^ otp.readUInt8(at), at)
  return bytes.toString('base64url').replaceAll('-', '+').replaceAll('_', '/')
}
