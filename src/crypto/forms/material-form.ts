// How keys of a type are written where others read them: in the blob of an import, in an export, in a backup. Inside
// the service there is one form, the one that a key type generates and loads; each family of types has one file that
// says how it is written elsewhere.
import type { KeyObject } from 'node:crypto'

/** 'usual': what clients get that ask for none. */
export const EXPORT_FORMATS = ['usual', 'raw', 'der', 'pem'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

export type MaterialForm = {
  /**
   * Material from what an import blob holds; the caller wipes both.
   * @throws InvalidKeyMaterial
   */
  readonly fromImport: (bytes: Buffer) => Buffer
  /** What has to be looked at once more, and takes long: two numbers that should be primes. */
  readonly primesOf?: (material: Buffer) => readonly [bigint, bigint]
  /**
   * Of a private or secret key, as export writes it; undefined where it is not written in this format. It is a text,
   * which nothing wipes.
   */
  readonly secretText: (key: KeyObject, format: ExportFormat) => string | undefined
  /** The same of a public half, where there is one. */
  readonly publicText?: (key: KeyObject, format: ExportFormat) => string | undefined
  /** The members of a backup that hold the key, of a private or secret key or a public half. */
  readonly toBackup: (key: KeyObject) => BackupParts
  /**
   * Material, or SubjectPublicKeyInfo where `isPublic`; the caller wipes both.
   * @throws InvalidKeyMaterial saying which member is wrong
   */
  readonly fromBackup: (parts: BackupParts) => FromBackup
}

export type FromBackup = { readonly material: Buffer; readonly isPublic: boolean }

/** The point of a key on a curve, and the private number where it is there. */
export type EcParts = { readonly x: bigint; readonly y: bigint; readonly d?: bigint }

export type RsaPublicParts = { readonly n: bigint; readonly e: bigint }
export type RsaParts = RsaPublicParts & { readonly d: bigint; readonly p: bigint; readonly q: bigint }

/** What a version of a backup can hold, whichever its type needs. Buffers are for the caller to wipe. */
export type BackupParts = {
  readonly key?: Buffer
  readonly ec?: EcParts
  readonly rsa?: RsaParts
  readonly rsaPublic?: RsaPublicParts
  /** The public half as reads show it; empty where there is none. */
  readonly publicText: string
}
