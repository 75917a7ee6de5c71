// Writes an entry as the members of its line: a pure function of the request and of the device's settings (threats
// U-02). Names are those of the reference. Parts that stay the same between requests are made once.
import type { MountEntry } from '../api/mount.ts'
import { type Namespace, pathWithin, ROOT_ID } from '../api/namespace.ts'
import type { Answer, AuthBlock, WrapInfo } from '../api/request.ts'
import { quoted, quotedList } from './ascii-json.ts'
import { clearMembers } from './clear-members.ts'
import {
  type DataLimits,
  exceeds,
  inClear,
  LIMITS_OF_ANSWER,
  LIMITS_WITH_TOKEN,
  LIMITS_WITHOUT_TOKEN,
} from './data-size.ts'
import type { AuditedAnswer, AuditedHeaders, AuditedPolicies, AuditedRequest, AuditedToken } from './entry.ts'
import { routedPath, unroutedPath } from './path-text.ts'
import {
  hasLongList,
  type Redaction,
  redact,
  redactInSlices,
  redactText,
  redactWhole,
  type TextHmac,
} from './redactor.ts'
import { secretMembers } from './secret-members.ts'

/** Options of a device that change its entries. */
export type FormatOptions = {
  /** Write texts of data, tokens and accessors in clear (`log_raw`). */
  readonly raw: boolean
  /** Write accessors as HMAC. */
  readonly hmacAccessor: boolean
  /** Write only the lengths of lists of names. */
  readonly elideLists: boolean
}

type AuthText = {
  readonly by: AuditedRequest['policies']
  readonly token: string
  /** `auth` without its closing bracket. */
  readonly text: string
}
type Mounted = NonNullable<AuditedRequest['mounted']>

const IN_ROOT = '"namespace":{"id":"root"}'
const API_PREFIX = '/v1/'

/** The format of one device in one thread. */
export class EntryFormat {
  readonly #options: FormatOptions
  readonly #redaction: Redaction
  /** Set also if texts are written in clear: data too large for that is recorded as one HMAC. */
  readonly #hmac: TextHmac
  readonly #headers: () => AuditedHeaders
  /** By the token's stored entry: the object of a live token stays the same until it changes. */
  readonly #auths = new WeakMap<object, AuthText>()
  /** A mount that moves gets another entry, and the path of its namespace never changes. */
  readonly #mounts = new WeakMap<MountEntry, string>()
  readonly #pause: () => Promise<void>

  constructor(
    hmac: TextHmac,
    options: FormatOptions,
    parts: { readonly headers: () => AuditedHeaders; readonly pause: () => Promise<void> },
  ) {
    this.#options = options
    this.#hmac = hmac
    this.#redaction = { hmac: options.raw ? undefined : hmac }
    this.#headers = parts.headers
    this.#pause = parts.pause
  }

  /** Returns `auth` and `request`, which both entries of a request contain. Returns a promise only for long lists. */
  request(of: AuditedRequest): string | Promise<string> {
    const clear = clearOf(of, 'auditNonHmacRequestKeys')
    const secret = of.endpoint === undefined ? undefined : secretMembers(of.endpoint)
    const isPlain = clear === undefined && secret === undefined
    const redaction = isPlain ? this.#redaction : { ...this.#redaction, clear, secret }
    if (of.input === undefined) return this.#request(of, undefined)
    const data = this.#data(of.input, redaction, of.token === undefined ? LIMITS_WITHOUT_TOKEN : LIMITS_WITH_TOKEN)
    return typeof data === 'string' ? this.#request(of, data) : data.then((text) => this.#request(of, text))
  }

