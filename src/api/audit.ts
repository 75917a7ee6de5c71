// Audit devices as the endpoints under `sys/` see them.
import type { Sight } from './node-role.ts'

/** An audit device as `sys/audit` shows it. */
export type ShownDevice = {
  /** Ends in '/'. */
  readonly path: string
  readonly type: string
  readonly description: string
  readonly options: Readonly<Record<string, string>>
  /** True if the device is left out of replication. */
  readonly local: boolean
}

/** A device to be enabled. */
export type NewDevice = ShownDevice

/** The end of one chain of an audit log, by which a verifier knows whether lines were cut off. */
export type ShownStream = {
  readonly stream: string
  /** Path of the device. */
  readonly device: string
  /** Number of the last line that was stored, from 0. */
  readonly seq: number
  /** Link digest of that line: SHA-256 in base64url. */
  readonly hash: string
  /** True once the chain takes no further line. */
  readonly ended: boolean
}

/** The audit of one thread, for the endpoints that configure it. */
export interface AuditDevices {
  /** The devices that are enabled, in order of their paths. */
  list(): readonly ShownDevice[]
  /**
   * Enables a device; it has stored a line when this resolves.
   * @throws Refusal if it cannot be used, or the path is taken
   */
  enable(device: NewDevice): Promise<void>
  /**
   * Disables a device; does nothing if there is none for this sight. @throws Refusal if the configuration file declares
   * it
   */
  disable(path: string, sight: Sight): Promise<void>
  /** Returns the text as the device writes it. @throws Refusal if there is no such device */
  hash(path: string, text: string): string
  /** The request headers that are recorded, by names in lower case, and whether as HMAC. */
  headers(): ReadonlyMap<string, { readonly hmac: boolean }>
  /** Sets how a header is recorded; `undefined` ends its recording. */
  setHeader(name: string, setting: { readonly hmac: boolean } | undefined): Promise<void>
  /** The public key that verifies chains: 32 bytes in base64, '' on a cluster that has not made its key yet. */
  publicKey(): string
  /** The chains that this process writes, and its chains that ended last. */
  streams(): readonly ShownStream[]
}
