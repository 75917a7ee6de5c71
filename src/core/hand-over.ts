// Hands requests that would write data of the whole set to the primary, which alone may write them. The answer comes
// back as the handler there gave it; tokens, wrapping and envelope are made here, where the caller is.
import type { Endpoint } from '../api/endpoint.ts'
import { fail, type Refusal } from '../api/errors.ts'
import { type DataOwner, mayChange, type Sight } from '../api/node-role.ts'
import type { Subject } from '../auth/subject.ts'
import type { LiveToken } from '../auth/token-store.ts'
import type { Exchange } from './exchange.ts'
import { forward } from './forward.ts'
import type { AssertedCaller, HandedRequest } from './handed.ts'
import { countingOutcome } from './login-guard.ts'
import type { PipelineServices } from './pipeline-services.ts'

/**
 * Step: hands the request over if it would write what this node may not write. An endpoint that mostly writes nothing
 * begins here, and is handed over once it comes to such a write (`isHandedLate`).
 * @throws Refusal `not_primary` if there is no link to a primary, or the node may not write its own data either
 */
export const handToPrimary = (exchange: Exchange, services: PipelineServices): void | Promise<void> => {
  if (exchange.endpoint?.writes === undefined) return
  if (mayChange(services.nodeRole(), 'set')) return
  const owner = writtenBy(exchange)
  return owner instanceof Promise
    ? owner.then((found) => decide(exchange, services, found))
    : decide(exchange, services, owner)
}

/** What of this cluster the request sees. */
export const sightOf = ({ handedBy }: Exchange): Sight => (handedBy === undefined ? 'all' : 'shared')

/** Whose data the request would write; 'both' is the set's first. */
export function writtenBy(exchange: Exchange): DataOwner | 'both' | Promise<DataOwner> {
  const { endpoint, mounted, args, namespace } = exchange
  const writes = endpoint?.writes
  if (writes === undefined) return 'node'
  if (writes === 'mount') return mounted?.entry.local === true ? 'cluster' : 'set'
  if (typeof writes !== 'function') return writes
  return writes(mounted?.engine as never, args as never, namespace, sightOf(exchange))
}

function decide(exchange: Exchange, services: PipelineServices, owner: DataOwner | 'both'): void | Promise<void> {
  const { endpoint } = exchange
  if (owner === 'node') return
  if (!mayChange(services.nodeRole(), 'cluster')) {
    // An endpoint that mostly writes nothing goes on: the gate in the commit stops it if it has to.
    if (alwaysWrites(exchange)) throw notPrimary(services, false)
    return
  }
  if (owner !== 'set') {
    noteWrites(exchange, services)
    return
  }
  if (endpoint?.onlyOnPrimary === true) throw fail('only_on_primary', [services.primaryAddress()])
  if (alwaysWrites(exchange)) return handOver(exchange, services)
  noteWrites(exchange, services)
}

/** Only the thread that writes comes to a commit; any other sends the request there first. */
function noteWrites(exchange: Exchange, { forward: to }: PipelineServices): void {
  if (to === undefined) exchange.own = { isWritten: false }
}

const alwaysWrites = ({ endpoint, operation }: Exchange): boolean =>
  endpoint?.runsOn === 'writer' || operation === 'create'

const notPrimary = ({ primaryAddress }: PipelineServices, isShared: boolean): Refusal =>
  fail('not_primary', [isShared, primaryAddress()])

/**
 * Has the primary carry the request out, and keeps its answer. A thread without the link sends the request to the
 * thread that has it.
 */
export async function handOver(exchange: Exchange, services: PipelineServices): Promise<void> {
  if (services.forward !== undefined) return forward(exchange, services.forward)
  const primary = services.toPrimary()
  if (primary === undefined) throw notPrimary(services, true)
  const { answer, written } = await countingOutcome(exchange, () => primary.carryOut(handed(exchange)))
  exchange.answer = answer
  const { endpoint, mounted, args, namespace } = exchange
  endpoint?.afterPrimary?.(mounted?.engine as never, args as never, namespace, answer)
  await services.consistency.arrived(written, exchange.atPrimary)
}

/**
 * True if a handler that came to a write of the set's data is to be handed over as a whole. That needs a mark that says
 * so, and a handler that has not given its answer.
 */
export function isHandedLate(exchange: Exchange, services: PipelineServices): boolean {
  const { endpoint, answer } = exchange
  if (endpoint?.writes === undefined || endpoint.onlyOnPrimary === true || answer !== undefined) return false
  const role = services.nodeRole()
  return !mayChange(role, 'set') && mayChange(role, 'cluster') && writesForSet(endpoint)
}

/** True if the mark allows the endpoint to write data of the set. */
const writesForSet = ({ writes }: Endpoint): boolean => writes !== 'cluster' && writes !== 'node'

function handed(exchange: Exchange): HandedRequest {
  const { id, endpoint, mounted, path, givenNames, method, request, token, subject, wrapTtlSeconds } = exchange
  const { query, body, headers, remoteAddress } = request
  return {
    id,
    endpoint: endpoint?.id ?? '',
    mount: mounted?.entry.uuid ?? '',
    path: path.slice(mounted?.path.length ?? 0),
    givenNames,
    method,
    query,
    body,
    contentType: headers.contentType,
    passed: headers.passed,
    remoteAddress,
    wrapTtlSeconds,
    caller: token && asserted(token, subject),
  }
}

const asserted = ({ entry }: LiveToken, subject: Subject | undefined): AssertedCaller => ({
  policies: entry.policies,
  namespace: entry.namespace,
  entityId: entry.entityId,
  groups: subject?.loginGroups ?? [],
  displayName: entry.displayName,
  metadata: entry.meta,
  tokenType: entry.type,
})