  /** Writes the data of a request or its answer. Data too large for its caller is recorded as a whole. */
  #data(data: object, redaction: Redaction, limits: DataLimits): string | Promise<string> {
    if (exceeds(data, this.#options.raw ? inClear(limits) : limits)) return redactWhole(data, this.#hmac)
    return hasLongList(data) ? redactInSlices(data, redaction, this.#pause) : redact(data, redaction)
  }

  #request(of: AuditedRequest, data: string | undefined): string {
    const { request, token, mounted, wrapTtlSeconds, handedBy } = of
    const presented = request.headers.token
    let auth = ''
    let caller = ''
    // A secondary vouches for its caller, and keeps the caller's token.
    if (token !== undefined && (presented !== undefined || handedBy !== undefined)) {
      const known = this.#auth(of, token.entry, presented)
      auth = `${known.text}${policyResults(of)}},`
      caller = known.token
    } else if (presented !== undefined && presented !== '') caller = `"client_token":${this.#secret(presented)},`
    const mount = mounted === undefined ? '' : this.#mount(mounted)
    const wrap = wrapTtlSeconds === 0 ? '' : `,"wrap_ttl":${wrapTtlSeconds}`
    const headers = request.headers.audited === undefined ? '' : this.#headerText(request.headers.audited)
    const secondary = handedBy === undefined ? '' : `,"replication_cluster":${quoted(handedBy)}`
    return (
      `${auth}"request":{"id":"${of.id}","operation":"${of.operation}",${mount}${caller}${this.#namespace(of)},` +
      `"path":${quoted(this.#path(of))}${data === undefined ? '' : `,"data":${data}`},` +
      `"remote_address":${quoted(request.remoteAddress)}${wrap}${headers}${secondary}}`
    )
  }

  /** Returns `response`, and `error` if the request was refused. Each begins with a comma, or is empty. */
  response(of: AuditedRequest, answered: AuditedAnswer): string | Promise<string> {
    const { answer } = answered
    const refused = this.error(of, answered)
    if (answer === undefined) return refused
    const given = { ...answered, answer }
    const shown = this.#options.elideLists && of.operation === 'list' ? elided(answer.data) : dataOf(answer)
    const clear = clearOf(of, 'auditNonHmacResponseKeys')
    const redaction = clear === undefined ? this.#redaction : { ...this.#redaction, clear }
    if (shown === undefined) return this.#response(of, given, undefined) + refused
    const data = this.#data(shown, redaction, of.token === undefined ? LIMITS_WITHOUT_TOKEN : LIMITS_OF_ANSWER)
    if (typeof data === 'string') return this.#response(of, given, data) + refused
    return data.then((text) => this.#response(of, given, text) + refused)
  }

  /**
   * Returns `error`; begins with a comma, or is empty. Some errors repeat the path, which is masked there as elsewhere.
   */
  error(of: AuditedRequest, { error }: AuditedAnswer): string {
    if (error === undefined) return ''
    const path = pathWithin(of.namespace, of.path)
    return `,"error":${quoted(path === '' ? error : error.replaceAll(path, () => this.#path(of)))}`
  }

  #response(
    of: AuditedRequest,
    answered: AuditedAnswer & { readonly answer: Answer },
    data: string | undefined,
  ): string {
    const { answer, warnings } = answered
    const members: string[] = []
    if (answer.auth !== undefined) members.push(`"auth":${this.#made(answer.auth)}`)
    if (data !== undefined) members.push(`"data":${data}`)
    if (answer.lease !== undefined && answer.lease.id !== '')
      members.push(`"secret":{"lease_id":${quoted(answer.lease.id)}}`)
    if (answer.wrapInfo !== undefined) members.push(`"wrap_info":${this.#wrapped(of, answer.wrapInfo)}`)
    const all = answer.warnings === undefined ? warnings : [...warnings, ...answer.warnings]
    if (all.length > 0) members.push(`"warnings":${quotedList(all)}`)
    return members.length === 0 ? '' : `,"response":{${members.join(',')}}`
  }

  #auth(of: AuditedRequest, entry: AuditedToken, presented: string | undefined): AuthText {
    const known = this.#auths.get(entry)
    if (known !== undefined && known.by === of.policies) return known
    const made = this.#newAuth(of, entry, presented)
    this.#auths.set(entry, made)
    return made
  }

