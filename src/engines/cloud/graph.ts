// The graph of the directory: the application that this server is, its secrets, and who is in a group.
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import type { AccessTokens } from './access-tokens.ts'
import type { Cloud } from './clouds.ts'
import type { LoginDeadline } from './deadline.ts'
import { hasName, isGuid } from './names.ts'
import { CloudRefusal, CloudUnavailable } from './refusals.ts'
import type { CloudCall, Upstream } from './upstream.ts'

export type Application = { readonly objectId: string; readonly credentials: readonly DirectoryCredential[] }
export type DirectoryCredential = {
  readonly keyId: string
  readonly name: string
  /** The first characters of the secret. */
  readonly hint: string
}
export type NewSecret = { readonly keyId: string; readonly value: string; readonly endMs: number }

const SERVICE = 'directory'
const MOST_GROUPS = 20

export class Graph {
  readonly #upstream: Upstream
  readonly #tokens: AccessTokens
  readonly #cloud: Cloud

  constructor(upstream: Upstream, tokens: AccessTokens, cloud: Cloud) {
    this.#upstream = upstream
    this.#tokens = tokens
    this.#cloud = cloud
  }

  /** Those with the client id: one, if all is well. @throws CloudRefusal, CloudUnavailable */
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

  /** @throws CloudRefusal, CloudUnavailable: then one may have been made nevertheless */
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

  /** One that is not there is no error. @throws CloudRefusal, CloudUnavailable */
  async removeSecret(objectId: string, keyId: string, deadline: LoginDeadline): Promise<void> {
    try {
      await this.#call('POST', `/v1.0/applications/${objectId}/removePassword`, { keyId }, deadline)
    } catch (cause) {
      if (!(cause instanceof CloudRefusal) || ![400, 404].includes(cause.status)) throw cause
    }
  }

  /** Which of the groups the principal is in, directly or through others. @throws CloudRefusal, CloudUnavailable */
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
      // What was not asked about is no answer.
      found.push(...value.filter((each): each is string => typeof each === 'string' && hasName(groupIds, each)))
    }
    return found
  }

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
