// The roles of one mount, and their secret ids. Texts of secret ids are not stored, only their digests.
//
//   role/NAME                          the role; NAME in lower case
//   role-id/DIGEST                     NAME of the role that has the role id
//   secret/NAME/DIGEST                 a secret id of the role
//   accessor/NAME/DIGEST               digest of the secret id that has the accessor
//   salt                               key of the digests, different in each mount
import type { KeyObject } from 'node:crypto'
import { fail } from '../../api/errors.ts'
import { TOKEN_SETTINGS } from '../../api/login.ts'
import { importSecret } from '../../crypto/primitives/secret-key.ts'
import { keyedDigest } from '../../crypto/token-digest.ts'
import { asciiLowerCase } from '../../lib/ascii.ts'
import { CoherentCache } from '../../lib/coherent-cache.ts'
import { count, flag, optional, text, texts } from '../../lib/member-kinds.ts'
import type { World } from '../../lib/world.ts'
import type { View, ViewTransaction } from '../../storage/sealed-storage.ts'
import { type RecordOf, storedRecord } from '../../storage/stored-record.ts'
import { decodeSecretId, encodeSecretId, isOver, type SecretId } from './secret-id.ts'

/** Case does not count in names: a role is stored and found by the name in lower case. */
export const keptAppRoleName = asciiLowerCase

/** The stored form of a role: what a login must show, and the settings of its tokens. */
export const APPROLE_ROLE = storedRecord('A role of AppRole', {
  roleId: text,
  /** True if a login needs a secret id. */
  bindSecretId: flag,
  secretIdBoundCidrs: texts,
  secretIdNumUses: count,
  secretIdTtlSeconds: count,
  /** Characters that a caller's own secret id must have; absent: SECRET_ID_MIN_CHARACTERS. */
  customSecretIdMinCharacters: optional(count),
  settings: TOKEN_SETTINGS,
  oldNames: texts,
})
/** A role of AppRole; its name is only in the key of its entry. */
export type AppRole = RecordOf<typeof APPROLE_ROLE>

/**
 * Characters that a caller's own secret id must have if the role sets no minimum. A shorter one made of digits could be
 * guessed within days, at ten logins a second.
 */
export const SECRET_ID_MIN_CHARACTERS = 8

const ROLES = 'role/'
const SECRET_FOLDERS = ['secret/', 'accessor/'] as const
const SALT = 'salt'
const SALT_BYTES = 32
/** Characters of a role's name; it becomes part of storage keys. */
const MAX_NAME_CHARACTERS = 256
/** Keys read or removed in one transaction. */
const PAGE = 500

/** The store of roles and secret ids. Nothing is cached but the key of the digests. */
export class AppRoles {
  readonly #storage: View
  readonly #world: World
  readonly #salt = new CoherentCache<KeyObject>(1)

  constructor(storage: View, world: World) {
    this.#storage = storage
    this.#world = world
  }

  /** Forgets the key of the digests if its entry changed; `path` is relative to the mount. */
  changed(path: string): void {
    if (path === SALT) this.reset()
  }

  /** Forgets the key of the digests. */
  reset(): void {
    this.#salt.clear()
  }

  /** Returns the role by its name in any spelling, or undefined. */
  async find(name: string): Promise<AppRole | undefined> {
    if (name.length > MAX_NAME_CHARACTERS) return undefined
    return decodeRole(await this.#storage.get(ROLES + keptAppRoleName(name)))
  }

  /** Returns the names of all roles, in lower case and sorted. */
  list(): Promise<string[]> {
    return this.#storage.list(ROLES)
  }

  /**
   * Stores what `change` makes of the present role; if it throws, nothing changes.
   * @throws Refusal if the role id belongs to another role.
   */
  async change(name: string, change: (role: AppRole | undefined) => AppRole): Promise<void> {
    if (name.length > MAX_NAME_CHARACTERS)
      throw fail('out_of_range', ['role_name', `must have at most ${MAX_NAME_CHARACTERS} characters`])
    const salt = await this.#digestKey()
    const key = keptAppRoleName(name)
    // An interrupted removal leaves secret ids. They are removed first, or they would open a new role of the same name.
    while (!(await this.#tryChange(salt, key, change))) await this.#wipeSecrets(key)
  }

  /** Returns false, and changes nothing, if the role is new and an old one of its name has left secret ids. */
  #tryChange(salt: KeyObject, key: string, change: (role: AppRole | undefined) => AppRole): Promise<boolean> {
    return this.#storage.transaction(async (tx) => {
      const before = decodeRole(await tx.get(ROLES + key))
      const role = change(before)
      if (before === undefined && (await hasSecrets(tx, key))) return false
      const index = `role-id/${keyedDigest(salt, role.roleId)}`
      const owner = (await tx.get(index))?.toString()
      if (owner !== undefined && owner !== key) throw fail('field_invalid', ['role_id', 'is another role’s'])
      if (before !== undefined && before.roleId !== role.roleId)
        tx.delete(`role-id/${keyedDigest(salt, before.roleId)}`)
      tx.put(index, Buffer.from(key))
      tx.put(ROLES + key, APPROLE_ROLE.encode(role))
      return true
    })
  }

