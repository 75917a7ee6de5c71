// Leases: the names by which operators list and revoke tokens they do not hold. A lease id is the path of the request
// that made the token, then `h` and the token's storage id, and outside the root the id of the namespace. Only tokens
// have leases here. Each namespace knows its own alone.
import { fail } from '../api/errors.ts'
import type { MountEntry, MountInNamespace } from '../api/mount.ts'
import type { Page } from '../api/named-things.ts'
import { idEnding } from '../api/namespace.ts'
import type { Answer } from '../api/request.ts'
import type { Timers } from '../lib/world.ts'
import { wipeFolder } from '../storage/wipe-folder.ts'
import { giverOf, isGivenBy, remainingSeconds, type TokenEntry } from './token-entry.ts'
import type { TokenExpiry } from './token-expiry.ts'
import { accessorFolder, ID_FOLDER, leaseFolder, leaseIdOf, tokenOfLeaf, tokenOfLease } from './token-keys.ts'
import type { TokenRenewal } from './token-renewal.ts'
import type { LiveToken, TokenStore } from './token-store.ts'
import type { TokenTidy } from './token-tidy.ts'
import { leavesBelow } from './view-walk.ts'

type Parts = {
  readonly tokens: TokenStore
  readonly renewal: TokenRenewal
  readonly expiry: TokenExpiry
  readonly tidy: TokenTidy
  readonly nowMs: () => number
  readonly timers: Timers
}

/** Names or leaves that are read at once, before other work gets a turn. */
const LIST_PAGE = 500

type MountPaths = Pick<MountEntry, 'namespace' | 'path' | 'uuid' | 'formerPaths'>

/** Returns those of some mounts that are gone; undefined: that cannot be said at present. */
export type GoneMounts = (mounts: readonly MountInNamespace[]) => Promise<readonly MountInNamespace[] | undefined>

/** A mount that gave tokens, and some of these. */
type Giver = { readonly mount: MountInNamespace; readonly ids: string[] }
const nameOf = ({ namespace, uuid }: MountInNamespace): string => `${namespace}/${uuid}`

/** A lease whose removal failed repeatedly, and the last cause. */
export type StuckLease = { readonly leaseId: string; readonly cause: string }

/** The operations of `sys/leases/`. An operator's rights are checked before; nothing here asks who calls. */
export class Leases {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Returns the lease as `sys/leases/lookup` shows it. @throws Refusal if there is no such lease. */
  async lookup(namespaceId: string, leaseId: string): Promise<Record<string, unknown>> {
    const found = await this.#live(namespaceId, leaseId)
    if (found === undefined) throw fail('no_such_entry', ['invalid lease'])
    const { entry } = found
    const namespacePath = this.#parts.tokens.namespaceOf(entry)?.path ?? ''
    const iso = (ms: number) => new Date(ms).toISOString()
    return {
      id: leaseId,
      path: entry.path,
      issue_time: iso(entry.createdAtMs),
      expire_time: 'atMs' in entry.expiry ? iso(entry.expiry.atMs) : null,
      last_renewal: entry.lastRenewalAtMs === null ? null : iso(entry.lastRenewalAtMs),
      ...(namespacePath === '' ? {} : { namespace_path: namespacePath }),
      renewable: entry.renewable,
      ttl: remainingSeconds(entry, this.#parts.nowMs()),
    }
  }

  async #live(namespaceId: string, leaseId: string): Promise<LiveToken | undefined> {
    const id = tokenOfLease(leaseId)
    const found = id === undefined ? undefined : await this.#parts.tokens.findById(id)
    return found !== undefined && isLeaseOf(found.id, found.entry, { namespaceId, leaseId }) ? found : undefined
  }

