// The configuration of one mount: which directory, which audience, and the credential that asks the cloud. One stored
// entry, `config`, so that a change of the credential is one commit.
import {
  count,
  flag,
  type GroupOf,
  group,
  integer,
  listOf,
  nullable,
  oneOf,
  optional,
  orUndefined,
  otherwise,
  text,
  upgraded,
  type ValueOf,
} from '../../lib/member-kinds.ts'
import type { View, ViewTransaction } from '../../storage/sealed-storage.ts'
import { type RecordOf, storedRecord } from '../../storage/stored-record.ts'

/** Of which application a secret is. Entries of earlier versions do not say it: then it is that of the mount. */
const OWNER = { clientId: optional(text), tenant: optional(text) }
export type Owner = GroupOf<typeof OWNER>

const CLIENT_SECRET = {
  ...OWNER,
  value: text,
  /** What an operator wrote may be shown to those who may see it; what the service made is known to it alone. */
  writtenBy: oneOf('operator', 'service'),
  /** In the directory; '' of one that an operator wrote. */
  keyId: text,
  expiresAtMs: nullable(integer()),
}
export type ClientSecret = GroupOf<typeof CLIENT_SECRET>

/** A credential of the application that this mount made, or that it found there. */
const NAMED_CREDENTIAL = { keyId: text, name: text }
export type NamedCredential = GroupOf<typeof NAMED_CREDENTIAL>

/** One of ours that is to go. */
const LEFTOVER = group({
  ...NAMED_CREDENTIAL,
  ...OWNER,
  /** When it was asked for: the directory may show it later. Missing: long ago. */
  sinceMs: optional(count),
})
export type Leftover = ValueOf<typeof LEFTOVER>

/** Where a change of the credential has come to. Whatever is here is finished, also after a crash. */
const ROTATION = group({
  /**
   * Name under which a secret is being asked for: one of that name may be there that nobody knows. Earlier versions
   * stored the name alone.
   */
  asked: optional(upgraded(LEFTOVER, text, (name): Leftover => ({ keyId: '', name }))),
  /** Waits until the directory takes it; then it is the current one. */
  pending: optional(group({ ...CLIENT_SECRET, since: count })),
  /** Ours, to be removed from the directory. */
  over: listOf(LEFTOVER),
  /** Written by an operator, and left in the directory. */
  left: listOf(group(NAMED_CREDENTIAL)),
  lastAtMs: nullable(count),
})
export type RotationState = ValueOf<typeof ROTATION>

export const NO_ROTATION: RotationState = { over: [], left: [], lastAtMs: null }

export const DEFAULT_SECRET_SECONDS = 4_380 * 3_600

const EMPTY = otherwise(text, '')
const FALSE = otherwise(flag, false)

/** Each member with what it is in a new configuration, and in those of versions that did not have it. */
export const CLOUD_CONFIG = storedRecord('A cloud configuration', {
  tenantId: EMPTY,
  resource: EMPTY,
  environment: EMPTY,
  clientId: EMPTY,
  secret: orUndefined(group(CLIENT_SECRET)),
  /** 0: 4380 h. */
  rootPasswordTtlSeconds: otherwise(count, DEFAULT_SECRET_SECONDS),
  /** Further attempts; 0: three, negative: none. */
  maxRetries: otherwise(integer(), 3),
  /** 0: 800 ms, negative: none. */
  retryDelaySeconds: otherwise(integer(), 4),
  /** 0: 60 s, negative: without a bound. */
  maxRetryDelaySeconds: otherwise(integer(), 60),
  requireResourceFields: otherwise(flag, true),
  acceptV2Tokens: FALSE,
  checkGroupOverage: FALSE,
  /** Seconds between changes of the credential by the service; 0: none. */
  rotationPeriodSeconds: otherwise(count, 0),
  /** Minute, hour, day, month, weekday; '': none. */
  rotationSchedule: EMPTY,
  rotationWindowSeconds: otherwise(count, 0),
  disableAutomatedRotation: FALSE,
  /** When an operator wrote what the period counts from where no change was made yet; null: not known. */
  periodFromMs: otherwise(nullable(count), null),
  /** Of the writes by operators: what is kept of the cloud is of one of them. */
  generation: otherwise(count, 0),
  /** As an operator wrote it; '': the first credential that is configured (credential.ts). */
  authType: EMPTY,
  /** Of tokens that this server signs for the cloud; '': it signs none. */
  identityTokenAudience: EMPTY,
  /** 0: 3600. */
  identityTokenTtlSeconds: otherwise(count, 0),
  rotation: otherwise(ROTATION, NO_ROTATION),
})
export type CloudConfig = RecordOf<typeof CLOUD_CONFIG>

export const NEW_CONFIG: CloudConfig = CLOUD_CONFIG.kind.read({})

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
      tx.put(KEY, CLOUD_CONFIG.encode(now))
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
  try {
    return bytes && CLOUD_CONFIG.decode(bytes)
  } finally {
    bytes?.fill(0)
  }
}
