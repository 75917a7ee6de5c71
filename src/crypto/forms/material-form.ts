// How keys of a type are written where others read them: in the blob of an import, in an export, in a backup (Interface
// 4.2). Inside the service there is one form, which a key type generates and loads. Each family of types has one file
// that says how its keys are written elsewhere.
import type { KeyObject } from 'node:crypto'

/** Formats of exports. 'usual' is the one for clients that ask for none. */
export const EXPORT_FORMATS = ['usual', 'raw', 'der', 'pem'] as const
/** A format by its name here; the wire has '' for 'usual'. */
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** The forms of the keys of one type outside the service. */
export type MaterialForm = {
  /**
   * Material from the content of an import blob; the caller wipes both.
   * @throws InvalidKeyMaterial
   */
  readonly fromImport: (bytes: Buffer) => Buffer
  /** Two numbers that must be primes, for a check that takes long: the importer runs it on the pool. */
  readonly primesOf?: (material: Buffer) => readonly [bigint, bigint]
  /**
   * A private or secret key as an export writes it; undefined if the type is not written in this format. It is a
   * string, which cannot be wiped.
   */
  readonly secretText: (key: KeyObject, format: ExportFormat) => string | undefined
  /** The public half as an export writes it, for types that have one. */
  readonly publicText?: (key: KeyObject, format: ExportFormat) => string | undefined
  /** The members of a backup that hold the key. `key` is a private or secret key, or a public half. */
  readonly toBackup: (key: KeyObject) => BackupParts
  /**
   * Reads those members; the caller wipes input and result.
   * @throws InvalidKeyMaterial that names the wrong member
   */
  readonly fromBackup: (parts: BackupParts) => FromBackup
}

/** A key from a backup. `material` is SubjectPublicKeyInfo if `isPublic`. */
export type FromBackup = { readonly material: Buffer; readonly isPublic: boolean }

/** The point of a key on a curve, and the private number if it is known. */
export type EcParts = { readonly x: bigint; readonly y: bigint; readonly d?: bigint }

/** Modulus and public exponent (RFC 8017 section 3.1). */
export type RsaPublicParts = { readonly n: bigint; readonly e: bigint }
/** Private exponent and the two primes with them (RFC 8017 section 3.2). */
export type RsaParts = RsaPublicParts & { readonly d: bigint; readonly p: bigint; readonly q: bigint }

/** Members of a version in a backup. Each type uses its own. Buffers are the caller's to wipe. */
export type BackupParts = {
  readonly key?: Buffer
  readonly ec?: EcParts
  readonly rsa?: RsaParts
  readonly rsaPublic?: RsaPublicParts
  /** The public half as reads show it; empty if there is none. */
  readonly publicText: string
}
