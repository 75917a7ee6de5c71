// The roles of one mount, and their secret ids.
//
//   role/NAME                          the role; NAME in lower case
//   role-id/DIGEST                     NAME of the role that has the role id
//   secret/NAME/DIGEST                 a secret id of the role
//   accessor/NAME/DIGEST               digest of the secret id that has the accessor
//   salt                               key of the digests, of this mount alone
import type { KeyObject } from 'node:crypto'
import { fail } from '../../api/errors.ts'
import { TOKEN_SETTINGS } from '../../api/login.ts'
import { importSecret } from '../../crypto/primitives/secret-key.ts'
import { keyedDigest } from '../../crypto/token-digest.ts'
import { asciiLowerCase } from '../../lib/ascii.ts'
import { count, flag, optional, text, texts } from '../../lib/member-kinds.ts'
import type { World } from '../../lib/world.ts'
import type { View, ViewTransaction } from '../../storage/sealed-storage.ts'
import { type RecordOf, storedRecord } from '../../storage/stored-record.ts'
import { decodeSecretId, encodeSecretId, isOver, type SecretId } from './secret-id.ts'

/** The one spelling of a role's name. */
export const keptAppRoleName = asciiLowerCase

export const APPROLE_ROLE = storedRecord('A role of AppRole', {
  roleId: text,
  /** Whether a login needs a secret id. */
  bindSecretId: flag,
  secretIdBoundCidrs: texts,
  secretIdNumUses: count,
  secretIdTtlSeconds: count,
  /** Of secret ids that a caller brings; absent: SECRET_ID_MIN_CHARACTERS. */
  customSecretIdMinCharacters: optional(count),
  settings: TOKEN_SETTINGS,
  oldNames: texts,
})
export type AppRole = RecordOf<typeof APPROLE_ROLE>

/** Guessing a shorter one is a matter of days, at ten logins a second, if it is made of digits. */
export const SECRET_ID_MIN_CHARACTERS = 8

const ROLES = 'role/'
const SECRET_FOLDERS = ['secret/', 'accessor/'] as const
const SALT = 'salt'
const SALT_BYTES = 32
const MAX_NAME_CHARACTERS = 256
const PAGE = 500

export class AppRoles {
  readonly #storage: View
  readonly #world: World
  #salt: KeyObject | undefined

  constructor(storage: View, world: World) {
    this.#storage = storage
    this.#world = world
  }

  /** What was read of the mount is forgotten: the server is being sealed. */
  reset(): void {
    this.#salt = undefined
  }

  async find(name: string): Promise<AppRole | undefined> {
    if (name.length > MAX_NAME_CHARACTERS) return undefined
    return decodeRole(await this.#storage.get(ROLES + keptAppRoleName(name)))
  }

  list(): Promise<string[]> {
    return this.#storage.list(ROLES)
  }

  /** `change` gets the role as it is; what it throws leaves everything as it was. */
  async change(name: string, change: (role: AppRole | undefined) => AppRole): Promise<void> {
    if (name.length > MAX_NAME_CHARACTERS)
      throw fail('out_of_range', ['role_name', `must have at most ${MAX_NAME_CHARACTERS} characters`])
    const salt = await this.#digestKey()
    const key = keptAppRoleName(name)
    // A removal that was interrupted leaves secret ids, which must not open a new role of the name.
    while (!(await this.#tryChange(salt, key, change))) await this.#wipeSecrets(key)
  }

  /** False, and nothing changed, where the role is new and an old one of its name has left secret ids. */
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

  /** Removes the role with all its secret ids; its tokens live on until they end, but are not renewed. */
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

  /** Those of a role that is not there; of one that was made anew meanwhile nothing is taken. */
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

  async findByRoleId(roleId: string): Promise<{ readonly name: string; readonly role: AppRole } | undefined> {
    const name = (await this.#storage.get(`role-id/${keyedDigest(await this.#digestKey(), roleId)}`))?.toString()
    const role = name === undefined ? undefined : await this.find(name)
    return name === undefined || role === undefined || role.roleId !== roleId ? undefined : { name, role }
  }

  /** @throws Refusal where the role has that secret id already */
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
      // Its accessor must not name the new one.
      if (before !== undefined) removeSecret(tx, key, digest, keyedDigest(salt, before.accessor))
      tx.put(`secret/${key}/${digest}`, encodeSecretId(secret))
      tx.put(`accessor/${key}/${keyedDigest(salt, secret.accessor)}`, Buffer.from(digest))
    })
  }

  async findSecret(name: string, by: SecretName): Promise<SecretId | undefined> {
    const salt = await this.#digestKey()
    const key = keptAppRoleName(name)
    const digest = await digestOf(this.#storage, key, salt, by)
    const bytes = digest === undefined ? undefined : await this.#storage.get(`secret/${key}/${digest}`)
    const secret = bytes === undefined ? undefined : decodeSecretId(bytes)
    if (secret === undefined || isOver(secret, this.#world.clock.nowMs())) return undefined
    return isNamed(secret, by) ? secret : undefined
  }

  /** Accessors of the role's secret ids, those that are over left out. */
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

  /** Takes one login from a secret id, exactly, however many ask at once; undefined where it is not there or over. */
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

  /** One that is not there is no error. */
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

  /** Removes secret ids that are over, a page of each role at a time. */
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

  /** Made with the first role; the same for ever, so that what was stored under it is found. */
  async #digestKey(): Promise<KeyObject> {
    if (this.#salt !== undefined) return this.#salt
    const stored = (await this.#storage.get(SALT)) ?? (await this.#makeSalt())
    this.#salt = importSecret(stored)
    stored.fill(0)
    return this.#salt
  }

  #makeSalt(): Promise<Buffer> {
    const fresh = this.#world.random.bytes(SALT_BYTES)
    return this.#storage.transaction(async (tx) => {
      const there = await tx.get(SALT)
      if (there !== undefined) return there
      tx.put(SALT, fresh)
      return fresh
    })
  }
}

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

/** Older versions left the accessor of one that was over, where the same text became a secret id again. */
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
