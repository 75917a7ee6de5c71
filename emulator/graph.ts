// Graph: applications and their secrets, and the groups of principals.
import type { JsonObject } from '../src/lib/json.ts'
import type { Clock } from '../src/lib/world.ts'
import type { Caller, CheckBearer } from './bearer.ts'
import type { Application, ClientSecret, Directory, Principal } from './directory.ts'
import { type CloudRequest, type Handler, jsonBody, type Route, type Routes, route } from './exchange.ts'
import { graphDenied, graphError, graphMissing } from './graph-errors.ts'

/** The parts of the emulator that graph works with. */
export type GraphParts = {
  readonly directory: Directory
  readonly checkBearer: CheckBearer
  readonly audiences: ReadonlySet<string>
  readonly clock: Clock
}

const WRITES = ['Application.ReadWrite.All', 'Application.ReadWrite.OwnedBy']
const READS = [...WRITES, 'Application.Read.All', 'Directory.Read.All']
const READS_MEMBERS = [
  'Application.Read.All',
  'Application.ReadWrite.All',
  'Directory.Read.All',
  'GroupMember.Read.All',
]
/** The vendor's limit on groups in one check. */
const MOST_CHECKED = 20

/** Returns the handler of the service. */
export function graph(parts: GraphParts): Handler {
  const answer = route(routesOf(parts), ({ path }) => {
    throw graphError(400, 'BadRequest', `Resource not found for the segment '${path.split('/')[2] ?? ''}'.`)
  })
  return (request) => answer({ ...request, path: foldKeys(request.path) })
}

/** Splits `applications(appId='…')`, which is one part of a path, in two: so it is routed like any other. */
function foldKeys(path: string): string {
  return path.replace(/\/applications\(appId=(?:'|%27)([^'/]+?)(?:'|%27)\)/i, '/applications-by-app-id/$1')
}

function routesOf(parts: GraphParts): Routes {
  const { directory } = parts
  const byObjectId = (id = ''): Application => {
    const found = directory.applications.find(({ objectId }) => objectId === id.toLowerCase())
    if (found === undefined) throw graphMissing(id)
    return found
  }
  return {
    'GET /v1.0/applications': async (request) => {
      const caller = await admit(parts, request, READS)
      const wanted = readFilter(request.query.get('$filter'))
      const value = directory.applications.filter(
        ({ clientId, tenantId }) => tenantId === caller.tenantId && (wanted === undefined || clientId === wanted),
      )
      return { status: 200, body: { value: value.map(showApplication) } }
    },
    'GET /v1.0/applications/:id': async (request, { id }) => {
      await admit(parts, request, READS)
      return { status: 200, body: showApplication(byObjectId(id)) }
    },
    'GET /v1.0/applications-by-app-id/:id': async (request, { id = '' }) => {
      const { tenantId } = await admit(parts, request, READS)
      const found = directory.findApplication(tenantId, id)
      if (found === undefined) throw graphMissing(id)
      return { status: 200, body: showApplication(found) }
    },
    'POST /v1.0/applications/:id/addPassword': async (request, { id }) => {
      const caller = await admit(parts, request, WRITES)
      const application = byObjectId(id)
      requireOwner(caller, application)
      return { status: 200, body: addPassword(parts, application, jsonBody(request)) }
    },
    'POST /v1.0/applications/:id/removePassword': async (request, { id }) => {
      const caller = await admit(parts, request, WRITES)
      const application = byObjectId(id)
      requireOwner(caller, application)
      const keyId = String(jsonBody(request)?.keyId ?? '')
      if (directory.removeSecret(application, keyId)) return { status: 204 }
      throw graphError(400, 'Request_BadRequest', `No credentials found to be removed with keyId '${keyId}'.`)
    },
    ...memberRoutes(parts),
  }
}

/** Routes about the groups of a principal. They are alike for every kind of principal. */
function memberRoutes(parts: GraphParts): Routes {
  const principalOf = (id = ''): Principal => {
    const found = parts.directory.findPrincipal(id)
    if (found === undefined) throw graphMissing(id)
    return found
  }
  const members: Route = async (request, { id }) => {
    await admit(parts, request, READS_MEMBERS)
    return { status: 200, body: { value: [...principalOf(id).groups] } }
  }
  const checkMembers: Route = async (request, { id }) => {
    await admit(parts, request, READS_MEMBERS)
    const asked = jsonBody(request)?.groupIds
    if (!Array.isArray(asked)) throw graphError(400, 'Request_BadRequest', 'groupIds is missing.')
    if (asked.length > MOST_CHECKED) throw graphError(400, 'Request_BadRequest', `More than ${MOST_CHECKED} groupIds.`)
    const { groups } = principalOf(id)
    return { status: 200, body: { value: asked.filter((each) => groups.has(String(each))) } }
  }
  const rows = ['servicePrincipals', 'users', 'directoryObjects'].flatMap((kind): [string, Route][] => [
    [`POST /v1.0/${kind}/:id/getMemberObjects`, members],
    [`POST /v1.0/${kind}/:id/getMemberGroups`, members],
    [`POST /v1.0/${kind}/:id/checkMemberGroups`, checkMembers],
  ])
  return Object.fromEntries(rows)
}

/** Returns the caller. @throws Refusal if it has no token for graph, or none of `permissions` */
async function admit(parts: GraphParts, request: CloudRequest, permissions: readonly string[]): Promise<Caller> {
  const caller = await parts.checkBearer(request, parts.audiences)
  if (caller === 'missing') throw graphError(401, 'InvalidAuthenticationToken', 'Access token is empty.')
  if (caller === 'expired')
    throw graphError(401, 'InvalidAuthenticationToken', 'Lifetime validation failed, the token is expired.')
  if (caller === 'audience')
    throw graphError(401, 'InvalidAuthenticationToken', 'Access token validation failure. Invalid audience.')
  if (typeof caller === 'string')
    throw graphError(401, 'InvalidAuthenticationToken', 'Access token validation failure.')
  if (!permissions.some((each) => caller.roles.includes(each))) throw graphDenied()
  return caller
}

/** Refuses writes to applications of others, if the caller has `OwnedBy` alone. */
function requireOwner({ roles, principalId }: Caller, { owners }: Application): void {
  if (!roles.includes('Application.ReadWrite.All') && !owners.has(principalId)) throw graphDenied()
}

/** Reads the one filter that is served, `appId eq '…'`; a quote within is doubled. */
function readFilter(filter: string | null): string | undefined {
  if (filter === null) return undefined
  const [, value] = /^appId eq '((?:[^']|'')*)'$/.exec(filter) ?? []
  if (value === undefined)
    throw graphError(400, 'Request_UnsupportedQuery', 'Unsupported or invalid query filter clause.')
  return value.replaceAll("''", "'").toLowerCase()
}

