// The configuration of one mount: directory, audience, and the credential that asks the cloud. It is one stored entry,
// `config`, so that a change of the credential is one commit.
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

/**
 * The application that a secret belongs to. Entries of earlier versions do not have it; then it is that of the mount.
 */
const OWNER = { clientId: optional(text), tenant: optional(text) }
/** The application and tenant that a secret is for; without them it is for those of the mount. */
export type Owner = GroupOf<typeof OWNER>

const CLIENT_SECRET = {
  ...OWNER,
  value: text,
  /**
   * A secret that an operator wrote may be shown to callers with the right. One that the service made is shown to no
   * caller, only to the identity provider.
   */
  writtenBy: oneOf('operator', 'service'),
  /** Its id in the directory; empty if an operator wrote it. */
  keyId: text,
  expiresAtMs: nullable(integer()),
}
/** The secret that this server shows to the cloud. */
export type ClientSecret = GroupOf<typeof CLIENT_SECRET>

/** A credential of the application that this mount made or found there. */
const NAMED_CREDENTIAL = { keyId: text, name: text }
/** A credential in the directory, without its secret. */
export type NamedCredential = GroupOf<typeof NAMED_CREDENTIAL>

/** A credential of this mount that is to be removed from the directory. */
const LEFTOVER = group({
  ...NAMED_CREDENTIAL,
  ...OWNER,
  /** When it was asked for: the directory may list it only later. Absent: long ago. */
  sinceMs: optional(count),
})
/** A credential to remove. It may have no id yet, when only its name is known. */
export type Leftover = ValueOf<typeof LEFTOVER>

/**
 * The progress of a change of the credential. Whatever is noted here is finished, also after a crash (threats F-06).
 */
const ROTATION = group({
  /**
   * Set before a secret is asked for, with the name it will have: if the answer is lost, a secret of that name may
   * exist. Earlier versions stored the name alone.
   */
  asked: optional(upgraded(LEFTOVER, text, (name): Leftover => ({ keyId: '', name }))),
  /** The new secret, until the directory accepts it; then it becomes the current one. */
  pending: optional(group({ ...CLIENT_SECRET, since: count })),
  /** Credentials of this mount, to be removed from the directory. */
  over: listOf(LEFTOVER),
  /** Credentials that this mount did not make; they stay in the directory, and reads warn of them. */
  left: listOf(group(NAMED_CREDENTIAL)),
  lastAtMs: nullable(count),
})
/** Where a change of the credential stands, and which credentials wait for removal. */
export type RotationState = ValueOf<typeof ROTATION>

/** No change was ever begun. */
export const NO_ROTATION: RotationState = { over: [], left: [], lastAtMs: null }

/** Lifetime of a new secret if the mount sets none: 4,380 hours, half a year. */
export const DEFAULT_SECRET_SECONDS = 4_380 * 3_600

const EMPTY = otherwise(text, '')
const FALSE = otherwise(flag, false)

/**
 * The stored configuration. Each member defaults to its value in a new configuration, also in entries of versions that
 * did not have it.
 */
export const CLOUD_CONFIG = storedRecord('A cloud configuration', {
  tenantId: EMPTY,
  resource: EMPTY,
  environment: EMPTY,
  clientId: EMPTY,
  secret: orUndefined(group(CLIENT_SECRET)),
  /** Seconds; 0: 4380 h. */
  rootPasswordTtlSeconds: otherwise(count, DEFAULT_SECRET_SECONDS),
  /** Further attempts; 0: three, negative: none. */
  maxRetries: otherwise(integer(), 3),
  /** 0: 800 ms, negative: none. */
  retryDelaySeconds: otherwise(integer(), 4),
  /** 0: 60 s, negative: unbounded. */
  maxRetryDelaySeconds: otherwise(integer(), 60),
  requireResourceFields: otherwise(flag, true),
  acceptV2Tokens: FALSE,
  checkGroupOverage: FALSE,
  /** Seconds between changes of the credential by the service; 0: none. */
  rotationPeriodSeconds: otherwise(count, 0),
  /** Minute, hour, day, month, weekday; empty: none. */
  rotationSchedule: EMPTY,
  rotationWindowSeconds: otherwise(count, 0),
  disableAutomatedRotation: FALSE,
  /** When the period began that counts until the first change; null: not known. */
  periodFromMs: otherwise(nullable(count), null),
  /** Counts the writes by operators. Kept answers of the cloud belong to one generation. */
  generation: otherwise(count, 0),
  /** The text that an operator wrote; empty: the first credential that is configured (credential.ts). */
  authType: EMPTY,
  /** Audience of tokens that this server signs for the cloud; empty: it signs none. */
  identityTokenAudience: EMPTY,
  /** Seconds; 0: 3600. */
  identityTokenTtlSeconds: otherwise(count, 0),
  rotation: otherwise(ROTATION, NO_ROTATION),
})
/** The configuration of a mount. Empty texts mean that the environment may set the value. */
export type CloudConfig = RecordOf<typeof CLOUD_CONFIG>

/** The configuration before its first write. */
export const NEW_CONFIG: CloudConfig = CLOUD_CONFIG.kind.read({})

/** Returns the secret as a credential that is to be removed. */
export const leftoverOf = ({ keyId, clientId, tenant }: ClientSecret, sinceMs?: number): Leftover => ({
  keyId,
  name: '',
  ...(clientId === undefined ? {} : { clientId }),
  ...(tenant === undefined ? {} : { tenant }),
  ...(sinceMs === undefined ? {} : { sinceMs }),
})

/** Returns all credentials that this mount made, or may have made, and does not use. */
export const leftoversOf = ({ over, asked }: RotationState): readonly Leftover[] =>
  asked === undefined ? over : [...over, asked]

const KEY = 'config'

/** The store of the configuration. Decoded bytes are wiped, since they hold the secret. */
export class ConfigStore {
  readonly #storage: View

  constructor(storage: View) {
    this.#storage = storage
  }

  /** Returns the configuration; undefined if there is none. */
  async find(): Promise<CloudConfig | undefined> {
    return decode(await this.#storage.get(KEY))
  }

  /**
   * Stores what `change` makes of the configuration; undefined leaves it as it is, and so does an error. Returns it
   * before and after.
   */
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

  /** Deletes the configuration and returns it, so that the caller can warn of what stays in the directory. */
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
