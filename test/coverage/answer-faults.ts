// Whether an answer is one that the endpoint table allows. Which endpoint was called is found out anew, from the raw
// target, with the rooms of the program that do it in the server.

import { parseBool } from '../../src/api/coercion.ts'
import type { Endpoint, EndpointOperation } from '../../src/api/endpoint.ts'
import { AUTH_BLOCK } from '../../src/api/request.ts'
import { Router } from '../../src/api/router.ts'
import { misfits } from '../../src/api/shape.ts'
import { canonicalPath } from '../../src/core/target.ts'
import { TABLES } from '../../tools/endpoint-tables.ts'
import type { RawAnswer } from '../fixtures/raw-http.ts'
import { SECRET_MARK } from './field-values.ts'
import type { GeneratedRequest } from './generated-request.ts'

const ROUTERS = TABLES.map(({ mountPath, endpoints }) => ({ mountPath, router: new Router(endpoints) }))
const ENVELOPE_NAMES = [
  'auth',
  'data',
  'lease_duration',
  'lease_id',
  'mount_type',
  'renewable',
  'request_id',
  'warnings',
  'wrap_info',
]
const BODILESS = [204, 205, 304]

type Json = Record<string, unknown>

/** What is known of the server. */
export type Expectation = {
  /** Further mounts of the last table. */
  readonly mounts: readonly string[]
  /** It may be sealed, or not initialised, and then refuses everything else with 501 or 503. */
  readonly mayBeClosed: boolean
}

/** Empty where all is well. */
export function answerFaults(request: GeneratedRequest, answer: RawAnswer, expected: Expectation): string[] {
  const { status, body } = answer
  const endpoint = endpointOf(request, expected.mounts)
  const isClosed = expected.mayBeClosed && (status === 501 || status === 503)
  const isChosen = isClosed || (endpoint !== undefined && statusesAskedFor(request).includes(status))
  const isUncoded = status === 501 && request.headers.some(([, value]) => value === 'gzip')
  if (status >= 500 && !isChosen && !isUncoded) return [`status ${status}`]
  const isNeverEmpty =
    (endpoint?.response !== undefined && endpoint.mayBeEmpty !== true) || endpoint?.alwaysWarns === true
  if (status === 204 && isNeverEmpty && !isChosen) return ['no body where the endpoint promises data']
  if (BODILESS.includes(status) || request.method === 'HEAD') return body === '' ? [] : ['a body where there is none']
  if (endpoint?.givesStream === true && status === 200 && !asksForHelp(request)) {
    return answer.headers.get('content-type') === 'application/octet-stream' ? [] : ['a stream without its type']
  }
  const isText = answer.headers.get('content-type')?.startsWith('text/plain;') === true
  if (endpoint?.givesText === true && status === 200 && isText)
    return body.endsWith('\n') ? [] : ['text without an end']
  if (answer.headers.get('content-type') !== 'application/json')
    return [`content type ${answer.headers.get('content-type')}`]
  if (answer.headers.get('cache-control') !== 'no-store') return ['may be stored by caches']
  const parsed = parseObject(body)
  if (parsed === undefined) return ['the body is not a JSON object']
  if (status >= 400 && isRefusal(parsed)) return refusalFaults(parsed)
  if (parsed.help !== undefined && asksForHelp(request))
    return typeof parsed.help === 'string' ? [] : ['help is no text']
  if (status >= 400 && !isChosen && parsed.data === undefined) return ['the refusal is not {"errors":[…]}']
  return endpoint === undefined ? ['no endpoint is known that could have answered'] : endpointFaults(endpoint, parsed)
}

const asksForHelp = ({ method, target }: GeneratedRequest): boolean => method === 'HELP' || /[?&]help=./.test(target)

function parseObject(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined
  } catch {
    return undefined
  }
}

const isRefusal = (parsed: Json): boolean => Object.keys(parsed).length === 1 && Array.isArray(parsed.errors)

function refusalFaults({ errors }: Json): string[] {
  const texts = errors as unknown[]
  if (!texts.every((text) => typeof text === 'string')) return ['errors are not all texts']
  const telling = texts.join('\n')
  return [
    ...(telling.includes(SECRET_MARK) ? ['the refusal repeats a secret'] : []),
    // P-64: nothing of the inside.
    ...(/node:|\.ts\b|\/src\/|keywright-test|\bat .+:\d+/.test(telling) ? ['the refusal shows the inside'] : []),
  ]
}

