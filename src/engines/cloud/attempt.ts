// One login on its way through the checks: what was sent, and what the checks before have found out.
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

/** As sent; '' is not sent. */
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

export type AttemptParts = {
  readonly clock: Clock
  readonly deadline: LoginDeadline
  readonly findRole: (name: string) => Promise<CloudRole | undefined>
  /** As configured now. @throws Refusal where something is missing */
  readonly findProvider: () => Promise<Provider>
  /** Before the cloud is asked about the caller. @throws CloudUnavailable where too many wait for that already */
  readonly beginAsking: () => void
}

/** What the token itself says of where its bearer runs. */
export type Identity = {
  readonly oid: string
  readonly tid: string
  readonly clientId: string
  readonly isUser: boolean
  readonly version: TokenVersion
  readonly groups: Groups
}

export class LoginAttempt {
  readonly input: LoginInput
  readonly parts: AttemptParts
  role: CloudRole | undefined
  provider: Provider | undefined
  jwt: Jwt | undefined
  identity: Identity | undefined
  /** Groups of the directory that the caller is known to be in. */
  groups: readonly string[] = []
  /** The caller's resource, by its token; undefined where the token names none. */
  host: ResourceId | undefined
  resource: ResourceRecord | undefined
  /** The member of a scale set that the caller runs on. */
  member: ResourceRecord | undefined
  /** The group that counts for the bound: where the identity was found. */
  effectiveGroup = ''
  isForeignIdentity = false
  /** The identity is the resource's own, so no other resource can have shown the token. */
  isOwnIdentity = false

  /** The record that was looked at last, where it was kept of an earlier look. */
  #keptRecord: ResourceRecord | undefined
  /** To be read anew. */
  #doubted: ResourceRecord | undefined
  #asks = false

  constructor(input: LoginInput, parts: AttemptParts) {
    this.input = input
    this.parts = parts
  }

  /** The cloud is, or was, asked about this caller. */
  get asks(): boolean {
    return this.#asks
  }

  /**
   * Whether the checks of the resource are made once more, since a record refused that was kept: it is read anew then,
   * one of them and once in a login, so that refused logins ask the cloud no more often than they come.
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

  /** What the resource manager says of the resource. @throws as it */
  async recordOf(id: ResourceId): Promise<ResourceRecord> {
    const { resources } = known(this.provider)
    const kept = resources.keptResource(id)
    const isDoubted = kept !== undefined && kept === this.#doubted
    this.#keptRecord = kept
    if (isDoubted) return resources.newerResource(kept, id, this.parts.deadline)
    return resources.resource(id, this.parts.deadline)
  }

  /** @throws CloudUnavailable */
  beginAsking(): void {
    if (this.#asks) return
    this.parts.beginAsking()
    this.#asks = true
  }
}

/** What a check before has found out: without it this one is not run. */
export function known<T>(value: T | undefined): T {
  assert(value !== undefined, 'A check runs before the one that it builds on')
  return value
}

export type CheckOutcome = string | Promise<string>

/** Gives what was found, in words. @throws Refusal, CloudUnavailable */
export type LoginCheck = { readonly name: string; readonly run: (attempt: LoginAttempt) => CheckOutcome }
/** Checks that do not build on each other. */
export type Stage = readonly LoginCheck[]
