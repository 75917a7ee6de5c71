// The identity of the machine that this command runs on. A login by cloud identity (Interface 4.1) needs its token and
// names; they come from the metadata service that the cloud offers to its machines alone.
import { OutboundError } from '../lib/outbound.ts'
import { realWorld } from '../lib/world.ts'
import { CliError, reasonOf, UsageError } from './cli-error.ts'
import { exactMember, type Json, parseExactText } from './exact-json.ts'
import type { CliIo } from './io.ts'
import type { OptionTable } from './options.ts'

/** The address of the metadata service. The default is link-local (RFC 3927): only the host itself can answer it. */
export const METADATA_OPTIONS = {
  'metadata-address': {
    kind: 'text',
    value: 'URL',
    env: ['KEYWRIGHT_CLOUD_METADATA'],
    default: 'http://169.254.169.254',
    about: 'Address of the metadata service of the cloud, for logins with the identity of this machine',
  },
} as const satisfies OptionTable

/** The default audience of the token. Tokens for the resource manager carry the name of the machine. */
const RESOURCE = 'https://management.azure.com/'
// Versions of the two parts of the metadata API: each path has its own.
const TOKEN_VERSION = '2018-02-01'
const INSTANCE_VERSION = '2021-05-01'
/** Fields that choose an identity if the machine has several. They go to the metadata service, not to the server. */
const IDENTITY_FIELDS = ['client_id', 'object_id', 'msi_res_id'] as const
/** The service is on the same host: five seconds without an answer mean that there is none. */
const TRY_MS = 5_000
/** Pauses between attempts while the service is busy. One that is being updated (410) may be gone for a minute. */
const PAUSES_MS = [1_000, 2_000, 4_000]
const UPDATE_PAUSES_MS = [...PAUSES_MS, 8_000, 16_000, 30_000]

/**
 * Adds to the fields of a login what is missing: token and names of this machine. If `jwt` is given, nothing is added.
 * Fields that only the metadata service understands are taken out.
 * @throws CliError if there is no metadata service, or it refuses; UsageError if its address is none
 */
export async function withMachine(
  io: CliIo,
  address: string,
  given: ReadonlyMap<string, Json>,
): Promise<Map<string, Json>> {
  const fields = new Map(given)
  if (fields.has('jwt')) return fields
  const take = (name: string): [string, string][] => {
    const value = fields.get(name)
    fields.delete(name)
    return typeof value === 'string' && value !== '' ? [[name, value]] : []
  }
  const [[, resource] = ['', RESOURCE]] = take('resource')
  const query = [['resource', resource], ...IDENTITY_FIELDS.flatMap(take)] as [string, string][]
  const asked = await ask(io, address, 'identity/oauth2/token', [['api-version', TOKEN_VERSION], ...query])
  const jwt = exactMember(asked, 'access_token')
  if (typeof jwt !== 'string' || jwt === '') throw new CliError('The metadata of the machine gave no token')
  // A resource_id names the machine already; names that do not match it would be refused.
  if (!fields.has('resource_id')) {
    const compute = exactMember(await ask(io, address, 'instance', [['api-version', INSTANCE_VERSION]]), 'compute')
    for (const [field, name] of [
      ['subscription_id', 'subscriptionId'],
      ['resource_group_name', 'resourceGroupName'],
      ['vm_name', 'name'],
      ['vmss_name', 'vmScaleSetName'],
    ] as const) {
      const value = exactMember(compute, name)
      if (typeof value === 'string' && value !== '' && !fields.has(field)) fields.set(field, value)
    }
  }
  return fields.set('jwt', jwt)
}

/** Reads from the metadata service. The header is what keeps requests out that a proxy or a link was tricked into. */
async function ask(io: CliIo, address: string, path: string, query: readonly [string, string][]): Promise<Json> {
  const base = URL.parse(address)
  if (base === null || base.protocol !== 'http:')
    throw new UsageError('-metadata-address must be an address such as http://169.254.169.254')
  const { outbound } = realWorld([base.origin])
  const url = `${base.origin}/metadata/${path}?${new URLSearchParams([...query])}`
  for (let attempt = 0; ; attempt++) {
    const { status, body } = await outbound
      .request({ method: 'GET', url, headers: { Metadata: 'true' }, timeoutMs: TRY_MS })
      .catch((error: unknown) => {
        const why = error instanceof OutboundError ? error.message : reasonOf(error)
        throw new CliError(
          `The metadata of the machine cannot be asked at ${base.origin}: ${why}. Does this run on a machine of the ` +
            'cloud? Elsewhere give the token as jwt=@FILE',
          error,
        )
      })
    const answer = parseExactText(body.toString('utf8'))
    if (status === 200 && answer !== undefined) return answer
    // 404 and 410 are answered while the service is being updated, 429 when it is asked too often: all of them pass.
    const isPassing = status === 404 || status === 410 || status === 429 || status >= 500
    const pauseMs = (status === 410 ? UPDATE_PAUSES_MS : PAUSES_MS)[attempt]
    if (!isPassing || pauseMs === undefined) throw refused(path, status, answer)
    await io.sleep(pauseMs)
  }
}

function refused(path: string, status: number, answer: Json | undefined): CliError {
  const said = exactMember(answer, 'error_description') ?? exactMember(answer, 'error')
  const why = typeof said === 'string' ? `: ${said.slice(0, 300)}` : ''
  return new CliError(`The metadata of the machine refused ${path} with ${status}${why}`)
}
