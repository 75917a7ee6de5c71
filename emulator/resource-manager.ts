// The resource manager: reads of single resources, of lists in pages, and of providers.
import type { JsonObject, JsonValue } from '../src/lib/json.ts'
import type { Random } from '../src/lib/world.ts'
import { checkApiVersion, PROVIDERS } from './api-versions.ts'
import type { Caller, CheckBearer } from './bearer.ts'
import { type CloudAnswer, type CloudRequest, decodePart, type Handler, Refusal } from './exchange.ts'
import { resourceError, unauthenticated, wrongTenant } from './resource-errors.ts'
import { formatResourceId, parseResourceId, type ResourceId } from './resource-id.ts'
import type { Resource, Resources } from './resources.ts'

/** The parts of the emulator that the resource manager works with. */
export type ResourceManagerParts = {
  readonly resources: Resources
  readonly checkBearer: CheckBearer
  readonly audiences: ReadonlySet<string>
  readonly random: Random
  /** The address that a caller without a token is sent to. */
  readonly authority: (request: CloudRequest) => string
  readonly settings: ResourceManagerSettings
}

/** Settings that tests change. */
export type ResourceManagerSettings = {
  /** Entries of one page of a list. */
  pageSize: number
  /** Counted down to 0, and shown in a header of each answer. */
  remainingReads: number
}

/** Returns the handler of the service. */
export function resourceManager(parts: ResourceManagerParts): Handler {
  return async (request) => {
    const headers = {
      'x-ms-request-id': parts.random.uuid(),
      'x-ms-correlation-request-id': parts.random.uuid(),
      'x-ms-ratelimit-remaining-subscription-reads': String(Math.max(0, --parts.settings.remainingReads)),
    }
    try {
      const answer = await answerRead(parts, request)
      return { ...answer, headers: { ...headers, ...answer.headers } }
    } catch (cause) {
      if (!(cause instanceof Refusal)) throw cause
      throw new Refusal({ ...cause.answer, headers: { ...headers, ...cause.answer.headers } })
    }
  }
}

/** The thing that a path names. */
type Target =
  | { readonly kind: 'resource'; readonly id: ResourceId }
  | { readonly kind: 'list'; readonly scope: string; readonly namespace: string; readonly type: string }
  | { readonly kind: 'provider'; readonly subscription: string; readonly namespace: string }

