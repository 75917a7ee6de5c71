// An entry as the members of its line: a pure function of the request and of what the device is set to (threats U-02).
// The names are those of the reference. What does not change from request to request is made once.
import type { Endpoint } from '../api/endpoint.ts'
import type { MountEntry } from '../api/mount.ts'
import type { Answer, AuthBlock, WrapInfo } from '../api/request.ts'
import { quoted, quotedList } from './ascii-json.ts'
import { type DataLimits, exceeds, LIMITS_OF_ANSWER, LIMITS_WITH_TOKEN, LIMITS_WITHOUT_TOKEN } from './data-size.ts'
import type { AuditedAnswer, AuditedHeaders, AuditedRequest, AuditedToken } from './entry.ts'
import {
  hasLongList,
  type Redaction,
  redact,
  redactInSlices,
  redactText,
  redactWhole,
  type TextHmac,
} from './redactor.ts'

export type FormatOptions = {
  /** Texts of data, tokens and accessors in clear. */
  readonly raw: boolean
  readonly hmacAccessor: boolean
  /** Of lists only how long they are. */
  readonly elideLists: boolean
}

type AuthText = { readonly subject: AuditedRequest['subject']; readonly token: string; readonly text: string }

const NAMESPACE = '"namespace":{"id":"root"}'
const API_PREFIX = '/v1/'

export class EntryFormat {
  readonly #options: FormatOptions
  readonly #redaction: Redaction
  readonly #headers: () => AuditedHeaders
  /** By the stored entry: a live token is the same object until it changes. */
  readonly #auths = new WeakMap<object, AuthText>()
  readonly #mounts = new WeakMap<MountEntry, string>()
  readonly #pause: () => Promise<void>

  constructor(
    hmac: TextHmac,
    options: FormatOptions,
    around: { readonly headers: () => AuditedHeaders; readonly pause: () => Promise<void> },
  ) {
    this.#options = options
    this.#redaction = { hmac: options.raw ? undefined : hmac }
    this.#headers = around.headers
    this.#pause = around.pause
  }

  /** `auth` and `request`, as both entries of a request hold them; waits only for long lists. */
  request(of: AuditedRequest): string | Promise<string> {
    const clear = of.mounted?.entry.config.auditNonHmacRequestKeys
    const redaction = clear === undefined ? this.#redaction : { ...this.#redaction, clear }
    if (of.input === undefined) return this.#request(of, undefined)
    const data = this.#data(of.input, redaction, of.token === undefined ? LIMITS_WITHOUT_TOKEN : LIMITS_WITH_TOKEN)
    return typeof data === 'string' ? this.#request(of, data) : data.then((text) => this.#request(of, text))
  }

  /** Of a request or its answer. What is too large for its caller is recorded as a whole. */
  #data(data: object, redaction: Redaction, limits: DataLimits): string | Promise<string> {
    const { hmac } = redaction
    if (hmac !== undefined && exceeds(data, limits)) return redactWhole(data, hmac)
    return hasLongList(data) ? redactInSlices(data, redaction, this.#pause) : redact(data, redaction)
  }

