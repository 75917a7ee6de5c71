// One login on its way through the checks: what was sent, and what earlier checks have found out.
import { strict as assert } from 'node:assert'
import type { Clock } from '../../lib/world.ts'
import type { Groups } from './claims.ts'
import type { LoginDeadline } from './deadline.ts'
import type { TokenVersion } from './directory.ts'
import type { Jwt } from './jwt.ts'
import type { Provider } from './provider.ts'
import type { ResourceId } from './resource-id.ts'
import type { ResourceRecord } from './resource-record.ts'
import type { CloudRole } from './roles.ts'

/** The fields of a login as they were sent; empty if they were not. */
export type LoginInput = {
  readonly role: string
  readonly jwt: string
  readonly subscription_id: string
  readonly resource_group_name: string
  readonly vm_name: string
  readonly vmss_name: string
  readonly resource_id: string
  readonly remoteAddress: string
}

/** What the checks of a login may use. The mount makes it for each login. */
export type AttemptParts = {
  readonly clock: Clock
  readonly deadline: LoginDeadline
  readonly findRole: (name: string) => Promise<CloudRole | undefined>
  /** Returns the cloud as the mount is configured now. @throws Refusal if a setting is missing. */
  readonly findProvider: () => Promise<Provider>
  /**
   * Called before the cloud is asked about the caller.
   * @throws CloudUnavailable if too many logins wait for that already.
   */
  readonly beginAsking: () => void
}

/** The identity that the token proves, set once its issuer is checked. `oid` and `tid` are in lower case. */
export type Identity = {
  readonly oid: string
  readonly tid: string
  readonly clientId: string
  readonly isUser: boolean
  readonly version: TokenVersion
  readonly groups: Groups
}

/** The state of one login. Checks set members that later checks build on. */
export class LoginAttempt {
  readonly input: LoginInput
  readonly parts: AttemptParts
  role: CloudRole | undefined
  provider: Provider | undefined
  jwt: Jwt | undefined
  identity: Identity | undefined
  /** Groups of the directory that the caller is known to be in. */
  groups: readonly string[] = []
  /** The caller's resource as its token names it; undefined if the token names none. */
  host: ResourceId | undefined
  resource: ResourceRecord | undefined
  /** The member of a scale set that the caller runs on. */
  member: ResourceRecord | undefined
  /** The resource group in which the identity was found; the role's bound is compared with it. */
  effectiveGroup = ''
  /**
   * True if the identity lies in an allowed group but the resource does not show it. Then it does not tell where the
   * caller runs.
   */
  isForeignIdentity = false
  /** True if the identity belongs to the resource alone, so no other resource can have sent the token. */
  isOwnIdentity = false

  /** The last record that was used, if it came from the cache. */
  #keptRecord: ResourceRecord | undefined
  /** A kept record that refused the login and must be read again. */
  #doubted: ResourceRecord | undefined
  #asks = false

  constructor(input: LoginInput, parts: AttemptParts) {
    this.input = input
    this.parts = parts
  }

  /** True if the cloud is or was asked about this caller. */
  get asks(): boolean {
    return this.#asks
  }

  /**
   * Returns true if the checks of the resource must run again, because a kept record refused the login. Then one record
   * is read again, once in a login, so refused logins ask the cloud no more often than they come.
   */
  looksAgain(): boolean {
    if (this.#keptRecord === undefined || this.#doubted !== undefined) return false
    this.#doubted = this.#keptRecord
    this.resource = undefined
    this.member = undefined
    this.effectiveGroup = ''
    this.isForeignIdentity = false
    this.isOwnIdentity = false
    return true
  }

  /** Returns what the resource manager says of the resource, kept or read again. @throws as ResourceManager. */
  async recordOf(id: ResourceId): Promise<ResourceRecord> {
    const { resources } = known(this.provider)
    const kept = resources.keptResource(id)
    const isDoubted = kept !== undefined && kept === this.#doubted
    this.#keptRecord = kept
    if (isDoubted) return resources.newerResource(kept, id, this.parts.deadline)
    return resources.resource(id, this.parts.deadline)
  }

  /** Counts this login among those that ask the cloud, once. @throws CloudUnavailable if there are too many. */
  beginAsking(): void {
    if (this.#asks) return
    this.parts.beginAsking()
    this.#asks = true
  }
}

/** Returns what an earlier check has set. Its absence is a defect in the order of the checks. */
export function known<T>(value: T | undefined): T {
  assert(value !== undefined, 'A check runs before the one that it builds on')
  return value
}

/** What a check found, in words for explain. */
export type CheckOutcome = string | Promise<string>

/**
 * One check of a login, under the name that explain shows. It returns what it found.
 * @throws Refusal, CloudUnavailable if the login fails.
 */
export type LoginCheck = { readonly name: string; readonly run: (attempt: LoginAttempt) => CheckOutcome }
/** Checks that do not build on each other; explain runs all of them, even if one fails. */
export type Stage = readonly LoginCheck[]
