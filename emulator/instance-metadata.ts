// Instance metadata, as a machine sees it at a link-local address: who it is, and tokens of its identities. The
// resource that asks follows from the address, or from a header that only the emulator has.
import type { JsonObject } from '../src/lib/json.ts'
import type { AccessTokens } from './access-tokens.ts'
import type { Addresses } from './addresses.ts'
import type { Principal } from './directory.ts'
import { type CloudAnswer, type CloudRequest, type Handler, Refusal, route } from './exchange.ts'
import { hostOf } from './minting.ts'
import { parseResourceId } from './resource-id.ts'
import { type Resource, type Resources, userIdentitiesOf } from './resources.ts'

/** Names the resource that asks. A real machine is known by its place in the network. */
export const RESOURCE_HEADER = 'x-emulator-resource'
const LIFETIME_SECONDS = 86_400

/** The parts of the emulator that metadata works with. */
export type InstanceMetadataParts = {
  readonly resources: Resources
  readonly tokens: AccessTokens
  /** Addresses that tokens name. */
  readonly addresses: () => Addresses
  /** The value of `X-IDENTITY-HEADER`, for services that get their endpoint from variables. */
  readonly identityHeader: string
}

/** Returns the handler of the service. */
export function instanceMetadata(parts: InstanceMetadataParts): Handler {
  const answer = route(
    {
      'GET /metadata/identity/oauth2/token': (request) => {
        requireMetadataHeader(request)
        return answerToken(parts, request, true)
      },
      'GET /metadata/instance': (request) => {
        requireMetadataHeader(request)
        requireVersion(request)
        return { status: 200, body: describeInstance(parts, asking(parts, request)) }
      },
      'GET /msi/token': (request) => {
        if (request.headers['x-identity-header'] !== parts.identityHeader) {
          throw metadataError(401, 'unauthorized', 'The header X-IDENTITY-HEADER is missing or wrong')
        }
        return answerToken(parts, request, false)
      },
    },
    ({ path }) => ({ status: 404, body: { error: 'not_found', error_description: `No such address: ${path}` } }),
  )
  // The vendor's own library puts a slash at the end of the path.
  return (request) => answer({ ...request, path: request.path.replace(/\/$/, '') })
}

function metadataError(status: number, error: string, text: string): Refusal {
  return new Refusal({ status, body: { error, error_description: text } })
}

/** Demands the header that no link or redirect can add. X-Forwarded-For shows a proxy, which may not ask for others. */
function requireMetadataHeader({ headers }: CloudRequest): void {
  if (headers.metadata?.toLowerCase() !== 'true') {
    throw metadataError(400, 'bad_request_102', 'Required metadata header not specified')
  }
  if (headers['x-forwarded-for'] !== undefined) {
    throw metadataError(400, 'bad_request', 'Requests with an X-Forwarded-For header are refused')
  }
}

function requireVersion({ query }: CloudRequest): void {
  if (!query.get('api-version'))
    throw metadataError(400, 'invalid_request', 'Required query variable api-version is missing')
}

function asking({ resources }: InstanceMetadataParts, { headers }: CloudRequest): Resource {
  const resource = resources.find(headers[RESOURCE_HEADER] ?? '')
  if (resource === undefined)
    throw metadataError(404, 'not_found', `Say which resource asks: header ${RESOURCE_HEADER}`)
  return resource
}

/** Answers with a token. Numbers are texts. Machines (`isMachine`) get more members than services. */
async function answerToken(
  parts: InstanceMetadataParts,
  request: CloudRequest,
  isMachine: boolean,
): Promise<CloudAnswer> {
  requireVersion(request)
  const audience = request.query.get('resource')
  if (!audience) throw metadataError(400, 'invalid_request', 'Required audience parameter not specified')
  const host = parts.resources.find(hostOf(asking(parts, request).id))
  if (host === undefined) throw metadataError(400, 'invalid_request', 'Identity not found')
  const { principal, userIdentity } = chooseIdentity(parts, host, request.query)
  if (!parts.tokens.knows(principal.tenantId, audience)) {
    const text = `AADSTS500011: The resource principal named ${audience} was not found in the tenant.`
    throw metadataError(400, 'invalid_resource', text)
  }
  const issued = await parts.tokens.issue({
    principal,
    audience,
    ...parts.addresses(),
    proof: 'certificate',
    lifetimeSeconds: LIFETIME_SECONDS,
    host: host.id,
    userIdentity,
  })
  const body: JsonObject = {
    access_token: issued.token,
    client_id: principal.clientId,
    expires_on: String(issued.expires),
    resource: audience,
    token_type: 'Bearer',
  }
  if (!isMachine) return { status: 200, body }
  const times = { expires_in: String(LIFETIME_SECONDS), not_before: String(issued.notBefore) }
  return { status: 200, body: { ...body, ...times } }
}

type Chosen = { readonly principal: Principal; readonly userIdentity: string | undefined }

function chooseIdentity({ resources }: InstanceMetadataParts, host: Resource, query: URLSearchParams): Chosen {
  const system = resources.systemIdentityOf(host.id)
  const assigned = userIdentitiesOf(host).flatMap((id): Chosen[] => {
    const principal = resources.userIdentityOf(id)
    return principal === undefined ? [] : [{ principal, userIdentity: id }]
  })
  const own: Chosen[] = system === undefined ? [] : [{ principal: system, userIdentity: undefined }]
  const asked = namedIdentity(query)
  if (asked !== undefined) {
    const found = [...own, ...assigned].find((each) => asked(each))
    if (found === undefined) throw metadataError(400, 'invalid_request', 'Identity not found')
    return found
  }
  const [first, ...others] = own.length > 0 ? own : assigned
  if (first === undefined) throw metadataError(400, 'invalid_request', 'Identity not found')
  if (others.length > 0) {
    const text = 'Multiple user assigned identities exist, please specify the clientId / resourceId of the identity'
    throw metadataError(400, 'invalid_request', text)
  }
  return first
}

/** Reads which identity is asked for: by `client_id`, `object_id`, or its id as a resource. */
function namedIdentity(query: URLSearchParams): ((chosen: Chosen) => boolean) | undefined {
  const named = (...names: string[]): string | undefined =>
    names.map((name) => query.get(name)?.toLowerCase()).find((value) => value !== undefined && value !== '')
  const clientId = named('client_id')
  if (clientId !== undefined) return ({ principal }) => principal.clientId === clientId
  const objectId = named('object_id', 'principal_id')
  if (objectId !== undefined) return ({ principal }) => principal.id === objectId
  const resourceId = named('msi_res_id', 'mi_res_id')
  if (resourceId !== undefined) return ({ userIdentity }) => userIdentity?.toLowerCase() === resourceId
  return undefined
}

/** Describes a machine. A member of a uniform set is named after its set and number. */
function describeInstance(_parts: InstanceMetadataParts, resource: Resource): JsonObject {
  const id = parseResourceId(resource.id)
  const [first = '', second] = id?.names ?? []
  const flexible = resource.properties.virtualMachineScaleSet as JsonObject | undefined
  const setName =
    second === undefined
      ? String(flexible?.id ?? '')
          .split('/')
          .at(-1)
      : first
  return {
    compute: {
      azEnvironment: 'AzurePublicCloud',
      location: resource.location,
      name: second === undefined ? first : `${first}_${second}`,
      resourceGroupName: id?.resourceGroup ?? '',
      resourceId: resource.id,
      subscriptionId: id?.subscription ?? '',
      vmId: resource.properties.vmId ?? '',
      vmScaleSetName: setName ?? '',
    },
  }
}
