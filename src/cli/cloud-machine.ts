// Who the machine is that this command runs on, by its cloud: the token and the names that agents log in with, from the
// metadata that the cloud serves to its machines alone.
import { OutboundError } from '../lib/outbound.ts'
import { realWorld } from '../lib/world.ts'
import { CliError, reasonOf, UsageError } from './cli-error.ts'
import { exactMember, type Json, parseExactText } from './exact-json.ts'
import type { CliIo } from './io.ts'
import type { OptionTable } from './options.ts'

export const METADATA_OPTIONS = {
  'metadata-address': {
    kind: 'text',
    value: 'URL',
    env: ['KEYWRIGHT_CLOUD_METADATA'],
    default: 'http://169.254.169.254',
    about: 'Where the cloud tells the machine who it is, for logins by its identity',
  },
} as const satisfies OptionTable

/** What the token is for, where nothing else is said: tokens for it name the machine. */
const RESOURCE = 'https://management.azure.com/'
const TOKEN_VERSION = '2018-02-01'
const INSTANCE_VERSION = '2021-05-01'
/** Choose an identity where the machine has several. */
const IDENTITY_FIELDS = ['client_id', 'object_id', 'msi_res_id'] as const
const TRY_MS = 5_000
/** Between attempts, where the service is busy; one that is being updated is waited for longer. */
const PAUSES_MS = [1_000, 2_000, 4_000]
const UPDATE_PAUSES_MS = [...PAUSES_MS, 8_000, 16_000, 30_000]

/**
 * The fields of a login, with what is missing in them: where `jwt` is given, nothing is asked for.
 * @throws CliError where there is no such service, or it refuses
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