  /**
   * Returns the names of the direct children of a path; a folder ends in '/'. A `limit` of 0 means all. Expired leases
   * are left out, and folders that hold nothing else: they may still be stored, since removal only tidies up.
   */
  async list(namespaceId: string, prefix: string, { after, limit }: Page): Promise<string[]> {
    const found: string[] = []
    const ending = idEnding(namespaceId)
    const below = leaseFolder(namespaceId) + folder(prefix)
    for (let last = after; ; ) {
      const names = await this.#parts.tokens.view.list(below, { after: last, limit: LIST_PAGE })
      for (const name of names) {
        const isFolder = name.endsWith('/')
        if (await (isFolder ? this.#hasLive(below + name) : this.#isLive(name)))
          found.push(isFolder ? name : name + ending)
        if (limit > 0 && found.length === limit) return found
      }
      if (names.length < LIST_PAGE) return found
      last = names.at(-1) ?? ''
      // There may be a million names: yield, so that other requests run in between.
      await this.#parts.timers.sleep(0)
    }
  }

  async #isLive(leaf: string): Promise<boolean> {
    const id = tokenOfLeaf(leaf)
    return id !== undefined && (await this.#parts.tokens.findById(id)) !== undefined
  }

  async #hasLive(below: string): Promise<boolean> {
    for await (const page of leavesBelow(this.#parts.tokens.view, below)) {
      for (const key of page) if (await this.#isLive(key.slice(key.lastIndexOf('/') + 1))) return true
      await this.#parts.timers.sleep(0)
    }
    return false
  }

  /**
   * Renews the token behind the lease. The answer does not contain the token's text.
   * @throws Refusal if there is no such lease, or if the token cannot be renewed.
   */
  async renew(namespaceId: string, leaseId: string, incrementSeconds: number): Promise<Answer> {
    const found = await this.#live(namespaceId, leaseId)
    if (found === undefined) throw fail('no_such_entry', ['lease not found'])
    const answer = await this.#parts.renewal.renewById(found.id, incrementSeconds)
    const { lease_duration: durationSeconds, renewable } = answer.auth ?? { lease_duration: 0, renewable: false }
    return { ...answer, lease: { id: leaseId, renewable, durationSeconds } }
  }

  /** Revokes the token and all its descendants; an unknown lease is no error. */
  async revoke(namespaceId: string, leaseId: string): Promise<void> {
    const id = tokenOfLease(leaseId)
    const entry = id === undefined ? undefined : await this.#parts.tokens.entryOf(id)
    if (id === undefined || entry === undefined || !isLeaseOf(id, entry, { namespaceId, leaseId })) return
    await this.#parts.tokens.revoke(id)
  }

  /** Revokes all leases of the namespace below a path, and the lease of exactly this name if there is one. */
  async revokePrefix(namespaceId: string, prefix: string): Promise<void> {
    await this.revoke(namespaceId, prefix)
    await this.#revokeBelow(leaseFolder(namespaceId) + folder(prefix), () => true)
  }

  /**
   * Revokes all tokens that a mount gave, when it is removed: those of its logins and those that wrap its answers, at
   * former paths too. Tokens of another mount that once had one of the paths stay. Logins of a removed mount are
   * refused as soon as it leaves the table; this only removes what is stored.
   */
  async revokeByMount({ namespace, path, uuid, formerPaths = [] }: MountPaths): Promise<void> {
    const all = leaseFolder(namespace)
    const ofThis = (entry: TokenEntry): boolean | undefined => isGivenBy((giver) => giver === uuid, entry)
    await this.#revokeBelow(all + path, (entry) => ofThis(entry) ?? true)
    for (const former of formerPaths) await this.#revokeBelow(all + former, (entry) => ofThis(entry) ?? false)
  }

  /**
   * Removes all tokens of a namespace that is being deleted, with what belongs to them; wrapping tokens are among them,
   * and descendants in other namespaces fall too. Goes by accessors, which every stored token has, and takes each out
   * with its token: called again after an interruption, it goes on with what is left.
   */
  async revokeAll(namespaceId: string): Promise<void> {
    const { tokens, timers } = this.#parts
    const { view } = tokens
    const accessors = accessorFolder(namespaceId)
    for (let more = true; more; ) {
      const names = await view.list(accessors, { limit: LIST_PAGE })
      const ids = await Promise.all(names.map((name) => view.get(accessors + name)))
      await tokens.removal.removeAll(ids.flatMap((id) => (id === undefined ? [] : [id.toString('latin1')])))
      await view.transaction(async (tx) => {
        // Without a token it would stay.
        for (const name of names) tx.delete(accessors + name)
      })
      more = names.length === LIST_PAGE
      await timers.sleep(0)
    }
    await wipeFolder(view, leaseFolder(namespaceId))
  }

  /**
   * Removes all tokens that are meant, with what belongs to them. It goes through all that are stored, in steps between
   * which requests run.
   */
  async revokeAllOf(isMeant: (entry: TokenEntry) => boolean): Promise<void> {
    const { tokens, timers } = this.#parts
    for await (const page of leavesBelow(tokens.view, ID_FOLDER)) {
      const ids: string[] = []
      for (const key of page) {
        const id = key.slice(ID_FOLDER.length)
        const entry = await tokens.entryOf(id)
        if (entry !== undefined && isMeant(entry)) ids.push(id)
      }
      await tokens.removal.removeAll(ids)
      await timers.sleep(0)
    }
  }

  /**
   * Removes all tokens that mounts gave which are gone from the namespace of the token, in steps between which requests
   * run. `goneOf` is asked about the mounts of some tokens at a time, after these were read: a mount is there before it
   * gives one. False: it answered undefined, which ends this.
   */
  async revokeOfGone(goneOf: GoneMounts): Promise<boolean> {
    const { tokens, timers } = this.#parts
    for await (const page of leavesBelow(tokens.view, ID_FOLDER)) {
      const givers = await this.#giversOf(page)
      const gone = givers.size === 0 ? [] : await goneOf([...givers.values()].map(({ mount }) => mount))
      if (gone === undefined) return false
      await tokens.removal.removeAll(gone.flatMap((mount) => givers.get(nameOf(mount))?.ids ?? []))
      await timers.sleep(0)
    }
    return true
  }

  /** The mounts that gave some tokens, and the ids of these. */
  async #giversOf(keys: readonly string[]): Promise<ReadonlyMap<string, Giver>> {
    const givers = new Map<string, Giver>()
    for (const key of keys) {
      const id = key.slice(ID_FOLDER.length)
      const entry = await this.#parts.tokens.entryOf(id)
      const uuid = entry && giverOf(entry)
      if (entry === undefined || uuid === undefined) continue
      const mount = { namespace: entry.namespace, uuid }
      const known = givers.get(nameOf(mount))
      if (known === undefined) givers.set(nameOf(mount), { mount, ids: [id] })
      else known.ids.push(id)
    }
    return givers
  }

  /** `below` is a whole folder of leases. */
  async #revokeBelow(below: string, isMeant: (entry: TokenEntry) => boolean): Promise<void> {
    const { tokens } = this.#parts
    for await (const page of leavesBelow(tokens.view, below)) {
      const ids: string[] = []
      for (const key of page) {
        const id = tokenOfLeaf(key.slice(key.lastIndexOf('/') + 1))
        const entry = id === undefined ? undefined : await tokens.entryOf(id)
        if (id !== undefined && entry !== undefined && isMeant(entry)) ids.push(id)
      }
      await tokens.removal.removeAll(ids)
    }
  }

  /** Returns the leases of the namespace that should have ended and whose removal failed several times. */
  async stuck(namespaceId: string): Promise<StuckLease[]> {
    const found: StuckLease[] = []
    for (const [id, { cause }] of this.#parts.expiry.stuck()) {
      const entry = await this.#parts.tokens.entryOf(id)
      const leaseId = entry?.namespace === namespaceId ? leaseIdOf(id, entry) : undefined
      if (leaseId !== undefined) found.push({ leaseId, cause })
    }
    return found
  }

  /** Starts the clean-up of stale entries. Returns false if one is already under way. */
  startTidy(): boolean {
    return this.#parts.tidy.start()
  }
}

/** True if the id is that of the token's lease, and the token is of the namespace. */
const isLeaseOf = (
  id: string,
  entry: TokenEntry,
  { namespaceId, leaseId }: { readonly namespaceId: string; readonly leaseId: string },
): boolean => entry.namespace === namespaceId && leaseIdOf(id, entry) === leaseId

const folder = (prefix: string): string => (prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`)
