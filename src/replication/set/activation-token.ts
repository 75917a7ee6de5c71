// The texts that operators carry from a primary to a secondary, and back. All are ASCII without blanks, below 8 KiB,
// and begin with what they are.
//
//   HEADER.CLAIMS.SIGNATURE                   a wrapping token in JWT form: the primary gives the bundle for it, once
//   keywright-activation-1-BASE64URL          a bundle (activation-bundle.ts), as the primary gives it for that token
//   keywright-sealed-activation-1-BASE64URL   a bundle sealed for one cluster: no call to the primary's API is needed
//   keywright-secondary-key-1-BASE64URL       the key that such a bundle is sealed for: family u8, X25519 key 32
import { readJwt } from '../../crypto/jwt/es512.ts'
import { AuthenticationFailed } from '../../crypto/primitives/aead.ts'
import { hpkeOpen, hpkeSeal, X25519_BYTES, x25519Key } from '../../crypto/primitives/hpke.ts'
import { freshBytes } from '../../crypto/primitives/random-bytes.ts'
import { Base64Error, decodeBase64Url, encodeBase64Url } from '../../lib/base64.ts'
import type { Random } from '../../lib/world.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import {
  type ActivationBundle,
  ActivationRefused,
  decodeActivation,
  encodeActivation,
  MAX_ACTIVATION_BYTES,
  wipeActivation,
} from './activation-bundle.ts'
import { REPLICATION_FAMILIES } from './peer-name.ts'

/** Longest text of each kind: what fits into a variable of a shell script, and into a line of most programs. */
export const MAX_ACTIVATION_CHARACTERS = 8_191

const BUNDLE = 'keywright-activation-'
const SEALED = 'keywright-sealed-activation-'
const KEY = 'keywright-secondary-key-'
const VERSION = '1-'
const DOMAIN = 'keywright activation\0'
const MAX_SEALED_BYTES = MAX_ACTIVATION_BYTES + X25519_BYTES + 16

/** An activation token as `secondary/enable` is given it. */
export type ActivationToken =
  /**
   * To be unwrapped at `address`; '' if the primary does not know where it can be reached. Another address may be given
   * in its place, so it is not judged here (peer-address.ts).
   */
  { readonly kind: 'wrapped'; readonly jwt: string; readonly address: string } | CarriedToken
/** A token that has the bundle in it. */
export type CarriedToken = { readonly kind: 'bundle' | 'sealed'; readonly bytes: Buffer }

/** Reads an activation token; blanks around it are dropped. @throws ActivationRefused saying what was expected */
export function readActivationToken(given: string): ActivationToken {
  if (given.length > MAX_ACTIVATION_CHARACTERS) {
    const message = `An activation token has at most ${MAX_ACTIVATION_CHARACTERS} characters`
    throw new ActivationRefused('form', message)
  }
  const text = given.trim()
  if (text.split('.').length === 3) return readWrapped(text)
  const sealed = contentOf(text, SEALED, MAX_SEALED_BYTES)
  if (sealed !== undefined) return { kind: 'sealed', bytes: sealed }
  const bundle = contentOf(text, BUNDLE, MAX_ACTIVATION_BYTES)
  if (bundle !== undefined) return { kind: 'bundle', bytes: bundle }
  const was = text === '' ? 'The activation token is empty' : 'The text is no activation token'
  const expected = 'it is "wrap_info.token" of "primary/secondary-token", or "token" of its data with a public key'
  throw new ActivationRefused('form', `${was}: ${expected}`)
}

/** Only the primary can check the signature; here the address is read, and whether this is such a token at all. */
function readWrapped(jwt: string): ActivationToken {
  const { type, jti, addr } = readJwt(jwt)?.claims ?? {}
  if (type !== 'wrapping' || typeof jti !== 'string')
    throw new ActivationRefused('form', 'The text has three parts, but is no wrapping token of a primary')
  if (addr !== undefined && typeof addr !== 'string')
    throw new ActivationRefused('form', 'The address in the activation token is no text')
  return { kind: 'wrapped', jwt, address: addr ?? '' }
}

/** The bundle as it is wrapped; the token that unwraps it is as secret as the bundle. */
export function activationText(bundle: ActivationBundle): string {
  const bytes = encodeActivation(bundle)
  try {
    return BUNDLE + VERSION + encodeBase64Url(bytes)
  } finally {
    bytes.fill(0)
  }
}