/** What the request itself wants as status: of the node's state, or of a batch of which some items fail. */
function statusesAskedFor({ target, body }: GeneratedRequest): number[] {
  const asked = /partial_failure_response_code":"?([^,}"]*)/.exec(body?.toString('latin1') ?? '')?.[1] ?? ''
  const inQuery = [...new URLSearchParams(target.split('?')[1] ?? '').entries()].filter(([name]) =>
    name.endsWith('code'),
  )
  return [Number(asked), ...inQuery.map(([, value]) => Number(value.replaceAll('_', '')))]
}

const OPERATIONS: Readonly<Record<string, EndpointOperation>> = {
  GET: 'read',
  HEAD: 'read',
  LIST: 'list',
  SCAN: 'scan',
  POST: 'update',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

/** The endpoint that the request is for; undefined where it is for none. */
export function endpointOf({ method, target }: GeneratedRequest, extraMounts: readonly string[]): Endpoint | undefined {
  // The parser passes over spaces around the target (RFC 9112 section 3).
  const [rawPath = '', query = ''] = splitAt(target.trim(), '?')
  const operation = OPERATIONS[method]
  const path = operation === undefined ? undefined : safely(() => canonicalPath(rawPath))
  if (operation === undefined || path === undefined) return undefined
  const parameters = new URLSearchParams(query)
  const listed = (['list', 'scan'] as const).find((name) => parseBool(parameters.get(name) ?? 'false') === true)
  const asked = operation === 'read' ? (listed ?? operation) : operation
  const transit = ROUTERS.filter(({ mountPath }) => mountPath === 'transit/')
  const extra = extraMounts.flatMap((mountPath) => transit.map(({ router }) => ({ mountPath, router })))
  for (const { mountPath, router } of [...ROUTERS, ...extra]) {
    // A mount answers without the slash at its end as well.
    const rest = `${path}/` === mountPath ? '' : path.startsWith(mountPath) ? path.slice(mountPath.length) : undefined
    if (rest === undefined) continue
    const route = router.find(asked, rest)
    if (route.kind === 'found') return route.endpoint
  }
  return undefined
}

function splitAt(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator)
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

function safely<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

function endpointFaults(endpoint: Endpoint, parsed: Json): string[] {
  const { response, body, givesToken } = endpoint
  if (body === 'plain') return misfits(response ?? {}, parsed)
  if (parsed.wrap_info !== null) return wrappedFaults(parsed, endpoint.wrappedWithout !== undefined)
  const { data, auth, warnings } = parsed
  const expected =
    body === 'both' && response !== undefined ? [...ENVELOPE_NAMES, ...Object.keys(data ?? {})] : ENVELOPE_NAMES
  const names = [...new Set(expected)].sort()
  if (JSON.stringify(Object.keys(parsed).sort()) !== JSON.stringify(names)) return [`members ${Object.keys(parsed)}`]
  // An answer that may come without data, as 204, is no 204 where it warns.
  const hasNone = response === undefined || (endpoint.mayBeEmpty === true && data === null && warnings !== null)
  return [
    ...(hasNone ? nullFaults('data', data) : misfits(response, data)),
    ...(givesToken === true ? misfits(AUTH_BLOCK, auth, 'auth') : nullFaults('auth', auth)),
    ...(warnings === null || isTextList(warnings) ? [] : ['warnings are neither null nor texts']),
    ...(response === undefined && givesToken !== true && warnings === null ? ['nothing to say, and not 204'] : []),
  ]
}

/** Under a token, and nothing of it beside; what was wrapped unasked may warn beside it. */
function wrappedFaults({ data, auth, warnings, wrap_info }: Json, mayWarn: boolean): string[] {
  const { token, ttl, creation_path } = wrap_info as Json
  const whole = typeof token === 'string' && typeof ttl === 'number' && typeof creation_path === 'string'
  const bare = data === null && auth === null && (warnings === null || (mayWarn && isTextList(warnings)))
  return whole && bare ? [] : ['a wrapped answer is not whole, or not alone']
}

const nullFaults = (name: string, value: unknown): string[] => (value === null ? [] : [`${name} is not null`])

const isTextList = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string')
