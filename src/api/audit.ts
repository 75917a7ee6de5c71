// Audit devices as the endpoints under sys/ see them.

export type ShownDevice = {
  /** Ends in '/'. */
  readonly path: string
  readonly type: string
  readonly description: string
  readonly options: Readonly<Record<string, string>>
  readonly local: boolean
}

export type NewDevice = ShownDevice

export type ShownStream = {
  readonly stream: string
  readonly device: string
  /** Number of the last line that is stored, from 0. */
  readonly seq: number
  /** Of that line: SHA-256 in base64url. */
  readonly hash: string
  readonly ended: boolean
}

export interface AuditDevices {
  list(): readonly ShownDevice[]
  /** The device has stored a line when it resolves. @throws Refusal where it cannot be used, or the path is taken */
  enable(device: NewDevice): Promise<void>
  /** Nothing happens where there is none. @throws Refusal where the configuration file declares it */
  disable(path: string): Promise<void>
  /** As the device writes the text. @throws Refusal where there is no such device */
  hash(path: string, text: string): string
  /** Which request headers are recorded, by their names in lower case. */
  headers(): ReadonlyMap<string, { readonly hmac: boolean }>
  /** `undefined`: no longer. */
  setHeader(name: string, setting: { readonly hmac: boolean } | undefined): Promise<void>
  /** Empty before the first device was made: 32 bytes in base64. */
  publicKey(): string
  /** The chains that this process writes, and those of it that ended last. */
  streams(): readonly ShownStream[]
}