  #newAuth({ policies: by }: AuditedRequest, entry: AuditedToken, presented: string | undefined): AuthText {
    const { identity, external } = by ?? { identity: [], external: [] }
    const policies = identity.length === 0 ? entry.policies : [...new Set([...entry.policies, ...identity])].sort()
    const token = presented === undefined ? '' : `"client_token":${this.#secret(presented)},`
    const accessor = entry.accessor === '' ? '' : this.#accessor(entry.accessor)
    const { numUses, usesGiven = numUses } = entry
    const text =
      `"auth":{${token}${accessor === '' ? '' : `"accessor":${accessor},`}` +
      `"display_name":${quoted(entry.displayName)},"policies":${quotedList(policies)},` +
      `"token_policies":${quotedList(entry.policies)},` +
      `${identity.length === 0 ? '' : `"identity_policies":${quotedList(identity)},`}` +
      externalText(external) +
      `${entry.meta === null ? '' : `"metadata":${redact(entry.meta, IN_CLEAR)},`}` +
      `${entry.entityId === '' ? '' : `"entity_id":${quoted(entry.entityId)},`}` +
      `${usesGiven > 0 ? `"num_uses":${usesGiven},"remaining_uses":${Math.max(0, numUses)},` : ''}` +
      `"token_type":"${entry.type}","token_ttl":${entry.creationTtlSeconds},` +
      `"token_issue_time":"${new Date(entry.createdAtMs).toISOString()}"`
    const named = accessor === '' ? '' : `"client_token_accessor":${accessor},`
    return { by, text, token: token + named }
  }

  #mount({ entry, path }: Mounted): string {
    const known = this.#mounts.get(entry)
    if (known !== undefined) return known
    const text =
      `"mount_point":${quoted(path)},"mount_type":${quoted(entry.type)},` +
      `"mount_accessor":${quoted(entry.accessor)},"mount_class":"${entry.kind}",`
    this.#mounts.set(entry, text)
    return text
  }

  /** The path of the request within its namespace. */
  #path({ path, namespace, request, endpoint, mounted }: AuditedRequest): string {
    // The target was no path, so it is shown as it was sent.
    const isSent = path === '' && request.rawPath.startsWith(API_PREFIX)
    const sent = isSent ? request.rawPath.slice(API_PREFIX.length) : pathWithin(namespace, path)
    if (this.#options.raw) return sent
    if (endpoint === undefined || mounted === undefined) return unroutedPath(sent, this.#mask)
    return routedPath(endpoint, pathWithin(namespace, mounted.path), sent, this.#mask)
  }

  readonly #mask = (secret: string): string => this.#secret(secret).slice(1, -1)

  /**
   * The path that a wrapped answer belongs to: of this request or, if an answer is wrapped again, of an earlier one.
   */
  #creationPath(of: AuditedRequest, path: string): string {
    if (this.#options.raw) return path
    const own = pathWithin(of.namespace, of.path)
    if (path === own) return this.#path(of)
    return path === `${own}/` ? `${this.#path(of)}/` : unroutedPath(path, this.#mask)
  }

  #headerText(audited: Readonly<Record<string, string>>): string {
    const members: string[] = []
    for (const [name, value] of Object.entries(audited)) {
      const asked = this.#headers().get(name)
      if (asked === undefined) continue
      members.push(`${quoted(name)}:[${asked.hmac ? redactText(value, this.#redaction) : quoted(value)}]`)
    }
    return members.length === 0 ? '' : `,"headers":{${members.join(',')}}`
  }

  #namespace({ namespace: { id, path }, unknownNamespace }: AuditedRequest): string {
    // It has no id. The path of the request would be read as one of the root without it. What the header named may be
    // anything, such as a token that was sent in the wrong one.
    if (unknownNamespace !== undefined) return `"namespace":{"path":${this.#secret(unknownNamespace)}}`
    return id === ROOT_ID ? IN_ROOT : `"namespace":{"id":"${id}","path":${quoted(path)}}`
  }

  #secret(text: string): string {
    return redactText(text, this.#redaction)
  }

  #accessor(text: string): string {
    return this.#options.hmacAccessor ? this.#secret(text) : quoted(text)
  }

  /** Writes a token that was made or renewed. */
  #made(auth: AuthBlock): string {
    const { client_token, accessor, metadata, mfa_requirement: _, ...plain } = auth
    const rest = redact(plain, IN_CLEAR).slice(1)
    const meta = metadata === null ? '' : `"metadata":${redact(metadata, IN_CLEAR)},`
    return `{"client_token":${this.#secret(client_token)},"accessor":${this.#accessor(accessor)},${meta}${rest}`
  }

  #wrapped(of: AuditedRequest, { token, accessor, wrapped_accessor, creation_path, ...plain }: WrapInfo): string {
    const inner = wrapped_accessor === undefined ? '' : `"wrapped_accessor":${this.#accessor(wrapped_accessor)},`
    const rest = redact({ ...plain, creation_path: this.#creationPath(of, creation_path) }, IN_CLEAR).slice(1)
    return `{"token":${this.#secret(token)},"accessor":${this.#accessor(accessor)},${inner}${rest}`
  }
}

const IN_CLEAR: Redaction = { hmac: undefined }

/** Policies of other namespaces, by the ids of those; '' if there are none. */
function externalText(external: AuditedPolicies['external']): string {
  if (external.length === 0) return ''
  const members = external.map(({ namespaceId, names }) => `${quoted(namespaceId)}:${quotedList(names)}`)
  return `"external_namespace_policies":{${members.join(',')}},`
}

/** The policies that allowed a request in a namespace, which may be policies of one around it. Begins with a comma. */
function policyResults({ namespace, grantedBy }: AuditedRequest): string {
  if (namespace.id === ROOT_ID || grantedBy === undefined) return ''
  const policies = grantedBy.map(({ name, namespace: path }) => {
    const { id } = atPath(namespace, path)
    const place = id === ROOT_ID ? '' : `"namespace_path":${quoted(path)},`
    return `{"name":${quoted(name)},"namespace_id":"${id}",${place}"type":"acl"}`
  })
  return `,"policy_results":{"allowed":true,"granting_policies":[${policies.join(',')}]}`
}

/** The namespace with this path, which is `inner` or around it: no policy reaches beside or above its own. */
function atPath(inner: Namespace, path: string): Namespace {
  let at = inner
  while (at.parent !== undefined && at.path !== path) at = at.parent
  return at
}

function clearOf(
  { mounted, endpoint }: AuditedRequest,
  setting: 'auditNonHmacRequestKeys' | 'auditNonHmacResponseKeys',
): readonly string[] | undefined {
  return mounted === undefined ? undefined : clearMembers(mounted.entry.config[setting], mounted.entry, endpoint)
}

/** Returns the data of an answer; a complete body is shown as one member. */
function dataOf({ data, body }: Answer): object | undefined {
  return body === undefined ? data : { http_raw_body: body }
}

/** Replaces names and their descriptions by their numbers, as in the reference. */
function elided(data: object | undefined): object | undefined {
  if (data === undefined) return undefined
  const { keys, key_info: info, ...others } = data as { keys?: unknown; key_info?: unknown }
  return {
    ...others,
    ...(keys === undefined ? {} : { keys: Array.isArray(keys) ? keys.length : keys }),
    ...(info === undefined
      ? {}
      : { key_info: typeof info === 'object' && info !== null ? Object.keys(info).length : info }),
  }
}
