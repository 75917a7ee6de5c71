// Leases: the names under which tokens are listed and taken back by those who do not hold them. A lease's name is the
// path of the request that made the token, and its storage name behind an 'h'. Only tokens have leases here.
import { fail } from '../api/errors.ts'
import type { MountEntry } from '../api/mount.ts'
import type { Answer } from '../api/request.ts'
import type { Timers } from '../lib/world.ts'
import { remainingSeconds, type TokenEntry } from './token-entry.ts'
import type { TokenExpiry } from './token-expiry.ts'
import { LEASE_FOLDER, leaseIdOf, parseLeaseId, tokenOfLeaf } from './token-keys.ts'
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

const LIST_PAGE = 500

type MountPlaces = Pick<MountEntry, 'path' | 'uuid' | 'formerPaths'>

/** A removal that does not come to its end. */
export type StuckLease = { readonly leaseId: string; readonly cause: string }

export class Leases {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** As look-up shows it. @throws Refusal where there is no such lease */
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
    const named = parseLeaseId(leaseId)
    const found = named === undefined ? undefined : await this.#parts.tokens.findById(named.id)
    return found !== undefined && leaseIdOf(found.id, found.entry) === leaseId ? found : undefined
  }

  /**
   * Names of the direct children of a path; a folder ends in '/'. `limit` 0: all. What has ended is not named, nor a
   * folder of nothing else: it may still be stored, since its removal is only tidying up.
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
      // There may be a million: others have their turn.
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

  /** Like the renewal of the token, whose text the answer does not hold. @throws Refusal */
  async renew(leaseId: string, incrementSeconds: number): Promise<Answer> {
    const found = await this.#live(leaseId)
    if (found === undefined) throw fail('no_such_entry', ['lease not found'])
    const answer = await this.#parts.renewal.renewById(found.id, incrementSeconds)
    const { lease_duration: durationSeconds, renewable } = answer.auth ?? { lease_duration: 0, renewable: false }
    return { ...answer, lease: { id: leaseId, renewable, durationSeconds } }
  }

  /** Ends the token and all that descend from it; a lease that is not there is no error. */
  async revoke(leaseId: string): Promise<void> {
    const named = parseLeaseId(leaseId)
    const entry = named === undefined ? undefined : await this.#parts.tokens.entryOf(named.id)
    if (named === undefined || entry === undefined || leaseIdOf(named.id, entry) !== leaseId) return
    await this.#parts.tokens.revoke(named.id)
  }

  /** The same for all leases below a path, and for the one with this very name. */
  async revokePrefix(prefix: string): Promise<void> {
    await this.revoke(prefix)
    await this.#revokeBelow(prefix, () => true)
  }

  /**
   * Ends all tokens that a mount gave, when it is removed: those of its logins, at paths it had before too, and those
   * that wrap its answers. Those of another mount that had one of the paths stay. Once the mount is out of the table no
   * token of its logins is accepted; this removes them.
   */
  async revokeByMount({ path, uuid, formerPaths = [] }: MountPlaces): Promise<void> {
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

  /** Leases that should have ended and could not be removed several times. */
  async stuck(): Promise<StuckLease[]> {
    const found: StuckLease[] = []
    for (const [id, { cause }] of this.#parts.expiry.stuck()) {
      const entry = await this.#parts.tokens.entryOf(id)
      const leaseId = entry === undefined ? undefined : leaseIdOf(id, entry)
      if (leaseId !== undefined) found.push({ leaseId, cause })
    }
    return found
  }

  /** Whether it was not under way already. */
  startTidy(): boolean {
    return this.#parts.tidy.start()
  }
}

const folder = (prefix: string): string => (prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`)
