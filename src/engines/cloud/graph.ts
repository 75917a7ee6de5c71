// The graph API of the directory: the application that this server is, its secrets, and the members of groups.
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import type { AccessTokens } from './access-tokens.ts'
import type { Cloud } from './clouds.ts'
import type { LoginDeadline } from './deadline.ts'
import { hasName, isGuid } from './names.ts'
import { CloudRefusal, CloudUnavailable } from './refusals.ts'
import type { CloudCall, Upstream } from './upstream.ts'

/** An application of the directory, by its object id. */
export type Application = { readonly objectId: string; readonly credentials: readonly DirectoryCredential[] }
/** A secret of an application, as the directory shows it: never its value. */
export type DirectoryCredential = {
  readonly keyId: string
  readonly name: string
  /** The first characters of the secret, by which an operator's own is recognised. */
  readonly hint: string
}
/** A secret that the directory made; `value` is shown this once. */
export type NewSecret = { readonly keyId: string; readonly value: string; readonly endMs: number }

const SERVICE = 'directory'
/** Groups in one question; the API takes no more. */
const MOST_GROUPS = 20

/** The calls to the graph that logins and changes of the credential need. */
export class Graph {
  readonly #upstream: Upstream
  readonly #tokens: AccessTokens
  readonly #cloud: Cloud

  constructor(upstream: Upstream, tokens: AccessTokens, cloud: Cloud) {
    this.#upstream = upstream
    this.#tokens = tokens
    this.#cloud = cloud
  }

  /** Returns the applications with the client id: one, if all is well. @throws CloudRefusal, CloudUnavailable */
  async applications(clientId: string, deadline: LoginDeadline): Promise<readonly Application[]> {
    const filter = new URLSearchParams({ $filter: `appId eq '${clientId.replaceAll("'", "''")}'` })
    const { value } = await this.#call('GET', `/v1.0/applications?${filter}`, undefined, deadline)
    if (!Array.isArray(value)) throw unexpected('a list of applications')
    return value.map((each) => {
      if (!isJsonObject(each) || typeof each.id !== 'string' || !isGuid(each.id)) throw unexpected('an application')
      const credentials = Array.isArray(each.passwordCredentials) ? each.passwordCredentials : []
      return { objectId: each.id, credentials: credentials.flatMap(readCredential) }
    })
  }

  /** Makes a secret. @throws CloudRefusal, CloudUnavailable: after the latter it may exist nevertheless. */
  async addSecret(objectId: string, name: string, endMs: number, deadline: LoginDeadline): Promise<NewSecret> {
    const passwordCredential = { displayName: name, endDateTime: new Date(endMs).toISOString() }
    const answer = await this.#call(
      'POST',
      `/v1.0/applications/${objectId}/addPassword`,
      { passwordCredential },
      deadline,
    )
    const { secretText, keyId, endDateTime } = answer
    const isSecret = typeof secretText === 'string' && secretText !== '' && secretText.length <= 256
    if (!isSecret || typeof keyId !== 'string' || !isGuid(keyId)) throw unexpected('a new secret')
    const givenMs = typeof endDateTime === 'string' ? Date.parse(endDateTime) : Number.NaN
    return { keyId, value: secretText, endMs: Number.isNaN(givenMs) ? endMs : givenMs }
  }

  /** Removes a secret; an unknown one is no error. @throws CloudRefusal, CloudUnavailable */
  async removeSecret(objectId: string, keyId: string, deadline: LoginDeadline): Promise<void> {
    try {
      await this.#call('POST', `/v1.0/applications/${objectId}/removePassword`, { keyId }, deadline)
    } catch (cause) {
      if (!(cause instanceof CloudRefusal) || ![400, 404].includes(cause.status)) throw cause
    }
  }

  /**
   * Returns those of `groups` that the principal is in, directly or through others.
   * @throws CloudRefusal, CloudUnavailable
   */
  async groupsOf(
    principal: { readonly id: string; readonly isUser: boolean },
    groups: readonly string[],
    deadline: LoginDeadline,
  ): Promise<readonly string[]> {
    const kind = principal.isUser ? 'users' : 'servicePrincipals'
    const path = `/v1.0/${kind}/${encodeURIComponent(principal.id)}/checkMemberGroups`
    const found: string[] = []
    for (let at = 0; at < groups.length; at += MOST_GROUPS) {
      const groupIds = groups.slice(at, at + MOST_GROUPS)
      const { value } = await this.#call('POST', path, { groupIds }, deadline)
      if (!Array.isArray(value)) throw unexpected('a list of groups')
      // Groups that were not asked about are ignored.
      found.push(...value.filter((each): each is string => typeof each === 'string' && hasName(groupIds, each)))
    }
    return found
  }

  /** Calls the graph. A token that it does not accept is replaced, once. */
  async #call(
    method: CloudCall['method'],
    path: string,
    body: JsonObject | undefined,
    deadline: LoginDeadline,
    isSecond = false,
  ): Promise<JsonObject> {
    const token = await this.#tokens.get(this.#cloud.graph, deadline)
    const sent = body === undefined ? {} : { body: { type: 'application/json', text: JSON.stringify(body) } }
    const headers = { Authorization: `Bearer ${token}` }
    const url = this.#cloud.graph + path
    try {
      return await this.#upstream.call(
        { service: SERVICE, method, url, headers, ...sent, onlyOnce: path.endsWith('/addPassword') },
        deadline,
      )
    } catch (cause) {
      if (!(cause instanceof CloudRefusal) || cause.status !== 401) throw cause
      this.#tokens.drop(this.#cloud.graph, token)
      if (isSecond)
        throw new CloudUnavailable(`${SERVICE} unavailable`, `${cause.message}, again with a new token`, cause)
      return this.#call(method, path, body, deadline, true)
    }
  }
}

function readCredential(value: unknown): DirectoryCredential[] {
  if (!isJsonObject(value) || typeof value.keyId !== 'string' || !isGuid(value.keyId)) return []
  const { displayName, hint } = value
  return [
    {
      keyId: value.keyId,
      name: typeof displayName === 'string' ? displayName.slice(0, 120) : '',
      hint: typeof hint === 'string' ? hint : '',
    },
  ]
}

const unexpected = (what: string) => new CloudUnavailable(`${SERVICE} unavailable`, `The answer has not ${what}`)