/** Whether a text begins as a bundle that is not sealed does: what a primary gives for a wrapping token. */
export const isBundleText = (text: string): boolean => text.startsWith(BUNDLE)

/** The text of a key for `family`, from the 32 random bytes of its private half, which the caller keeps and wipes. */
export function secondaryKeyText(family: ReplicationFamily, seed: Buffer): string {
  return KEY + VERSION + encodeBase64Url(Buffer.concat([familyByte(family), x25519Key(seed).publicKey]))
}

/** The bundle sealed for the key in `keyText`. @throws ActivationRefused if that is none, or of the other family */
export function sealActivation(bundle: ActivationBundle, keyText: string, random: Random): string {
  const publicKey = readSecondaryKey(bundle.family, keyText)
  const bytes = encodeActivation(bundle)
  const seed = freshBytes((count) => random.bytes(count), X25519_BYTES)
  try {
    return SEALED + VERSION + encodeBase64Url(hpkeSeal(publicKey, seed, bytes, { info: contextOf(bundle.family) }))
  } catch (cause) {
    if (!(cause instanceof AuthenticationFailed)) throw cause
    throw new ActivationRefused('form', 'The secondary public key is none: nothing can be sealed for it')
  } finally {
    bytes.fill(0)
    seed.fill(0)
  }
}

/** The public key of a text that `secondaryKeyText` made for the family. @throws ActivationRefused */
export function readSecondaryKey(family: ReplicationFamily, keyText: string): Buffer {
  const bytes = contentOf(keyText.trim(), KEY, 1 + X25519_BYTES)
  const found = REPLICATION_FAMILIES[(bytes?.[0] ?? 0) - 1]
  if (bytes?.length !== 1 + X25519_BYTES || found === undefined)
    throw new ActivationRefused('form', 'The secondary public key is none: "secondary/generate-public-key" makes one')
  if (found !== family)
    throw new ActivationRefused('family', `The secondary public key is for ${found} replication, not for ${family}`)
  return Buffer.from(bytes.subarray(1))
}

/** What opens a token that is not wrapped: the family that it is used for, and the key that was made last for it. */
export type Opening = {
  readonly family: ReplicationFamily
  /** The private half of that key; undefined if none was made. */
  readonly seed: Buffer | undefined
}

/**
 * The bundle in a token that is not wrapped; the caller wipes it. A bundle in clear is wiped in the token.
 * @throws ActivationRefused
 */
export function openActivation({ kind, bytes }: CarriedToken, opening: Opening): ActivationBundle {
  const clear = kind === 'bundle' ? bytes : unsealed(bytes, opening)
  try {
    const bundle = decodeActivation(clear)
    if (bundle.family === opening.family) return bundle
    wipeActivation(bundle)
    throw new ActivationRefused('family', `The activation token is for ${bundle.family} replication`)
  } finally {
    clear.fill(0)
  }
}

function unsealed(sealed: Buffer, { family, seed }: Opening): Buffer {
  const message =
    'The activation token was sealed for another key than the last of "secondary/generate-public-key" here'
  if (seed === undefined) throw new ActivationRefused('receiver', message)
  try {
    return hpkeOpen(x25519Key(seed), sealed, { info: contextOf(family) })
  } catch (cause) {
    if (!(cause instanceof AuthenticationFailed)) throw cause
    throw new ActivationRefused('receiver', message)
  }
}

const familyByte = (family: ReplicationFamily): Buffer => Buffer.of(REPLICATION_FAMILIES.indexOf(family) + 1)
const contextOf = (family: ReplicationFamily): Buffer => Buffer.from(DOMAIN + family)

/** The bytes of a text of this kind, in their one encoding; undefined for a text of another kind. */
function contentOf(text: string, prefix: string, maxBytes: number): Buffer | undefined {
  if (!text.startsWith(prefix)) return undefined
  const [version = ''] = /^[1-9]\d{0,4}-/.exec(text.slice(prefix.length)) ?? []
  if (version !== VERSION && version !== '')
    throw new ActivationRefused('version', 'The text was made by a newer version of the program')
  const content = text.slice(prefix.length + version.length)
  const damaged = new ActivationRefused('damaged', 'The text was changed or cut: copy it whole, without line breaks')
  if (version === '' || content === '' || content.length > Math.ceil((maxBytes * 4) / 3)) throw damaged
  try {
    const bytes = decodeBase64Url(content)
    if (encodeBase64Url(bytes) !== content) throw damaged
    return bytes
  } catch (cause) {
    throw cause instanceof Base64Error ? damaged : cause
  }
}
