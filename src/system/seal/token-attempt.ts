// A token for those who hold shares: with enough of them one is made, and it leaves the server encrypted, under a
// one-time password that only the starter has, or to an OpenPGP key. For root tokens; DR operation tokens are made the
// same way (Interface 3.3).

import { fail } from '../../api/errors.ts'
import { secretBytes } from '../../crypto/primitives/secret-bytes.ts'
import { randomBase62 } from '../../lib/base62.ts'
import { OneAtATime } from '../../lib/one-at-a-time.ts'
import type { World } from '../../lib/world.ts'
import { WrongCombination } from './attempt-limits.ts'
import type { Seal } from './seal.ts'
import { ShareAttempt } from './share-attempt.ts'

/** Encrypts a text to an OpenPGP key. */
export type TextEncryptor = { readonly fingerprint: string; readonly encrypt: (text: string) => Promise<Buffer> }
/** @throws Refusal where the text is no key that can be used */
export type ReadPgpKey = (field: string, armoured: string) => Promise<TextEncryptor>

export type TokenAttemptParts = {
  readonly seal: Seal
  readonly world: World
  readonly readPgpKey: ReadPgpKey
  readonly tokenLength: number
  /** Made up; good for nothing before it is stored. */
  readonly newToken: () => string
  readonly store: (token: string) => Promise<void>
}

/** Where the encrypted token goes. */
type Receiver = { readonly otp: Buffer } | { readonly pgp: TextEncryptor }

export type TokenAttemptStatus = {
  readonly nonce: string
  readonly started: boolean
  readonly progress: number
  readonly required: number
  readonly complete: boolean
  readonly encodedToken: string
  readonly pgpFingerprint: string
  /** Only in the answer to the one who started. */
  readonly otp: string
  readonly otpLength: number
}

export class TokenAttempt {
  readonly #parts: TokenAttemptParts
  readonly #attempt: ShareAttempt<Receiver>
  readonly #turns = new OneAtATime()

  constructor(parts: TokenAttemptParts) {
    this.#parts = parts
    const words = {
      alreadyRunning: 'root generation already in progress',
      notRunning: 'no root generation in progress',
      wrongNonce: (nonce: string) =>
        `incorrect nonce supplied; nonce for this root generation operation is ${JSON.stringify(nonce)}`,
    }
    this.#attempt = new ShareAttempt<Receiver>(parts.world, words, (receiver) => {
      if ('otp' in receiver) receiver.otp.fill(0)
    })
  }

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

  /** With neither, a one-time password is made here and told this once (threats S-09). */
  start(otp: string, pgpKey: string): Promise<TokenAttemptStatus> {
    return this.#turns.run(async () => {
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

  cancel(): Promise<void> {
    return this.#turns.run(async () => this.#attempt.cancel())
  }

  /** Takes one share; with the last one that is needed the token is made. */
  give(share: Buffer, nonce: string): Promise<TokenAttemptStatus> {
    return this.#turns.run(async () => {
      const { threshold } = this.#parts.seal.shareConfig
      const given = this.#attempt.give(share, nonce, threshold)
      if (given === undefined) return this.status()
      if (!(await this.#parts.seal.accepts(given)))
        throw new WrongCombination(fail('key_share_wrong', ['root generation aborted: the shares do not give the key']))
      const receiver = this.#attempt.running?.purpose
      if (receiver === undefined) throw fail('not_in_progress', ['no root generation in progress'])
      const before = this.status()
      const token = this.#parts.newToken()
      // First: a seal in between wipes the password, and a token that nobody can read must not be stored.
      const encodedToken = await encoded(token, receiver)
      await this.#parts.store(token)
      this.#attempt.cancel()
      return { ...before, progress: threshold, complete: true, encodedToken, otpLength: 0 }
    })
  }

  /** At seal. */
  forget(): void {
    this.#attempt.cancel()
  }
}

/** Base64: of token XOR password without its padding, or of the OpenPGP message with it. */
async function encoded(token: string, receiver: Receiver): Promise<string> {
  if ('pgp' in receiver) return (await receiver.pgp.encrypt(token)).toString('base64')
  const { otp } = receiver
  const bytes = secretBytes(otp.length)
  bytes.write(token, 'latin1')
  for (let at = 0; at < bytes.length; at++) bytes.writeUInt8(bytes.readUInt8(at) ^ otp.readUInt8(at), at)
  return bytes.toString('base64url').replaceAll('-', '+').replaceAll('_', '/')
}