  #request(of: AuditedRequest, data: string | undefined): string {
    const { request, token, mounted, wrapTtlSeconds } = of
    const presented = request.headers.token
    let auth = ''
    let caller = ''
    if (token !== undefined && presented !== undefined) {
      const known = this.#auth(of, token.entry, presented)
      auth = known.text
      caller = known.token
    } else if (presented !== undefined && presented !== '') caller = `"client_token":${this.#secret(presented)},`
    const mount = mounted === undefined ? '' : this.#mount(mounted.entry)
    const wrap = wrapTtlSeconds === 0 ? '' : `,"wrap_ttl":${wrapTtlSeconds}`
    const headers = request.headers.audited === undefined ? '' : this.#headerText(request.headers.audited)
    return (
      `${auth}"request":{"id":"${of.id}","operation":"${of.operation}",${mount}${caller}${NAMESPACE},` +
      `"path":${quoted(this.#path(of))}${data === undefined ? '' : `,"data":${data}`},` +
      `"remote_address":${quoted(request.remoteAddress)}${wrap}${headers}}`
    )
  }

  /** `response`, and `error` where it was refused: both begin with a comma, or are empty. */
  response(of: AuditedRequest, answered: AuditedAnswer): string | Promise<string> {
    const { answer, warnings } = answered
    const refused = errorText(answered)
    if (answer === undefined) return refused
    const shown = this.#options.elideLists && of.operation === 'list' ? elided(answer.data) : dataOf(answer)
    const clear = of.mounted?.entry.config.auditNonHmacResponseKeys
    const redaction = clear === undefined ? this.#redaction : { ...this.#redaction, clear }
    if (shown === undefined) return this.#response(answer, warnings, undefined) + refused
    const data = this.#data(shown, redaction, of.token === undefined ? LIMITS_WITHOUT_TOKEN : LIMITS_OF_ANSWER)
    if (typeof data === 'string') return this.#response(answer, warnings, data) + refused
    return data.then((text) => this.#response(answer, warnings, text) + refused)
  }

  #response(answer: Answer, warnings: readonly string[], data: string | undefined): string {
    const members: string[] = []
    if (answer.auth !== undefined) members.push(`"auth":${this.#made(answer.auth)}`)
    if (data !== undefined) members.push(`"data":${data}`)
    if (answer.lease !== undefined && answer.lease.id !== '')
      members.push(`"secret":{"lease_id":${quoted(answer.lease.id)}}`)
    if (answer.wrapInfo !== undefined) members.push(`"wrap_info":${this.#wrapped(answer.wrapInfo)}`)
    const all = answer.warnings === undefined ? warnings : [...warnings, ...answer.warnings]
    if (all.length > 0) members.push(`"warnings":${quotedList(all)}`)
    return members.length === 0 ? '' : `,"response":{${members.join(',')}}`
  }

  #auth(of: AuditedRequest, entry: AuditedToken, presented: string): AuthText {
    const known = this.#auths.get(entry)
    if (known !== undefined && known.subject === of.subject) return known
    const made = this.#newAuth(of, entry, presented)
    this.#auths.set(entry, made)
    return made
  }

  #newAuth({ subject }: AuditedRequest, entry: AuditedToken, presented: string): AuthText {
    const identity = subject?.policies ?? []
    const policies = identity.length === 0 ? entry.policies : [...new Set([...entry.policies, ...identity])].sort()
    const token = `"client_token":${this.#secret(presented)},`
    const accessor = entry.accessor === '' ? '' : this.#accessor(entry.accessor)
    const { numUses, usesGiven = numUses } = entry
    const text =
      `"auth":{${token}${accessor === '' ? '' : `"accessor":${accessor},`}` +
      `"display_name":${quoted(entry.displayName)},"policies":${quotedList(policies)},` +
      `"token_policies":${quotedList(entry.policies)},` +
      `${identity.length === 0 ? '' : `"identity_policies":${quotedList(identity)},`}` +
      `${entry.meta === null ? '' : `"metadata":${redact(entry.meta, IN_CLEAR)},`}` +
      `${entry.entityId === '' ? '' : `"entity_id":${quoted(entry.entityId)},`}` +
      `${usesGiven > 0 ? `"num_uses":${usesGiven},"remaining_uses":${Math.max(0, numUses)},` : ''}` +
      `"token_type":"${entry.type}","token_ttl":${entry.creationTtlSeconds},` +
      `"token_issue_time":"${new Date(entry.createdAtMs).toISOString()}"},`
    const named = accessor === '' ? '' : `"client_token_accessor":${accessor},`
    return { subject, text, token: token + named }
  }

  #mount(entry: MountEntry): string {
    const known = this.#mounts.get(entry)
    if (known !== undefined) return known
    const text =
      `"mount_point":${quoted(entry.path)},"mount_type":${quoted(entry.type)},` +
      `"mount_accessor":${quoted(entry.accessor)},"mount_class":"${entry.kind}",`
    this.#mounts.set(entry, text)
    return text
  }

  /** A path is in clear, but for what the endpoint takes from it as a secret. */
  #path(of: AuditedRequest): string {
    const { path, request, endpoint, pathParameters } = of
    // No path at all: what was sent, as it was sent.
    if (path === '' && request.rawPath.startsWith(API_PREFIX)) return request.rawPath.slice(API_PREFIX.length)
    if (endpoint === undefined || !hasSecretParameter(endpoint)) return path
    let shown = path
    for (const [name, value] of Object.entries(pathParameters)) {
      if (endpoint.fields[name]?.secret === true && value !== '')
        shown = shown.replace(value, () => this.#secret(value).slice(1, -1))
    }
    return shown
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

  #secret(text: string): string {
    return redactText(text, this.#redaction)
  }

  #accessor(text: string): string {
    return this.#options.hmacAccessor ? this.#secret(text) : quoted(text)
  }

  /** A token that was made or prolonged. */
  #made(auth: AuthBlock): string {
    const { client_token, accessor, metadata, mfa_requirement: _, ...plain } = auth
    const rest = redact(plain, IN_CLEAR).slice(1)
    const meta = metadata === null ? '' : `"metadata":${redact(metadata, IN_CLEAR)},`
    return `{"client_token":${this.#secret(client_token)},"accessor":${this.#accessor(accessor)},${meta}${rest}`
  }

  #wrapped({ token, accessor, wrapped_accessor, ...plain }: WrapInfo): string {
    const inner = wrapped_accessor === undefined ? '' : `"wrapped_accessor":${this.#accessor(wrapped_accessor)},`
    const rest = redact(plain, IN_CLEAR).slice(1)
    return `{"token":${this.#secret(token)},"accessor":${this.#accessor(accessor)},${inner}${rest}`
  }
}

/** Begins with a comma, or is empty. */
export function errorText({ error }: AuditedAnswer): string {
  return error === undefined ? '' : `,"error":${quoted(error)}`
}

const IN_CLEAR: Redaction = { hmac: undefined }

const SECRET_PARAMETERS = new WeakMap<Endpoint, boolean>()

function hasSecretParameter(endpoint: Endpoint): boolean {
  const known = SECRET_PARAMETERS.get(endpoint)
  if (known !== undefined) return known
  const has = endpoint.path.includes(':') && Object.values(endpoint.fields).some(({ secret }) => secret)
  SECRET_PARAMETERS.set(endpoint, has)
  return has
}

/** What stands for an answer that is no object of ours, so that it is one. */
function dataOf({ data, body }: Answer): object | undefined {
  return body === undefined ? data : { http_raw_body: body }
}

/** Names and their descriptions become numbers, as in the reference. */
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