  /** Deletes the role with all its secret ids. Its tokens live until they end, but cannot be renewed. */
  async delete(name: string): Promise<void> {
    if (name.length > MAX_NAME_CHARACTERS) return
    const salt = await this.#digestKey()
    const key = keptAppRoleName(name)
    await this.#storage.transaction(async (tx) => {
      const role = decodeRole(await tx.get(ROLES + key))
      if (role !== undefined) tx.delete(`role-id/${keyedDigest(salt, role.roleId)}`)
      tx.delete(ROLES + key)
    })
    await this.#wipeSecrets(key)
  }

  /**
   * Deletes the secret ids of a role that is gone. Stops if the role was made again meanwhile, whose secret ids must
   * stay.
   */
  async #wipeSecrets(role: string): Promise<void> {
    for (const kind of SECRET_FOLDERS) await this.#wipe(role, `${kind}${role}/`)
  }

  async #wipe(role: string, folder: string): Promise<void> {
    for (let more = true; more; ) {
      more = await this.#storage.transaction(async (tx) => {
        if ((await tx.get(ROLES + role)) !== undefined) return false
        const keys = await tx.keys(folder, '', PAGE)
        for (const key of keys) tx.delete(key)
        return keys.length === PAGE
      })
    }
  }

  /** Returns the role that has this role id, with its name. It writes nothing: whoever logs in may ask. */
  async findByRoleId(roleId: string): Promise<{ readonly name: string; readonly role: AppRole } | undefined> {
    const salt = await this.#knownDigestKey()
    if (salt === undefined) return undefined
    const name = (await this.#storage.get(`role-id/${keyedDigest(salt, roleId)}`))?.toString()
    const role = name === undefined ? undefined : await this.find(name)
    return name === undefined || role === undefined || role.roleId !== roleId ? undefined : { name, role }
  }

  /**
   * Stores a new secret id of a role. An expired one with the same text is replaced.
   * @throws Refusal if the role is gone, or has this secret id already.
   */
  async addSecret(name: string, secretId: string, secret: SecretId): Promise<void> {
    const salt = await this.#digestKey()
    const key = keptAppRoleName(name)
    await this.#storage.transaction(async (tx) => {
      if ((await tx.get(ROLES + key)) === undefined) throw fail('not_found', [])
      const digest = keyedDigest(salt, secretId)
      const bytes = await tx.get(`secret/${key}/${digest}`)
      const before = bytes === undefined ? undefined : decodeSecretId(bytes)
      if (before !== undefined && !isOver(before, this.#world.clock.nowMs()))
        throw fail('already_exists', ['SecretID is already registered'])
      // The accessor of the expired secret id must not lead to the new one.
      if (before !== undefined) removeSecret(tx, key, digest, keyedDigest(salt, before.accessor))
      tx.put(`secret/${key}/${digest}`, encodeSecretId(secret))
      tx.put(`accessor/${key}/${keyedDigest(salt, secret.accessor)}`, Buffer.from(digest))
    })
  }

  /** Returns a secret id by its text or accessor; undefined if there is none or it has expired. It writes nothing. */
  async findSecret(name: string, by: SecretName): Promise<SecretId | undefined> {
    const salt = await this.#knownDigestKey()
    if (salt === undefined) return undefined
    const key = keptAppRoleName(name)
    const digest = await digestOf(this.#storage, key, salt, by)
    const bytes = digest === undefined ? undefined : await this.#storage.get(`secret/${key}/${digest}`)
    const secret = bytes === undefined ? undefined : decodeSecretId(bytes)
    if (secret === undefined || isOver(secret, this.#world.clock.nowMs())) return undefined
    return isNamed(secret, by) ? secret : undefined
  }

  /** Returns the accessors of the role's secret ids, sorted, without expired ones. */
  async accessors(name: string): Promise<string[]> {
    const folder = `secret/${keptAppRoleName(name)}/`
    const found: string[] = []
    for (const digest of await this.#storage.list(folder)) {
      const bytes = await this.#storage.get(folder + digest)
      const secret = bytes === undefined ? undefined : decodeSecretId(bytes)
      if (secret !== undefined && !isOver(secret, this.#world.clock.nowMs())) found.push(secret.accessor)
    }
    return found.sort()
  }

  /**
   * Spends one use of a secret id. Exact under concurrency, since it is read and written in one transaction. `allowed`
   * may throw to refuse, and nothing is spent then. Returns undefined if there is no such secret id, or it has expired.
   */
  async useSecret(name: string, secretId: string, allowed: (secret: SecretId) => void): Promise<SecretId | undefined> {
    const salt = await this.#digestKey()
    return this.#storage.transaction(async (tx) => {
      const digest = keyedDigest(salt, secretId)
      const key = `secret/${name}/${digest}`
      const bytes = await tx.get(key)
      const secret = bytes === undefined ? undefined : decodeSecretId(bytes)
      if (secret === undefined || isOver(secret, this.#world.clock.nowMs())) return undefined
      allowed(secret)
      if (secret.numUses > 0) {
        const used = { ...secret, usesLeft: secret.usesLeft - 1 }
        if (used.usesLeft > 0) tx.put(key, encodeSecretId(used))
        else removeSecret(tx, name, digest, keyedDigest(salt, secret.accessor))
      }
      return secret
    })
  }

  /** Removes a secret id by its text or accessor; an unknown one is no error. */
  async destroySecret(name: string, by: SecretName): Promise<void> {
    if (name.length > MAX_NAME_CHARACTERS) return
    const salt = await this.#digestKey()
    const key = keptAppRoleName(name)
    await this.#storage.transaction(async (tx) => {
      const digest = await digestOf(tx, key, salt, by)
      const bytes = digest === undefined ? undefined : await tx.get(`secret/${key}/${digest}`)
      if (digest === undefined || bytes === undefined) return
      const secret = decodeSecretId(bytes)
      if (isNamed(secret, by)) removeSecret(tx, key, digest, keyedDigest(salt, secret.accessor))
    })
  }

  /** Removes expired secret ids, a page in each transaction. */
  async tidy(): Promise<void> {
    const salt = await this.#digestKey()
    for (const role of await this.#storage.list('secret/')) {
      const name = role.slice(0, -1)
      for (let after = ''; ; ) {
        const page = await this.#storage.list(`secret/${role}`, { after, limit: PAGE })
        await this.#storage.transaction(async (tx) => {
          for (const digest of page) {
            const bytes = await tx.get(`secret/${role}${digest}`)
            const secret = bytes === undefined ? undefined : decodeSecretId(bytes)
            if (secret !== undefined && isOver(secret, this.#world.clock.nowMs()))
              removeSecret(tx, name, digest, keyedDigest(salt, secret.accessor))
          }
        })
        if (page.length < PAGE) break
        after = page.at(-1) as string
      }
    }
  }

  /**
   * Returns the key of the digests. It is made once and stays, since everything is stored under its digests. But a
   * cluster that follows another one, or a restored one, gets that one's in its place.
   */
  async #digestKey(): Promise<KeyObject> {
    return (await this.#knownDigestKey()) ?? this.#makeSalt()
  }

  /** Undefined where there is no role yet. */
  async #knownDigestKey(): Promise<KeyObject | undefined> {
    return this.#salt.get(SALT, () => loadSalt(this.#storage))
  }

  /** Makes the key, or returns the one that another request made first. */
  async #makeSalt(): Promise<KeyObject> {
    const fresh = this.#world.random.bytes(SALT_BYTES)
    try {
      return await this.#storage.transaction(async (tx) => {
        const there = await loadSalt(tx)
        if (there !== undefined) return there
        tx.put(SALT, fresh)
        return importSecret(fresh)
      })
    } finally {
      fresh.fill(0)
    }
  }
}

