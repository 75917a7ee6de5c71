// The configuration of one mount: which directory, which audience, and the credential that asks the cloud. One stored
// entry, `config`, so that a change of the credential is one commit.
import { isJsonObject, parseStoredJson } from '../../lib/json.ts'
import type { View, ViewTransaction } from '../../storage/sealed-storage.ts'

/** Of which application a secret is. Entries of earlier versions do not say it: then it is that of the mount. */
export type Owner = { readonly clientId?: string; readonly tenant?: string }

export type ClientSecret = Owner & {
  readonly value: string
  /** What an operator wrote may be shown to those who may see it; what the service made is known to it alone. */
  readonly writtenBy: 'operator' | 'service'
  /** In the directory; '' of one that an operator wrote. */
  readonly keyId: string
  readonly expiresAtMs: number | null
}

/** A credential of the application that this mount made, or that it found there. */
export type NamedCredential = { readonly keyId: string; readonly name: string }

/** One of ours that is to go. */
export type Leftover = NamedCredential &
  Owner & {
    /** When it was asked for: the directory may show it later. Missing: long ago. */
    readonly sinceMs?: number
  }

/** Where a change of the credential has come to. Whatever is here is finished, also after a crash. */
export type RotationState = {
  /** Name under which a secret is being asked for: one of that name may be there that nobody knows. */
  readonly asked?: Leftover
  /** Waits until the directory takes it; then it is the current one. */
  readonly pending?: ClientSecret & { readonly since: number }
  /** Ours, to be removed from the directory. */
  readonly over: readonly Leftover[]
  /** Written by an operator, and left in the directory. */
  readonly left: readonly NamedCredential[]
  readonly lastAtMs: number | null
}

export type CloudConfig = {
  readonly tenantId: string
  readonly resource: string
  readonly environment: string
  readonly clientId: string
  readonly secret: ClientSecret | undefined
  /** 0: 4380 h. */
  readonly rootPasswordTtlSeconds: number
  /** Further attempts; 0: three, negative: none. */
  readonly maxRetries: number
  /** 0: 800 ms, negative: none. */
  readonly retryDelaySeconds: number
  /** 0: 60 s, negative: without a bound. */
  readonly maxRetryDelaySeconds: number
  readonly requireResourceFields: boolean
  readonly acceptV2Tokens: boolean
  readonly checkGroupOverage: boolean
  /** Seconds between changes of the credential by the service; 0: none. */
  readonly rotationPeriodSeconds: number
  /** Minute, hour, day, month, weekday; '': none. */
  readonly rotationSchedule: string
  readonly rotationWindowSeconds: number
  readonly disableAutomatedRotation: boolean
  /** When an operator wrote what the period counts from where no change was made yet; null: not known. */
  readonly periodFromMs: number | null
  /** Of the writes by operators: what is kept of the cloud is of one of them. */
  readonly generation: number
  /** As an operator wrote it; '': the first credential that is configured (credential.ts). */
  readonly authType: string
  /** Of tokens that this server signs for the cloud; '': it signs none. */
  readonly identityTokenAudience: string
  /** 0: 3600. */
  readonly identityTokenTtlSeconds: number
  readonly rotation: RotationState
}

export const NO_ROTATION: RotationState = { over: [], left: [], lastAtMs: null }

export const DEFAULT_SECRET_SECONDS = 4_380 * 3_600

export const NEW_CONFIG: CloudConfig = {
  tenantId: '',
  resource: '',
  environment: '',
  clientId: '',
  secret: undefined,
  rootPasswordTtlSeconds: DEFAULT_SECRET_SECONDS,
  maxRetries: 3,
  retryDelaySeconds: 4,
  maxRetryDelaySeconds: 60,
  requireResourceFields: true,
  acceptV2Tokens: false,
  checkGroupOverage: false,
  rotationPeriodSeconds: 0,
  rotationSchedule: '',
  rotationWindowSeconds: 0,
  disableAutomatedRotation: false,
  periodFromMs: null,
  generation: 0,
  authType: '',
  identityTokenAudience: '',
  identityTokenTtlSeconds: 0,
  rotation: NO_ROTATION,
}

/** The secret as one that is to go. */
export const leftoverOf = ({ keyId, clientId, tenant }: ClientSecret, sinceMs?: number): Leftover => ({
  keyId,
  name: '',
  ...(clientId === undefined ? {} : { clientId }),
  ...(tenant === undefined ? {} : { tenant }),
  ...(sinceMs === undefined ? {} : { sinceMs }),
})

/** All that this mount made and does not use, or may have made. */
export const leftoversOf = ({ over, asked }: RotationState): readonly Leftover[] =>
  asked === undefined ? over : [...over, asked]

const KEY = 'config'

export class ConfigStore {
  readonly #storage: View

  constructor(storage: View) {
    this.#storage = storage
  }

  /** Undefined where nothing was configured, or it was deleted. */
  async find(): Promise<CloudConfig | undefined> {
    return decode(await this.#storage.get(KEY))
  }

  /** `change` gets it as it is, and gives undefined to leave it so; what it throws leaves everything as it was. */
  change(
    change: (config: CloudConfig | undefined) => CloudConfig | undefined,
  ): Promise<{ readonly before: CloudConfig | undefined; readonly now: CloudConfig | undefined }> {
    return this.#storage.transaction(async (tx: ViewTransaction) => {
      const before = decode(await tx.get(KEY))
      const now = change(before)
      if (now === undefined) return { before, now: before }
      tx.put(KEY, Buffer.from(JSON.stringify({ format: 1, ...now })))
      return { before, now }
    })
  }

  async delete(): Promise<CloudConfig | undefined> {
    return this.#storage.transaction(async (tx) => {
      const before = decode(await tx.get(KEY))
      tx.delete(KEY)
      return before
    })
  }
}

function decode(bytes: Buffer | undefined): CloudConfig | undefined {
  if (bytes === undefined) return undefined
  const value = parseStoredJson(bytes)
  bytes.fill(0)
  if (!isJsonObject(value) || value.format !== 1) throw new Error('A cloud configuration has an unknown format')
  const { format: _format, ...config } = value
  const { rotation, ...found } = { ...NEW_CONFIG, ...(config as unknown as CloudConfig) }
  return { ...found, rotation: withOwnAsked(rotation) }
}

/** Earlier versions stored the name alone. */
function withOwnAsked({ asked, ...rotation }: RotationState): RotationState {
  if (asked === undefined) return rotation
  return { ...rotation, asked: typeof asked === 'string' ? { keyId: '', name: asked } : asked }
}