function addPassword({ directory, clock }: GraphParts, application: Application, body: JsonObject | undefined) {
  const wanted = (body?.passwordCredential ?? {}) as JsonObject
  if (application.secrets.length >= directory.mostSecrets) {
    const text = 'The directory object quota limit for the application has been exceeded.'
    throw graphError(403, 'Directory_QuotaExceeded', text)
  }
  const readTime = (name: string): { [key: string]: number } => {
    if (wanted[name] === undefined || wanted[name] === null) return {}
    const ms = Date.parse(String(wanted[name]))
    if (Number.isNaN(ms)) throw graphError(400, 'Request_BadRequest', `Invalid value specified for property '${name}'.`)
    return { [name === 'endDateTime' ? 'endMs' : 'startMs']: ms }
  }
  const secret = directory.addSecret(application, {
    displayName: typeof wanted.displayName === 'string' ? wanted.displayName : null,
    startMs: clock.nowMs(),
    ...readTime('startDateTime'),
    ...readTime('endDateTime'),
  })
  return { ...showSecret(secret), secretText: secret.secretText }
}

function showApplication({ objectId, clientId, displayName, secrets }: Application): JsonObject {
  return { id: objectId, appId: clientId, displayName, passwordCredentials: secrets.map(showSecret) }
}

/** Shows a secret without its text, of which only the beginning stays: addPassword shows the text once. */
function showSecret({ keyId, displayName, startMs, endMs, secretText }: ClientSecret): JsonObject {
  return {
    customKeyIdentifier: null,
    displayName,
    endDateTime: new Date(endMs).toISOString(),
    hint: secretText.slice(0, 3),
    keyId,
    secretText: null,
    startDateTime: new Date(startMs).toISOString(),
  }
}
