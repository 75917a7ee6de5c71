// The namespace of a request, as steps of the pipeline. It is found once, before anything is decided, and handed on:
// routing, policies, quotas and audit all go by the same one.
import { isOfferedIn } from '../api/endpoint.ts'
import { fail } from '../api/errors.ts'
import { type Namespace, pathWithin, ROOT, splitId } from '../api/namespace.ts'
import { isWrapping } from '../auth/wrapping.ts'
import { isPrintableAscii } from '../lib/ascii.ts'
import { own } from '../lib/own.ts'
import { headerPath } from '../namespaces/names.ts'
import { lockedAround } from '../namespaces/namespace-store.ts'
import { servesNoClient } from './access.ts'
import type { Exchange } from './exchange.ts'
import type { PipelineServices } from './pipeline-services.ts'

const ECHOED = 'X-Vault-Namespace'
/** Opens a locked namespace, and so is answered in it. */
const UNLOCK = 'sys/namespaces/api-lock/unlock'

/**
 * Step: joins what the header names and what the path begins with. The header must name a namespace as a whole; of the
 * path as much is taken as names one. Behind it the path of the exchange is the full one.
 * @throws Refusal if the header names no namespace, or the one that is found takes no requests
 */
export const readNamespace = (exchange: Exchange, services: PipelineServices): void | Promise<void> => {
  const { namespace: header } = exchange.request.headers
  if (header !== undefined && header !== '' && isPrintableAscii(header))
    exchange.extraHeaders = { ...exchange.extraHeaders, [ECHOED]: header }
  const named = header === undefined ? '' : headerPath(header)
  if (named === '') exchange.unknownNamespace = undefined
  // Nothing is known of namespaces then, and only the state of the server is told.
  if (services.sealed() || servesNoClient(services)) return
  const { namespaces } = services
  return namespaces.stale
    ? namespaces.refresh().then(() => place(exchange, services, named))
    : place(exchange, services, named)
}

function place(exchange: Exchange, services: PipelineServices, named: string): void {
  const { namespaces } = services
  if (namespaces.count === 0 && named === '') return
  const outer = namespaces.byPath(named)
  // Asked about the server itself, which has nothing to do with namespaces.
  const isPlaced = named !== '' && isOfAll(exchange, services)
  if (outer === undefined && !isPlaced) throw fail('bad_namespace', [])
  exchange.unknownNamespace = undefined
  if (outer === undefined || isPlaced) return
  exchange.path = outer.path + exchange.path
  exchange.namespace = namespaces.around(exchange.path)
  requireStaying(exchange)
}

/** The path as the caller sent it, with its names as they are kept: without what the header named. */
export function sentPath({ namespace, path, request: { headers } }: Exchange): string {
  if (namespace.id === ROOT.id || headers.namespace === undefined) return path
  const named = headerPath(headers.namespace)
  return path.startsWith(named) ? path.slice(named.length) : path
}

/** True if the root answers the path in the same way for every namespace, which it does to reads alone. */
function isOfAll({ path }: Exchange, { mounts }: PipelineServices): boolean {
  return mounts.routed(path, 'read')?.endpoint.offeredIn === 'all'
}

type Asked = Pick<Exchange, 'namespace' | 'path'>

/** @throws Refusal while it is being deleted, or it or one around it is locked */
export function requireOpen(asked: Asked): void {
  requireStaying(asked)
  requireUnlocked(asked)
}

function requireStaying({ namespace, path }: Asked): void {
  if (namespace.isGoing) throw fail('namespace_going', [pathWithin(namespace, path)])
}

function requireUnlocked({ namespace, path }: Asked): void {
  const locked = lockedAround(namespace)
  if (locked === undefined) return
  if (locked === namespace && pathWithin(namespace, path) === UNLOCK) return
  throw fail('namespace_locked', [locked.path])
}

/**
 * Step: what only the root has is refused in every other namespace, and all but the unlocking in a locked one, before
 * anybody is asked for a token: neither is a secret.
 */
export const refuseOutsideRoot = (exchange: Exchange): void => {
  const { namespace, endpoint } = exchange
  if (namespace.id === ROOT.id) return
  if (endpoint !== undefined && !isOfferedIn(namespace, endpoint))
    throw endpoint.offeredIn === 'root-keys' ? fail('not_sealable', []) : fail('unsupported_path', [])
  requireUnlocked(exchange)
}

/**
 * Step: a request about its own token goes to the namespace of the token. So does one of a wrapping token: that has a
 * right there alone, and whoever holds it may open it anywhere.
 */
export const moveToOwn = (exchange: Exchange, services: PipelineServices): void => {
  const { endpoint, token } = exchange
  if (endpoint === undefined || token === undefined) return
  const isMeant = endpoint.movesTo === 'token' || (endpoint.takesWrappingToken === true && isWrapping(token.entry))
  if (isMeant) move(exchange, services, token.entry.namespace)
}

/**
 * Step: a request about a token or a lease, whose text it names, goes to the namespace of that. A text that names none
 * leaves it where it is.
 */
export const moveToNamed = async (exchange: Exchange, services: PipelineServices): Promise<void> => {
  if (typeof exchange.endpoint?.movesTo !== 'object') return
  const { field, names } = exchange.endpoint.movesTo
  // In this order, as the fields are decoded: the handler must not come to another one.
  const text = own(exchange.pathParameters, field) ?? own(exchange.input ?? {}, field)
  exchange.isMoved = true
  if (typeof text !== 'string' || text === '') return
  if (names === 'lease') return move(exchange, services, splitId(text).namespaceId)
  const found = await services.tokens.find(text)
  if (found !== undefined) move(exchange, services, found.entry.namespace)
}

function move(exchange: Exchange, { namespaces, mounts }: PipelineServices, id: string): void {
  const { namespace: from, path } = exchange
  const to: Namespace | undefined = id === from.id ? undefined : namespaces.byId(id)
  if (to === undefined || to.isGoing) return
  exchange.namespace = to
  exchange.path = to.path + pathWithin(from, path)
  exchange.mounted = mounts.route(exchange.path)
}
