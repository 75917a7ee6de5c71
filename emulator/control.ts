// The functions of the library over HTTP, below /_emulator/: for programs in other languages, and to try out by hand.
import type { JsonObject, JsonValue } from '../src/lib/json.ts'
import type { Cluster } from './cluster.ts'
import type { Directory } from './directory.ts'
import { type Handler, jsonBody, Refusal, type Route, route, type Service } from './exchange.ts'
import type { Fault, Faults } from './faults.ts'
import type { Minted, Minting } from './minting.ts'
import type { CloudPlan } from './plan.ts'
import type { RequestLog } from './request-log.ts'
import type { Resources } from './resources.ts'
import type { SigningKeys } from './signing-keys.ts'
import type { SkewedClock } from './skewed-clock.ts'
import type { Claims } from './tokens.ts'

/** The parts of an emulator that orders reach. */
type Emulator = {
  readonly clock: SkewedClock
  readonly keys: Pick<SigningKeys, 'rotate'>
  readonly faults: Faults
  readonly requests: RequestLog
  readonly minting: Minting
  readonly cluster: Cluster
  readonly directory: Directory
  readonly resources: Resources
  reset(plan?: CloudPlan): void
}

/** Headers that the list of requests shows: none holds a secret. */
const SHOWN_HEADERS = ['accept', 'content-type', 'metadata', 'user-agent', 'x-forwarded-for']

type Order = { readonly emulator: Emulator; readonly body: JsonObject; readonly query: URLSearchParams }

/** Returns the handler of the orders. Mistakes are answered with 400 and a sentence. */
export function control(emulator: Emulator): Handler {
  const routes = Object.entries(ORDERS).map(([name, obey]): [string, Route] => [
    name.replace(' ', ' /_emulator/'),
    async (request) => {
      const body = request.body.length === 0 ? {} : jsonBody(request)
      if (body === undefined) throw refused('the body must be a JSON object')
      try {
        return { status: 200, body: await obey({ emulator, body, query: request.query }) }
      } catch (cause) {
        throw cause instanceof Refusal ? cause : refused((cause as Error).message)
      }
    },
  ])
  return route(Object.fromEntries(routes), ({ method, path }) => {
    throw refused(`${method} ${path} is none of ${Object.keys(ORDERS).join(', ')} below /_emulator/`)
  })
}

function refused(text: string): Refusal {
  return new Refusal({ status: 400, body: { errors: [text] } })
}

const ORDERS: Readonly<Record<string, (order: Order) => JsonObject | Promise<JsonObject>>> = {
  'POST reset': ({ emulator }) => {
    emulator.reset()
    return {}
  },
  'GET state': ({ emulator }) => describeState(emulator),
  'PUT state': ({ emulator, body }) => {
    emulator.reset(body as CloudPlan)
    return describeState(emulator)
  },
  'POST mint': async ({ emulator, body }) => ({ token: await mint(emulator, body as MintOrder) }),
  'POST keys/rotate': async ({ emulator, body }) => ({ kid: (await emulator.keys.rotate(body)).kid }),
  'PUT faults': ({ emulator, body }) => {
    const { faults } = body
    if (!Array.isArray(faults)) throw refused('faults must be a list of rules')
    emulator.faults.clear()
    for (const fault of faults) emulator.faults.add(fault as unknown as Fault)
    return { faults: faults.length }
  },
  'GET requests': ({ emulator, query }) => ({ requests: listRequests(emulator, query) }),
  'POST clock': ({ emulator, body }) => {
    if (typeof body.skew_seconds !== 'number') throw refused('skew_seconds must be a number')
    emulator.clock.skewMs = body.skew_seconds * 1000
    return { now: new Date(emulator.clock.nowMs()).toISOString() }
  },
}

type MintOrder = Minted & {
  /** The subject of the token: one of these four. */
  readonly resource?: string
  readonly principal?: string
  readonly subject?: string
  readonly userIdentity?: string
  readonly claims?: Claims
}

/** Mints a token as the order says. @throws Error naming what is missing */
function mint({ minting, cluster }: Emulator, order: MintOrder): Promise<string> {
  const { resource, principal, subject, userIdentity, claims, ...form } = order
  const changes = claims === undefined ? {} : { claims }
  if (resource !== undefined) {
    return minting.ofResource(resource, {
      ...form,
      ...changes,
      ...(userIdentity === undefined ? {} : { userIdentity }),
    })
  }
  if (principal !== undefined) return minting.ofPrincipal(principal, { ...form, ...changes })
  if (subject !== undefined) return cluster.token(subject, { ...form, ...changes })
  if (userIdentity !== undefined) return minting.ofFederatedIdentity(userIdentity, { ...form, ...changes })
  if (claims === undefined)
    throw refused('say whose token: resource, principal, subject, userIdentity, or claims alone')
  return minting.ofClaims(claims, form)
}

function describeState({ directory, resources }: Emulator): JsonObject {
  return {
    tenants: directory.tenants.map(({ id, domains }) => ({ id, domains: [...domains] })),
    subscriptions: [...resources.subscriptions.values()],
    applications: directory.applications.map(({ objectId, clientId, tenantId, displayName, principal }) => ({
      objectId,
      clientId,
      tenantId,
      displayName,
      principalId: principal.id,
    })),
    resources: resources.all().map((resource) => ({
      id: resource.id,
      principalId: (resources.systemIdentityOf(resource.id) ?? resources.userIdentityOf(resource.id))?.id ?? null,
    })),
  }
}

function listRequests({ requests }: Emulator, query: URLSearchParams): JsonValue[] {
  const filter = {
    ...(query.has('service') ? { service: query.get('service') as Service } : {}),
    ...(query.has('method') ? { method: String(query.get('method')) } : {}),
    ...(query.has('path') ? { path: String(query.get('path')) } : {}),
  }
  return requests
    .list(filter)
    .map(({ number, atMs, service, scheme, method, path, query: asked, headers, status }) => ({
      number,
      atMs,
      service,
      scheme,
      method,
      path,
      query: { ...asked },
      headers: Object.fromEntries(SHOWN_HEADERS.flatMap((name) => (headers[name] ? [[name, headers[name]]] : []))),
      authorized: headers.authorization !== undefined,
      status: status ?? null,
    }))
}