/** Reads the key of the digests; undefined if it was not made yet. */
async function loadSalt(from: Pick<View, 'get'>): Promise<KeyObject | undefined> {
  const stored = await from.get(SALT)
  if (stored === undefined) return undefined
  const key = importSecret(stored)
  stored.fill(0)
  return key
}

/** Names a secret id by itself or by its accessor. */
export type SecretName = { readonly secretId: string } | { readonly accessor: string }

async function digestOf(
  from: Pick<View, 'get'>,
  role: string,
  salt: KeyObject,
  by: SecretName,
): Promise<string | undefined> {
  if ('secretId' in by) return keyedDigest(salt, by.secretId)
  return (await from.get(`accessor/${role}/${keyedDigest(salt, by.accessor)}`))?.toString()
}

/**
 * Older versions kept the accessor of an expired secret id when the same text was used again. Such an accessor names
 * nothing.
 */
const isNamed = ({ accessor }: SecretId, by: SecretName): boolean => 'secretId' in by || by.accessor === accessor

async function hasSecrets(tx: ViewTransaction, role: string): Promise<boolean> {
  for (const folder of SECRET_FOLDERS) if ((await tx.keys(`${folder}${role}/`, '', 1)).length > 0) return true
  return false
}

function removeSecret(tx: ViewTransaction, role: string, digest: string, accessorDigest: string): void {
  tx.delete(`secret/${role}/${digest}`)
  tx.delete(`accessor/${role}/${accessorDigest}`)
}

function decodeRole(bytes: Buffer | undefined): AppRole | undefined {
  return bytes === undefined ? undefined : APPROLE_ROLE.decode(bytes)
}