async function answerRead(parts: ResourceManagerParts, asked: CloudRequest): Promise<CloudAnswer> {
  // The vendor's own library puts a slash before an id that begins with one, so the service accepts two.
  const request = { ...asked, path: asked.path.replace(/^\/\//, '/') }
  if (isDisguised(request.path)) throw resourceError(400, 'InvalidRequestUri', 'The request path is not valid.')
  const caller = await parts.checkBearer(request, parts.audiences)
  if (typeof caller === 'string') throw unauthenticated(caller, parts.authority(request))
  if (request.method !== 'GET') throw resourceError(405, 'MethodNotAllowed', `${request.method} is not served here.`)
  const target = readTarget(request.path)
  if (target === undefined) throw resourceError(404, 'InvalidResourceType', 'The path names no kind of resource.')
  const { subscription } = placeOf(target)
  const known = parts.resources.subscriptions.get(subscription.toLowerCase())
  if (known === undefined) {
    throw resourceError(404, 'SubscriptionNotFound', `The subscription '${subscription}' could not be found.`)
  }
  if (known.tenantId !== caller.tenantId) throw wrongTenant(known.tenantId, parts.authority(request))
  checkApiVersion(request.query, target)
  authorize(parts.resources, caller, request.path, target)
  return answerTarget(parts, request, target)
}

/** True for forms that a careful client never sends: decoded once more they would name another resource. */
function isDisguised(path: string): boolean {
  return (
    path.includes('//') || /%2f|%5c|\\/i.test(path) || path.split('/').some((part) => /^(?:\.|%2e){1,2}$/i.test(part))
  )
}

function readTarget(path: string): Target | undefined {
  const decoded = path.split('/').map(decodePart).join('/')
  const id = parseResourceId(decoded)
  if (id !== undefined) return { kind: 'resource', id }
  const parts = decoded.split('/')
  const providers = parts.findLastIndex((part) => part.toLowerCase() === 'providers')
  const [, subscriptions, subscription = ''] = parts
  if (subscriptions?.toLowerCase() !== 'subscriptions' || providers === -1) return undefined
  const [namespace, ...rest] = parts.slice(providers + 1)
  if (!namespace) return undefined
  if (rest.length === 0) return { kind: 'provider', subscription, namespace }
  // A list of inner resources is asked for below the outer one.
  const within = rest.length > 1
  return {
    kind: 'list',
    scope: parts.slice(0, within ? -1 : providers).join('/'),
    namespace,
    type: rest.filter((_, index) => index % 2 === 0).join('/'),
  }
}

function placeOf(target: Target): { subscription: string; resourceGroup?: string | undefined } {
  if (target.kind === 'resource') return target.id
  if (target.kind === 'provider') return target
  const [, , subscription = '', , resourceGroup] = target.scope.split('/')
  return { subscription, resourceGroup }
}

function authorize(resources: Resources, { principalId }: Caller, path: string, target: Target): void {
  const action = actionOf(target)
  const allowed = resources.assignments.some(
    (each) =>
      each.principalId === principalId &&
      `${path}/`.toLowerCase().startsWith(`${each.scope}/`.toLowerCase()) &&
      each.actions.some((pattern) => permits(pattern, action) || permits(pattern.replaceAll('/*/', '/'), action)),
  )
  if (allowed) return
  const who = `The client with object id '${principalId}'`
  const text = `${who} does not have authorization to perform action '${action}' over scope '${path}'.`
  throw resourceError(403, 'AuthorizationFailed', text)
}

function actionOf(target: Target): string {
  if (target.kind === 'provider') return `${target.namespace}/register/read`
  const { namespace, type } = target.kind === 'list' ? target : target.id
  return `${namespace}/${type}/read`
}

/** True if an assignment permits an action. `*` stands for anything, slashes included. */
function permits(pattern: string, action: string): boolean {
  const pieces = pattern.toLowerCase().split('*')
  let rest = action.toLowerCase()
  for (const [index, piece] of pieces.entries()) {
    const at = index === pieces.length - 1 && index > 0 ? rest.lastIndexOf(piece) : rest.indexOf(piece)
    if (at === -1 || (index === 0 && at !== 0)) return false
    rest = rest.slice(at + piece.length)
  }
  return rest === ''
}

function answerTarget(parts: ResourceManagerParts, request: CloudRequest, target: Target): CloudAnswer {
  const { resources } = parts
  if (target.kind === 'provider') return { status: 200, body: describeProvider(target) }
  const { subscription, resourceGroup } = placeOf(target)
  if (resourceGroup !== undefined && !resources.hasGroup(subscription, resourceGroup)) {
    throw resourceError(404, 'ResourceGroupNotFound', `Resource group '${resourceGroup}' could not be found.`)
  }
  if (target.kind === 'list') {
    return {
      status: 200,
      body: page(parts, request, resources.list(target.scope, `${target.namespace}/${target.type}`)),
    }
  }
  const resource = resources.find(formatResourceId(target.id))
  if (resource === undefined) {
    const { namespace, type, names } = target.id
    const what = `'${namespace}/${type}/${names.join('/')}'`
    const text = `The Resource ${what} under resource group '${resourceGroup}' was not found.`
    throw resourceError(404, 'ResourceNotFound', text)
  }
  return { status: 200, body: shown(resource) }
}

function page({ settings }: ResourceManagerParts, request: CloudRequest, all: readonly Resource[]): JsonObject {
  const start = Number(request.query.get('$skiptoken') ?? 0)
  const end = start + settings.pageSize
  const value = all.slice(start, end).map(shown) as JsonValue[]
  if (end >= all.length) return { value }
  const query = new URLSearchParams(request.query)
  query.set('$skiptoken', String(end))
  return { value, nextLink: `${request.origin}${request.path}?${query}` }
}

/** Returns a copy: a test may change the resource before the answer is sent. */
function shown(resource: Resource): JsonObject {
  return structuredClone(resource) as unknown as JsonObject
}

function describeProvider({ subscription, namespace }: { subscription: string; namespace: string }): JsonObject {
  const found = Object.keys(PROVIDERS).find((name) => name.toLowerCase() === namespace.toLowerCase())
  if (found === undefined) {
    throw resourceError(404, 'InvalidResourceNamespace', `The resource namespace '${namespace}' is invalid.`)
  }
  const types = Object.entries(PROVIDERS[found] ?? {})
  return {
    id: `/subscriptions/${subscription}/providers/${found}`,
    namespace: found,
    registrationState: 'Registered',
    resourceTypes: types.map(([resourceType, apiVersions]) => ({ resourceType, apiVersions: [...apiVersions] })),
  }
}
