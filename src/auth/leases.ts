// Leases: the names by which operators list and revoke tokens they do not hold. A lease id is the path of the request
// that made the token, then `h` and the token's storage id. Only tokens have leases here.
import { fail } from '../api/errors.ts'
import type { MountEntry } from '../api/mount.ts'
import type { Answer } from '../api/request.ts'
import type { Timers } from '../lib/world.ts'
import { remainingSeconds, type TokenEntry } from './token-entry.ts'
import type { TokenExpiry } from './token-expiry.ts'
import { LEASE_FOLDER, leaseIdOf, tokenOfLeaf, tokenOfLease } from './token-keys.ts'
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

type MountPaths = Pick<MountEntry, 'path' | 'uuid' | 'formerPaths'>

/** A lease whose removal failed repeatedly, and the last cause. */
export type StuckLease = { readonly leaseId: string; readonly cause: string }

/** The operations of `sys/leases/`. An operator's rights are checked before; nothing here asks who calls. */
export class Leases {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Returns the lease as `sys/leases/lookup` shows it. @throws Refusal if there is no such lease. */
  async lookup(leaseId: string): Promise<Record<string, unknown>> {
    const found = await this.#live(leaseId)
    if (found === undefined) throw fail('no_such_entry', ['invalid lease'])
    const { entry } = found
    const iso = (ms: number) => new Date(ms).toISOString()
    return {
      id: leaseId,
      path: entry.path,
      issue_time: iso(entry.createdAtMs),
      expire_time: 'atMs' in entry.expiry ? iso(entry.expiry.atMs) : null,
      last_renewal: entry.lastRenewalAtMs === null ? null : iso(entry.lastRenewalAtMs),
      renewable: entry.renewable,
      ttl: remainingSeconds(entry, this.#parts.nowMs()),
    }
  }

  async #live(leaseId: string): Promise<LiveToken | undefined> {
    const id = tokenOfLease(leaseId)
    const found = id === undefined ? undefined : await this.#parts.tokens.findById(id)
    return found !== undefined && leaseIdOf(found.id, found.entry) === leaseId ? found : undefined
  }

  /**
   * Returns the names of the direct children of a path; a folder ends in '/'. A `limit` of 0 means all. Expired leases
   * are left out, and folders that hold nothing else: they may still be stored, since removal only tidies up.
   */
  async list(prefix: string, after: string, limit: number): Promise<string[]> {
    const found: string[] = []
    const below = LEASE_FOLDER + folder(prefix)
    for (let last = after; ; ) {
      const names = await this.#parts.tokens.view.list(below, { after: last, limit: LIST_PAGE })
      for (const name of names) {
        if (await (name.endsWith('/') ? this.#hasLive(below + name) : this.#isLive(name))) found.push(name)
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
  async renew(leaseId: string, incrementSeconds: number): Promise<Answer> {
    const found = await this.#live(leaseId)
    if (found === undefined) throw fail('no_such_entry', ['lease not found'])
    const answer = await this.#parts.renewal.renewById(found.id, incrementSeconds)
    const { lease_duration: durationSeconds, renewable } = answer.auth ?? { lease_duration: 0, renewable: false }
    return { ...answer, lease: { id: leaseId, renewable, durationSeconds } }
  }

  /** Revokes the token and all its descendants; an unknown lease is no error. */
  async revoke(leaseId: string): Promise<void> {
    const id = tokenOfLease(leaseId)
    const entry = id === undefined ? undefined : await this.#parts.tokens.entryOf(id)
    if (id === undefined || entry === undefined || leaseIdOf(id, entry) !== leaseId) return
    await this.#parts.tokens.revoke(id)
  }

  /** Revokes all leases below a path, and the lease of exactly this name if there is one. */
  async revokePrefix(prefix: string): Promise<void> {
    await this.revoke(prefix)
    await this.#revokeBelow(prefix, () => true)
  }

  /**
   * Revokes all tokens that a mount gave, when it is removed: those of its logins, at former paths too, and those that
   * wrap its answers. Tokens of another mount that once had one of the paths stay. Logins of a removed mount are
   * refused as soon as it leaves the table; this only removes what is stored.
   */
  async revokeByMount({ path, uuid, formerPaths = [] }: MountPaths): Promise<void> {
    await this.#revokeBelow(path, ({ login }) => login === null || login.mountUuid === uuid)
    for (const former of formerPaths) await this.#revokeBelow(former, ({ login }) => login?.mountUuid === uuid)
  }

  async #revokeBelow(prefix: string, isMeant: (entry: TokenEntry) => boolean): Promise<void> {
    const { tokens } = this.#parts
    for await (const page of leavesBelow(tokens.view, LEASE_FOLDER + folder(prefix))) {
      const ids: string[] = []
      for (const key of page) {
        const id = tokenOfLeaf(key.slice(key.lastIndexOf('/') + 1))
        const entry = id === undefined ? undefined : await tokens.entryOf(id)
        if (id !== undefined && entry !== undefined && isMeant(entry)) ids.push(id)
      }
      await tokens.removal.removeAll(ids)
    }
  }

  /** Returns the leases that should have ended and whose removal failed several times. */
  async stuck(): Promise<StuckLease[]> {
    const found: StuckLease[] = []
    for (const [id, { cause }] of this.#parts.expiry.stuck()) {
      const entry = await this.#parts.tokens.entryOf(id)
      const leaseId = entry === undefined ? undefined : leaseIdOf(id, entry)
      if (leaseId !== undefined) found.push({ leaseId, cause })
    }
    return found
  }

  /** Starts the clean-up of stale entries. Returns false if one is already under way. */
  startTidy(): boolean {
    return this.#parts.tidy.start()
  }
}

const folder = (prefix: string): string => (prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`)
